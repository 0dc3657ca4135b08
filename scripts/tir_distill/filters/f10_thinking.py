"""F10: every turn thinks, in at least 20 characters (seed section 11). Outer white space does not count."""

from __future__ import annotations

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

RULE = "F10"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    short = any(len(turn.thinking.strip()) < settings.min_think_chars for turn in trajectory.turns)
    return Fail(RULE, "short_thinking") if short else None
