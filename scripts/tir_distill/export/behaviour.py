"""What a conversation's calls say about how the model worked: the columns for ablations, and check 4."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

SEARCH_TOOLS = frozenset({"search", "open"})
CODE_TOOLS = frozenset({"python"})

IMAGE_CODE = re.compile(
    r"\bPIL\b|\bcv2\b|\.rotate\s*\(|\.crop\s*\(|\bimshow\b"  # seed section 5, F4
    # the same work on the pictures that every cell finds preloaded (seed section 10.1), or by other libraries
    r"|\bimage_\d+\b|\binput_image\b|\bIMAGE_PATH\b|\bImage\s*\.\s*(?:open|new|fromarray)\s*\(|\bimread\b"
    r"|\bskimage\b|\bimageio\b"
)

_AROUND_LETTER = re.compile(
    r"[\s()\[\]{}<>（）【】*_`\"'.,:;!。，：；！]+|\\boxed|\\text|\b(?:the|final|answer|option|choice|is)\b|选项|答案|[是为]"
)

LONGEST_LETTER_ANSWER = 40
"""Characters; a longer text says more than a letter whatever its words."""

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def has_search(names: Iterable[str]) -> bool:
    """At least one call looked something up (F3 counts search and open alike)."""
    return any(name in SEARCH_TOOLS for name in names)


def is_image_code(code: str) -> bool:
    """The code works on pictures."""
    return IMAGE_CODE.search(code) is not None


def is_letter(answer: str) -> bool:
    """A single option letter, in brackets, full width, or with "option" before it (F6)."""
    bare = _AROUND_LETTER.sub("", unicodedata.normalize("NFKC", answer).casefold())
    return len(answer) <= LONGEST_LETTER_ANSWER and len(bare) == 1 and "a" <= bare <= "z"


def final_answer(visible: str) -> str | None:
    """Text of the last ``<answer>`` pair, stripped; None when there is none."""
    found = _ANSWER.findall(visible)
    return found[-1].strip() if found else None
