"""F3: a question that needs searching was searched, by the teacher's own decision (seed section 5).

There is no search before the first turn, so every kept call is the teacher's own. A malformed call was never run, and a
search over its cap found nothing: neither counts.
"""

from __future__ import annotations

from ..records import Trajectory
from .calls import paired
from .report import Fail
from .settings import FilterSettings

RULE = "F3"


def self_searches(trajectory: Trajectory) -> tuple[int, int]:
    """How many searches and opens the teacher started and got an answer to (an unreachable page counts)."""
    counts = {"search": 0, "open": 0}
    for turn in trajectory.turns:
        for call, result in paired(turn):
            if call.name in counts and call.malformed is None and result is not None and not result.meta.get("cap"):
                counts[call.name] += 1
    return counts["search"], counts["open"]


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    if trajectory.question.task_type not in settings.self_search_task_types:
        return None
    return None if any(self_searches(trajectory)) else Fail(RULE, "no_search")
