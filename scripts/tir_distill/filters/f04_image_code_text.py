"""F4: a question without pictures has no code that handles pictures (seed section 5), run or only written out.

Comments and strings of the code count too: a student that reads ``# no PIL needed`` learns to think of pictures.
"""

from __future__ import annotations

from ..records import Trajectory
from ..records.behaviour import fenced_code, has_image_code
from .calls import code_of
from .report import Fail
from .settings import FilterSettings

RULE = "F4"


def image_code_calls(trajectory: Trajectory) -> int:
    """Python calls that handle pictures."""
    return sum(
        has_image_code(code_of(call)) for turn in trajectory.turns for call in turn.calls if call.name == "python"
    )


def writes_image_code(trajectory: Trajectory) -> bool:
    """Whether a code block in a turn's text or thinking handles pictures."""
    texts = (text for turn in trajectory.turns for text in (turn.content, turn.thinking))
    return any(has_image_code(code) for text in texts for code in fenced_code(text))


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    if trajectory.question.task_type != "text_search":
        return None
    if image_code_calls(trajectory):
        return Fail(RULE, "image_code")
    return Fail(RULE, "image_code_written") if writes_image_code(trajectory) else None
