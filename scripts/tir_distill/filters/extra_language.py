"""Rules over the teacher's language, off by default: scripts mixed within thinking, text that goes round in circles."""

from __future__ import annotations

import re

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")
_UNIT = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]|[^\W_]+")


def mixed_language(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    """Thinking keeps to one script: names and terms of the other stay a small share."""
    limits = settings.thresholds
    for turn in trajectory.turns:
        cjk = len(_CJK.findall(turn.thinking))
        latin = len(_LATIN_WORD.findall(turn.thinking))
        total = cjk + latin
        if total >= limits.mixed_language_min and min(cjk, latin) / total > limits.mixed_language_share:
            return Fail("mixed_language", "in_thinking")
    return None


def repeated_ngrams(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    """No turn repeats itself: the share of n-grams seen before in it stays small."""
    limits = settings.thresholds
    for turn in trajectory.turns:
        units = _UNIT.findall(f"{turn.thinking}\n{turn.content}".casefold())
        if len(units) < limits.repeated_min:
            continue
        grams = list(zip(*(units[offset:] for offset in range(limits.ngram)), strict=False))
        if grams and 1 - len(set(grams)) / len(grams) > limits.repeated_share:
            return Fail("repeated_ngrams", "in_turn")
    return None
