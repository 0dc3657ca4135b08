"""Reading a judge's reply. Strict: what does not plainly say one thing is undecided, and undecided is never "wrong".

"Right" is read from a verdict tag, from JSON with one verdict, or from a reply that consists of nothing but a known
way to say so (``affirmations``): prose that holds the word "correct" says too many other things. "Wrong" costs no more
than one answer, so a plain negative phrase is enough. All else is undecided, and the judge is asked again.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..records import dumps
from .affirmations import affirms, simplified
from .text import without_format_marks

LONGEST = 20_000
"""Characters above which a reply is no verdict."""

SHORTEST_ECHO = 8
"""Characters from which a repeated answer is taken out of a reply; ``Yes`` may be answer and verdict both."""

_THINK = re.compile(r"<think>.*?</think>|\A.*</think>", re.DOTALL | re.IGNORECASE)
"""Reasoning; some servers leave its opening tag out."""
_TAG = re.compile(
    r"(?<![\"'`“‘「])<(judge|verdict|judgement|judgment)\s*>\s*(.*?)\s*</\s*\1\s*>", re.DOTALL | re.IGNORECASE
)
_OPEN_TAG = re.compile(r"<(judge|verdict|judgement|judgment)\b", re.IGNORECASE)
_REASON = re.compile(r"<(reason|explanation)\b[^<>]*>.*?(?:</\s*\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_QUOTED = re.compile(r"([\"'`]+)(<.*>)\1|“(<.*>)”|‘(<.*>)’", re.DOTALL)
"""The whole reply in quotes or code marks, not a quotation inside it."""
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_FIELD = frozenset(
    {
        *("correct", "is_correct", "iscorrect", "answer_correct", "match", "matches", "is_match"),
        *("judge", "judgement", "judgment", "verdict", "result", "判断", "判定", "结论", "正确", "是否正确"),
    }
)
_FIELD_OF_FAULT = frozenset({"incorrect", "is_incorrect", "isincorrect", "wrong", "is_wrong", "错误", "不正确"})
"""Fields whose "true" means wrong."""

_NEGATIVE = re.compile(
    "|".join(
        (
            r"\bin-?correct(?:ly)?\b",
            r"\bwrong(?:ly)?\b",
            r"\bfalse\b",
            r"\bmismatch(?:es|ed)?\b",
            r"\bnot\s+attempted\b",
            r"(?:\bnot|\bnever|\bcannot\s+be|n't(?:\s+be)?)\s+(?:\w+\s+){0,2}?(?:correct|right|true|accurate|a\s+match|match\w*)\b",
            r"\bpartial(?:ly)?[\s-]+(?:correct|right|true)\b",
            r"\bno\b(?!\s+(?:\w+\s+)?(?:error|mistake|issue|problem|doubt|differen|contradict|discrepan|fault|objection)\w*)",
            r"不(?:是|太|够|完全|算)?(?:正确|对|准确|真实|符合|匹配|一致)|不相?符|^不是$",
            r"(?:未|没有?|非)(?:能|完全)?(?:正确|准确|符合|匹配)|部分(?:正确|真实|对)",
            r"(?<![没不])错|有误|否|假",
        )
    ),
    re.IGNORECASE,
)
_POSITIVE = re.compile(
    r"\bcorrect(?:ly)?\b|\bright\b|\btrue\b|\byes\b|\baccurate\b|\bmatch(?:es|ed)\b"
    r"|没错|无误|相符|正确|准确|真实|一致|符合|匹配|(?<![面相反绝针])对(?![比应于照话象方])|^是的?(?=$|[。.!！，,])|^真$",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"[*_`]+")
_NO_FAULT = re.compile(r"(?:没有|毫无|并无|没|无)(?:任何|明显)?错误?|(?<!有)无误")
_KEY_NAMED = re.compile(
    r"\b(?:the\s+)?(?:correct|right|true|reference)\s+(?:answer|response|value|name|one)s?\s*(?:is|was|are|would\s+be|should\s+be|:)"
    r"|(?:正确|标准|参考)(?:的)?(?:答案|回答)(?:应该?)?[是为：:]",
    re.IGNORECASE,
)
"""Says what would be right, which is no word on the response."""
_DOUBT = re.compile(
    r"\b(?:cannot|can't|can\s+not|could\s+not|couldn't|unable|unclear|unsure|uncertain|whether|would|might|may|if|sorry)\b"
    r"|\b(?:apologi[sz]e|insufficient|depends|almost|mostly|nearly|somewhat|half|to\s+be)\b|\?\s*$"
    r"|\b(?:should|likely|probably|perhaps|technically|arguably|otherwise|but|however|although|though|except|unless)\b"
    r"|\b(?:far\s+from|hardly|barely|scarcely|lacks?|lacking|fails?|failed|nothing|neither|nor|anything\s+but)\b"
    r"|(?:\bnot|\bnever|n't)\s+(?:\w+\s+){0,2}?(?:incorrect|wrong|false)\b"
    r"|无法|不能|不确定|是否|难以|可能|抱歉|如果|大致|基本|不是错|不算错|不错|(?:没有|并非|不是)不|但|不过|虽然|除非|似乎|应该|[并绝]非错",
    re.IGNORECASE,
)
_OPENING = (
    r"(?:^|(?<=[\n.!…。！;；]))[\s#>*_-]{0,8}(?:(?:so|thus|hence|therefore|overall)\b,?\s*)?(?:(?:my|the|our)\s+)?"
)
"""A label counts where a sentence starts: "the response's verdict: yes" speaks of the response."""
_SAYS = r"\W{0,4}(?:is|为|是)?\W{0,4}([^\n]*)"
_FINAL = re.compile(
    _OPENING + r"(?:final\s+(?:verdict|judg\w*|decision|conclusion|grade)|最终(?:判断|判定|结论|裁定))" + _SAYS,
    re.IGNORECASE,
)
_FINAL_ANSWER = re.compile(_OPENING + r"(?:final\s+answer|最终(?:结果|答案))" + _SAYS, re.IGNORECASE)
"""May be the response's own: ``Final answer: yes`` is no verdict, ``Final answer: correct`` is one."""
_LABELLED = re.compile(
    _OPENING + r"(?:(?:verdict|judg(?:e?ment|e)|conclusion|decision|grade)|判断|判定|结论|裁定|评判)"
    r"[*_]*\s*(?:is\b|为|是|[:：=]|\n)[\s*_]*([^\n]*)",
    re.IGNORECASE,
)
_RESULT = re.compile(_OPENING + r"(?:result|结果)[*_]*\s*(?:is\b|为|是|[:：=])\s*([^\n]*)", re.IGNORECASE)
_SETTING = re.compile(r"\W*(?:is[ _-]?)?correct\s*[:：=]\s*(yes|no|true|false)\W*", re.IGNORECASE)
_SPEAKS_OF_RIGHT = re.compile(r"correct|accurate|wrong|match|正确|正確|错|錯|一致|相符|符", re.IGNORECASE)
_RETRACTS = re.compile(
    r"\b(?:wait|actually|correction|on second thought|hold on|scratch that|apologies|sorry)\b|更正|等等|其实",
    re.IGNORECASE,
)


