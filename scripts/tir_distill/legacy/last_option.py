"""Where the last option of a question ends: its line may go on with an instruction ("Answer with the letter.").

It is cut only where an instruction is certain. Where something follows that could be either, the option's text is not
known, and nobody guesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_CUE = re.compile(
    r"(?<![A-Za-z])(?:(?P<polite>please|kindly)|(?P<verb>answer|choose|select|pick|respond|reply)"
    r"|(?P<other>give|provide|output|return|write|state|indicate|use|only|just|directly|your (?:final )?answer|hint"
    r"|note|explain|think))(?![A-Za-z])"
    r"|(?P<asks>请(?=[直回选作给从用根写输仅在按只将问]|要))|(?P<chinese>请|回答|作答|选择|只[需要用能回给输写选]|仅[需回给输用选]|直接|答案|提示[:：])",
    re.I,
)
_SPEAKS = re.compile(
    r"\b(?:letters?|options?|choices?|answers?|directly|single|word|phrase|questions?|correct|above|following)\b"
    r"|选项|字母|答案|问题|正确|即可|直接|回答|选择|选出|一个",
    re.I,
)
_OBJECT = re.compile(
    r"\s+(?:with|directly|the|using|from|only|one|by|in|based|according|your|and|an?|just|among)\b", re.I
)
_ENDED = re.compile(r"[.!?;:。！？；：,，)）\]】][\s(（\[\"'“]*\Z")
_BRACKET = re.compile(r"[(（\[]\s*\Z")
_NEXT_SENTENCE = re.compile(r"(?:[a-z\d)%\"']{2}|\d|[\u3400-\u9fff])[.?!。？！]\s*[A-Z\u3400-\u9fff]")
_INITIAL = re.compile(r"(?<![A-Za-z])[A-Za-z]\.\Z")


def without_instruction(text: str, others: Sequence[str]) -> str:
    """The option's text without an instruction behind it. ``others``: the texts of the other options."""
    for cue in _CUE.finditer(text):
        before, after = text[: cue.start()].rstrip(), text[cue.end() :]
        if not before.strip("(（[ ") or not _is_instruction(cue, before, after):
            continue
        kept = _BRACKET.sub("", before).rstrip(" \t;；,，")
        if kept.endswith((".", "。")) and not _INITIAL.search(kept) and not any(o.endswith(kept[-1]) for o in others):
            kept = kept[:-1]
        return kept.strip()
    return text


def may_go_too_far(text: str, others: Sequence[str]) -> bool:
    """Whether the text of an option that shares its line may hold more than the option."""
    for mark in (_may_instruct, lambda option: _NEXT_SENTENCE.search(option) is not None):
        if mark(text) and not any(map(mark, others)):
            return True
    return False


def _is_instruction(cue: re.Match[str], before: str, after: str) -> bool:
    speaks = _SPEAKS.search(after) is not None
    if cue["asks"]:
        return True
    if cue["polite"]:
        following = _CUE.match(after.lstrip(" ,"))
        return speaks or following is not None
    if cue["chinese"]:
        return speaks and not cue["chinese"].startswith("请")
    begins = _ENDED.search(before) or _BRACKET.search(before)
    if begins:
        return speaks or (cue["verb"] is not None and _OBJECT.match(after) is not None)
    return cue.group()[0].isupper() and speaks and _OBJECT.match(after) is not None


def _may_instruct(option: str) -> bool:
    """A word in it that begins instructions more often than it stands in options."""
    return any(cue.start() and not cue["other"] for cue in _CUE.finditer(option))
