"""What one sample of a bucket uses on average, so that a later run can be forecast from a pilot's ``stats.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..records import Trajectory
from .behaviour import Behaviour


@dataclass(slots=True)
class SampleCosts:
    """Sums over the samples of one bucket, taken from the conversations as the teacher had them (before repair)."""

    samples: int = 0
    turns: int = 0
    searches: int = 0
    """Answered, from the cache too."""
    searches_billed: int = 0
    opens: int = 0
    python_calls: int = 0
    measured: int = 0
    """Samples whose server stated tokens; the others would pull the means towards nothing."""
    prompt: int = 0
    """Prompt tokens of all turns together: each turn sends the whole conversation again, and that is what is paid."""
    completion: int = 0
    task_types: set[str] = field(default_factory=set)

    def add(self, raw: Trajectory, behaviour: Behaviour) -> None:
        """``behaviour``: that of ``raw``."""
        self.samples += 1
        self.turns += len(raw.turns)
        self.searches += raw.searches
        self.searches_billed += raw.searches_billed
        self.opens += behaviour.opens
        self.python_calls += behaviour.python_calls
        self.task_types.add(raw.question.task_type)
        prompt = sum(turn.usage.prompt_tokens for turn in raw.turns)
        completion = sum(turn.usage.completion_tokens for turn in raw.turns)
        if prompt and completion:
            self.measured += 1
            self.prompt += prompt
            self.completion += completion

    def to_dict(self, *, questions: int, accepted: int) -> dict[str, Any]:
        """Means; None where nothing was counted. ``questions`` and ``accepted``: of the bucket."""
        return {
            "task_types": sorted(self.task_types),
            "questions": questions,
            "accepted": accepted,
            "samples": self.samples,
            "samples_per_question": _mean(self.samples, questions),
            "accepted_per_question": _mean(accepted, questions),
            "turns_per_sample": _mean(self.turns, self.samples),
            "tokens_per_sample": {
                "prompt": _mean(self.prompt, self.measured),
                "completion": _mean(self.completion, self.measured),
                "total": _mean(self.prompt + self.completion, self.measured),
                "measured": self.measured,
            },
            "searches_per_sample": _mean(self.searches, self.samples),
            "searches_billed_per_sample": _mean(self.searches_billed, self.samples),
            "opens_per_sample": _mean(self.opens, self.samples),
            "python_calls_per_sample": _mean(self.python_calls, self.samples),
        }


def _mean(total: int, count: int) -> float | None:
    return round(total / count, 3) if count else None
