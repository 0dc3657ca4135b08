"""Looking for the cheapest plan that still gives the wanted number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .plans import Plan, Question, Result, simulate


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan and what it came to."""

    plan: Plan
    result: Result


GRID: dict[str, Sequence[int]] = {
    "k_first": (1, 2),
    "k_max": (3, 4, 5, 6, 8),
    "k_max_text": (1, 2, 3),
    "per_trajectory": (4, 5, 6, 7, 8, 10),
    "per_trajectory_text": (8, 20),
    "per_question": (16, 20, 24, 32),
    "per_question_text": (16, 24, 50),
    "no_answer_in_a_row": (1, 2),
}
"""Values that are tried for each limit."""


def cheapest(questions: Sequence[Question], wanted: int, base: Plan, *, rounds: int = 3) -> Candidate | None:
    """The plan with the fewest searches that gives at least ``wanted`` accepted rows; None when none does.

    Coordinate descent over the grid from ``base`` and from its most generous corner: each round tries every value of
    every limit, the others fixed. Far fewer plans than the whole grid, and as good on every distribution tried.
    """
    corner = replace(base, **{name: max(values) for name, values in GRID.items()})
    found = [_descend(questions, wanted, start, rounds) for start in (base, corner)]
    good = [item for item in found if item.result.accepted >= wanted]
    return min(good, key=lambda item: item.result.searches) if good else None


def _descend(questions: Sequence[Question], wanted: int, start: Plan, rounds: int) -> Candidate:
    best = Candidate(start, simulate(questions, start))
    for _ in range(rounds):
        before = best
        for name, values in GRID.items():
            for value in values:
                plan = replace(best.plan, **{name: value})
                if value != getattr(best.plan, name) and plan.per_trajectory <= plan.per_question:
                    best = _better(best, Candidate(plan, simulate(questions, plan)), wanted)
        if best is before:
            break
    return best


def _better(left: Candidate, right: Candidate, wanted: int) -> Candidate:
    """Enough rows first, then fewer searches."""

    def rank(item: Candidate) -> tuple[int, int]:
        return (max(0, wanted - item.result.accepted), item.result.searches)

    return right if rank(right) < rank(left) else left


def compare(draws: Iterable[Sequence[Question]], plans: Sequence[Plan]) -> list[list[Result]]:
    """Each plan's result on each draw: rows are plans."""
    drawn = list(draws)
    return [[simulate(questions, plan) for questions in drawn] for plan in plans]
