"""F6: an open question is not answered with an option letter (seed section 5)."""

from __future__ import annotations

import re
import unicodedata

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

RULE = "F6"
_AROUND = re.compile(
    r"\\(?:boxed|text|mathrm|mathbf)|\b(?:the|final|answer|option|choice|is)\b|选项|答案|[是为]"
    r"|[\s*_`\"'“”‘’()\[\]{}<>（）【】$.。,，:：;；!！、]+"
)
"""Marks and label words that may stand around a letter. Signs that make a word of it (``C++``, ``F#``) are not here."""
LONGEST = 60
"""Characters; a longer answer says more than a letter."""


def is_letter(answer: str | None) -> bool:
    """``B``, ``(b).``, ``Option B``, ``选项B``, full-width and boxed forms. A Chinese character is a word."""
    if not answer or len(answer) > LONGEST:
        return False
    bare = _AROUND.sub("", unicodedata.normalize("NFKC", answer).casefold())
    return len(bare) == 1 and "a" <= bare <= "z"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    return Fail(RULE, "single_letter") if is_letter(trajectory.answer) else None