def parse_reply(text: str | None, *, finished: bool = True, graded: str = "") -> bool | None:
    """True: right; False: wrong; None: undecided. ``finished`` is False when the reply was cut at its token limit.

    ``graded``: the answer that the judge was shown. Where the reply repeats one that is long enough to hold a verdict
    of its own, the repetition is taken out: what an answer says of itself is no verdict.
    """
    if not text or len(text) > LONGEST:
        return None
    text = _THINK.sub("", text)
    if len(graded) >= SHORTEST_ECHO:
        for form in (graded, dumps(graded).decode()[1:-1]):
            text = text.replace(form, " ")
    text = text.strip().lstrip("\ufeff")
    if not text or "<think>" in text.lower():
        return None
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        text = next(part for part in quoted.groups()[1:] if part)
    tags = list(_TAG.finditer(text))
    if tags:
        verdict = _agree([_phrase(tag[2]) for tag in tags])
        return _unless_retracted(verdict, _REASON.sub(" ", text[tags[-1].end() :]))
    if not finished or _OPEN_TAG.search(text):
        return None
    if "{" in text:
        return _from_json(text)
    return _from_prose(text)


def _agree(verdicts: list[bool | None]) -> bool | None:
    return verdicts[0] if len(set(verdicts)) == 1 else None


