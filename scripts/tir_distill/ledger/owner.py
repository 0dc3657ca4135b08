"""Whose search it is, and how many searches it may make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Owner:
    """One trajectory: what the trajectory, question and run budgets are counted under."""

    run: str
    bucket: str
    question_id: str
    sample: int
    task_type: str


@dataclass(frozen=True, slots=True)
class Caps:
    """Search limits of one trajectory (seed section 12). Reaching one is told to the model, never an error."""

    per_trajectory: int
    """Search calls of one trajectory, billed or not."""
    per_question: int
    """Billed searches of one question over all its samples and re-runs."""
    total: int | None
    """Billed searches of one run; None: no limit."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any], task_type: str) -> Caps:
        """Text questions have limits of their own: they need several hops."""
        suffix = "_text" if task_type == "text_search" else ""
        return cls(
            per_trajectory=config["sampling"][f"max_search_per_traj{suffix}"],
            per_question=config["plan"][f"max_search_per_question{suffix}"],
            total=config["budgets"]["max_search_total"],
        )
