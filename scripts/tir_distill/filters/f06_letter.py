"""F6: an open question is not answered with an option letter (seed section 5)."""

from __future__ import annotations

import re
import unicodedata

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

RULE = "F6"
_LETTER = re.compile(
    r"(?:the\s+)?(?:final\s+)?(?:answer|option|choice|选项|答案)?(?:\s*is|是|为)?\s*[:：]?\s*[a-z]", re.IGNORECASE
)
_BOX = re.compile(r"\\(?:boxed|text|mathrm|mathbf)\{([^{}]*)\}")
_MARKS = re.compile(r"[*_`\"'“”‘’()\[\]{}<>（）【】$.。,，;；!！]")


def is_letter(answer: str | None) -> bool:
    """``B``, ``(b).``, ``Option B``, ``选项B``, full-width and boxed forms. A Chinese character is a word."""
    if not answer or len(answer) > 60:
        return False
    text = _BOX.sub(r"\1", _BOX.sub(r"\1", unicodedata.normalize("NFKC", answer)))
    return bool(_LETTER.fullmatch(_MARKS.sub(" ", text).strip()))


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    return Fail(RULE, "single_letter") if is_letter(trajectory.answer) else None
