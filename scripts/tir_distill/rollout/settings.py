"""What decides a sample, how many samples are bought, and how the engine is run: three sections kept apart.

A change in ``sampling`` samples again, a change in ``plan`` buys what is missing, one in ``engine`` changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TEXT_TASK = "text_search"
"""The task type with limits of its own (``..._text``): questions without a picture need several hops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Of one conversation."""

    max_turns: int = 10
    """Replies before one last reply is asked for by a notice."""
    max_calls_per_turn: int = 3
    """Calls of a reply that are run and kept (seed section 12)."""
    max_searches: int = 8
    """Search calls, billed or not, after which the answer is asked for (seed section 12, RULINGS 4)."""
    max_tokens: int = 8192
    """Of one reply."""
    text_protocol: bool = False

    @classmethod
    def from_config(cls, config: Mapping[str, Any], task_type: str) -> Limits:
        sampling = config["sampling"]
        suffix = "_text" if task_type == TEXT_TASK else ""
        return cls(
            max_turns=sampling[f"max_turns{suffix}"],
            max_calls_per_turn=sampling["max_calls_per_turn"],
            max_searches=sampling[f"max_search_per_traj{suffix}"],
            max_tokens=sampling["max_tokens"],
            text_protocol=sampling["text_protocol"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """How many samples of one question are bought (seed sections 4 and 12, RULINGS 2 and 3)."""

    k_first: int = 2
    """Taken in any case."""
    k_step: int = 1
    """Bought at a time after that."""
    k_max: int = 4
    no_answer_in_a_row: int = 2
    """Samples without an answer, next to each other, that end the question."""
    max_searches: int = 24
    """Billed searches over all samples; 0: none are allowed, which ends no question by itself."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any], task_type: str) -> PlanSettings:
        plan = config["plan"]
        suffix = "_text" if task_type == TEXT_TASK else ""
        return cls(
            k_first=plan["k_first"],
            k_step=plan["k_step"],
            k_max=plan[f"k_max{suffix}"],
            no_answer_in_a_row=plan["no_answer_in_a_row"],
            max_searches=plan[f"max_search_per_question{suffix}"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How the work is run."""

    concurrency: int = 64
    """Conversations at once in one process."""
    deferred_attempts: int = 3
    """Runs in which a question may fail for reasons outside it before it is given up (RULINGS 8)."""
    grace_seconds: float = 20.0
    """Time that conversations under way get to end after a stop; what is cut off goes on from its turn later."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> EngineSettings:
        engine = config["engine"]
        return cls(
            concurrency=engine["concurrency"],
            deferred_attempts=engine["deferred_attempts"],
            grace_seconds=engine["grace_seconds"],
        )
