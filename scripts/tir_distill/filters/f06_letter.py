"""F6: an open question is not answered with an option letter (seed section 5)."""

from __future__ import annotations

from ..records import Trajectory
from ..records.letters import is_letter
from .report import Fail
from .settings import FilterSettings

RULE = "F6"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    return Fail(RULE, "single_letter") if is_letter(trajectory.answer) else None
