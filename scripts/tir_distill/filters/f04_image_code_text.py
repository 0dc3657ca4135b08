"""F4: a question without pictures has no code that handles pictures (seed section 5), run or only written out."""

from __future__ import annotations

from ..records import Trajectory
from ..records.behaviour import has_image_code
from .calls import code_of, fenced_code
from .report import Fail
from .settings import FilterSettings

RULE = "F4"


def image_code_calls(trajectory: Trajectory) -> int:
    """Python calls that handle pictures."""
    return sum(
        has_image_code(code_of(call)) for turn in trajectory.turns for call in turn.calls if call.name == "python"
    )


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    if trajectory.question.task_type != "text_search":
        return None
    if image_code_calls(trajectory):
        return Fail(RULE, "image_code")
    written = any(has_image_code(code) for turn in trajectory.turns for code in fenced_code(turn.content))
    return Fail(RULE, "image_code_written") if written else None
