"""Always on: calls that a row cannot hold. Such a row would teach the model calls that no server can read."""

from __future__ import annotations

from ..records import Trajectory
from ..records.behaviour import find_call_text
from .report import Fail
from .settings import FilterSettings

RULE = "malformed_call"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    for turn in trajectory.turns:
        if any(call.malformed is not None for call in turn.calls):
            return Fail(RULE, "malformed")
        if find_call_text(turn.content):
            return Fail(RULE, "call_in_text")
    if not trajectory.turns:
        return Fail(RULE, "no_turns")
    last = trajectory.turns[-1]
    return Fail(RULE, "ends_with_call") if last.calls and trajectory.stop == "answer" else None
