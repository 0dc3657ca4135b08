"""How many samples of a question to buy next: a pure function of what is there (RULINGS 2 to 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .settings import PlanSettings

QuestionStatus = Literal["accepted", "exhausted", "stopped_question_budget", "stopped_no_answer", "deferred"]
"""Terminal states of a question, as written in the shard's questions file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the plan needs to know of one finished sample."""

    index: int
    accepted: bool
    answered: bool
    """False: it ended without an answer, or was cut at its token limit."""
    billed: int = 0
    capped: bool = False
    """It ran into the question's search limit as that stood then; what counts is whether it is reached now."""


@dataclass(frozen=True, slots=True)
class Next:
    """Either samples to buy, or the end of the question."""

    buy: int = 0
    status: QuestionStatus | None = None
    reason: str = ""


def decide(outcomes: Sequence[Outcome], plan: PlanSettings, *, billed: int) -> Next:
    """``outcomes`` in index order. ``billed``: searches paid for this question so far, those of samples under way not
    among them, since such a sample is finished in any case.

    The first ``k_first`` samples are taken in any case, and after them each step as a whole, unless the search budget
    is used up before. So neither the order in which samples end nor a kill between them decides which are bought.
    """
    taken = len(outcomes)
    over = plan.max_searches > 0 and billed >= plan.max_searches
    missing = _to_next_step(taken, plan)
    if missing and not over:
        return Next(buy=missing)
    best = next((outcome.index for outcome in outcomes if outcome.accepted), None)
    if best is not None:
        return Next(status="accepted", reason=f"sample {best} passed every filter")
    if _silent_in_a_row(outcomes) >= plan.no_answer_in_a_row:
        return Next(status="stopped_no_answer", reason=f"{plan.no_answer_in_a_row} samples in a row without an answer")
    if taken >= plan.k_max:
        return Next(status="exhausted", reason=f"{taken} samples, none accepted")
    if over:
        return Next(status="stopped_question_budget", reason=f"{billed} of {plan.max_searches} billed searches used")
    return Next(buy=min(plan.k_step, plan.k_max - taken))


def _to_next_step(taken: int, plan: PlanSettings) -> int:
    """Samples that the first batch or the step under way still lacks."""
    first = min(plan.k_first, plan.k_max)
    if taken < first:
        return first - taken
    return max(0, min(-(taken - first) % plan.k_step, plan.k_max - taken))


def at_once(buy: int, *, billed: int, searches_each: int, plan: PlanSettings) -> int:
    """How many of them may run at the same time without a chance of going over the question's search budget.

    Samples that could share the last searches run one after the other, so that which of them meets the limit does not
    depend on speed.
    """
    if searches_each <= 0:
        return buy
    return max(1, min(buy, (plan.max_searches - billed) // searches_each))


def _silent_in_a_row(outcomes: Sequence[Outcome]) -> int:
    longest = run = 0
    for outcome in outcomes:
        run = 0 if outcome.answered else run + 1
        longest = max(longest, run)
    return longest