def _unless_retracted(verdict: bool | None, after: str) -> bool | None:
    """The verdict, unless what follows takes it back or states another one."""
    if verdict is None or _RETRACTS.search(after):
        return None
    others = [label[1] for pattern in (_FINAL, _LABELLED) for label in pattern.finditer(after)]
    return None if (not verdict) in [_phrase(other) for other in (after, *others)] else verdict


def _from_prose(text: str) -> bool | None:
    setting = _SETTING.fullmatch(without_format_marks(text))
    if setting:
        return setting[1].lower() in ("yes", "true")
    for pattern in (_FINAL, _LABELLED, _FINAL_ANSWER, _RESULT):
        labels = list(pattern.finditer(text))
        if labels:
            bodies = [label[1] for label in labels]
            if pattern in (_FINAL_ANSWER, _RESULT) and not all(map(_SPEAKS_OF_RIGHT.search, bodies)):
                return None
            return _unless_retracted(_agree([_phrase(body) for body in bodies]), text[labels[-1].end() :])
    return _phrase(text)


def _phrase(text: str) -> bool | None:
    """The one verdict a phrase states; None when it states both, none, or doubts."""
    text = _EMPHASIS.sub("", simplified(without_format_marks(text)).replace("’", "'"))
    if affirms(text):
        return True
    text = _KEY_NAMED.sub(" ", text).strip().strip("*_`\"'“”<>[]() ").rstrip("。.!！")
    if not text or _DOUBT.search(text):
        return None
    text = _NO_FAULT.sub("正确", text)
    rest, negatives = _NEGATIVE.subn(" ", text)
    return False if negatives and not _POSITIVE.search(rest.strip().strip("。.!！,，;；:： ")) else None


def _from_json(text: str) -> bool | None:
    fences = list(_FENCE.finditer(text))
    start, end = text.index("{"), text.rfind("}") + 1
    pieces = [fence[1] for fence in fences] or [text[start:end]]
    outside = _FENCE.sub(" ", text)[-LONGEST:] if fences else text[end:]
    verdicts: list[bool | None] = []
    for piece in pieces:
        try:
            # pairs, not a dict: a name that stands twice must not hide its first value
            value = json.loads(piece.strip(), object_pairs_hook=_Pairs)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, _Pairs):
            return None
        verdicts.extend(_verdicts(value))
    return _unless_retracted(_agree(verdicts), outside) if verdicts else None


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, in order."""


def _verdicts(value: Any) -> list[bool | None]:
    """What each verdict field says, at any depth."""
    found: list[bool | None] = []
    if isinstance(value, _Pairs):
        for name, item in value:
            field = without_format_marks(name).strip(" ?？:").lower().replace("-", "_").replace(" ", "_")
            if field in _FIELD:
                found.append(_field(item))
            elif field in _FIELD_OF_FAULT:
                told = _field(item)
                found.append(None if told is None else not told)
            else:
                found.extend(_verdicts(item))
    elif isinstance(value, list):
        for item in value:
            found.extend(_verdicts(item))
    return found


def _field(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    return _phrase(value) if isinstance(value, str) else None
