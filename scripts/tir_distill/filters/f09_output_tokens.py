"""F9: the whole output has 100 (image_reasoning) or 200 to 6,000 tokens, ends included (seed sections 5, 9)."""

from __future__ import annotations

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

RULE = "F9"


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    tokens = trajectory.tokens.assistant
    reasoning = trajectory.question.task_type == "image_reasoning"
    least = settings.min_assistant_tokens_reasoning if reasoning else settings.min_assistant_tokens
    if tokens < least:
        return Fail(RULE, "too_short")
    return Fail(RULE, "too_long") if tokens > settings.max_assistant_tokens else None
