"""F11: the whole sequence fits the training length (seed section 11): system, pictures, turns, tool results."""

from __future__ import annotations

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

RULE = "F11"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    return Fail(RULE, "too_long") if trajectory.tokens.sequence > settings.max_length else None
