"""What a conversation's calls say about how the model worked: the columns for ablations, and check 4."""

from __future__ import annotations

import re
from collections.abc import Iterable

SEARCH_TOOLS = frozenset({"search", "open"})
CODE_TOOLS = frozenset({"python"})

IMAGE_CODE = re.compile(r"\bPIL\b|\bcv2\b|\.rotate\(|\.crop\(|\bimshow\b")
"""Seed section 5, F4."""

SINGLE_LETTER = re.compile(r"\(?[A-Za-z]\)?[.:)]?")

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def has_search(names: Iterable[str]) -> bool:
    """At least one call looked something up (F3 counts search and open alike)."""
    return any(name in SEARCH_TOOLS for name in names)


def is_image_code(code: str) -> bool:
    """The code works on pictures."""
    return IMAGE_CODE.search(code) is not None


def is_letter(answer: str) -> bool:
    """A single option letter, with or without a bracket or a full stop (F6)."""
    return SINGLE_LETTER.fullmatch(answer.strip()) is not None


def final_answer(visible: str) -> str | None:
    """Text of the last ``<answer>`` pair, stripped; None when there is none."""
    found = _ANSWER.findall(visible)
    return found[-1].strip() if found else None
