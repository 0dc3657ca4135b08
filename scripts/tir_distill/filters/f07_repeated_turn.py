"""F7: no two turns in a row say the same (seed section 5).

What a turn says is its visible text; where both turns have none, as most calling turns, it is their thinking.
"""

from __future__ import annotations

from itertools import pairwise

from ..records import Trajectory, Turn
from .report import Fail
from .settings import FilterSettings

RULE = "F7"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    for before, turn in pairwise(trajectory.turns):
        if _same(before, turn):
            return Fail(RULE, "repeated_turn")
    return None


def _same(one: Turn, other: Turn) -> bool:
    a, b = " ".join(one.content.split()), " ".join(other.content.split())
    if a or b:
        return a == b
    thought = " ".join(one.thinking.split())
    return bool(thought) and thought == " ".join(other.thinking.split())
