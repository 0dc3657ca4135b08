"""F1: the final answer is right (seed section 5). Undecided is a rule of its own, never "wrong"."""

from __future__ import annotations

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

RULE = "F1"
UNDECIDED = "judge_failed"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    verdict = trajectory.verdict
    if trajectory.stop == "truncated" and trajectory.answer is None:
        return None  # a cut sample had no chance to answer: it is counted under F8, where its cause is seen
    if verdict is None:
        return Fail(UNDECIDED, "not_graded")
    if verdict.correct is None:
        return Fail(UNDECIDED, verdict.path)
    if verdict.correct:
        return None
    return Fail(RULE, "no_answer" if trajectory.answer is None or verdict.path == "no_answer" else "wrong_answer")
