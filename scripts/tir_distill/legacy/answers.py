"""Final answers brought to ``<answer>…</answer>``: earlier sets also write ``\boxed{…}``, alone or inside the tags."""

from __future__ import annotations

import re

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.S)
_BOXED = re.compile(r"\\boxed\s*\{")
_TEXT = re.compile(r"\A\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}\Z")


def boxed(text: str) -> str | None:
    r"""Content of the last ``\boxed{…}``, braces balanced, without a ``\text{…}`` around all of it, or None."""
    found = None
    for match in _BOXED.finditer(text):
        depth, at = 1, match.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0) if text[at - 1] != "\\" else 0
            at += 1
        if not depth:
            found = text[match.end() : at - 1].strip()
    if not found:
        return None
    plain = _TEXT.match(found)
    return plain.group(1).strip() if plain else found


def in_answer_tags(text: str) -> str:
    r"""The text with its answer in the tags; nothing else of it is changed.

    A ``\boxed{x}`` that fills the tags becomes ``x``. Where there are no tags, they are added below the text.
    """
    if "\\boxed" not in text:
        return text
    given = list(ANSWER.finditer(text))
    if not given:
        value = boxed(text)
        return text if value is None else f"{text.rstrip()}\n\n<answer>{value}</answer>"
    last = given[-1]
    bare = last.group(1).strip().strip("$").strip()
    value = boxed(bare) if bare.startswith("\\boxed") and bare.endswith("}") else None
    return text if value is None else f"{text[: last.start(1)]}{value}{text[last.end(1) :]}"
