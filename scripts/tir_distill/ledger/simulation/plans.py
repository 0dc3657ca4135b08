"""A sampling plan with its caps, and what a question costs and yields under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one sample came to under a trajectory cap."""

    searches: int
    billed: int
    answered: bool
    accepted: bool


class Sample(Protocol):
    """One sample that a question would give, recorded or drawn."""

    def under(self, cap: int) -> Outcome:
        """Its outcome when it may search ``cap`` times and must then answer."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its samples in order, as many as are known."""

    id: str
    text: bool
    """A text question: it has caps of its own."""
    samples: Sequence[Sample]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Limits as in the configuration's ``plan`` and ``sampling`` (seed section 12)."""

    k_first: int = 2
    k_step: int = 1
    k_max: int = 4
    k_max_text: int = 3
    per_trajectory: int = 8
    per_trajectory_text: int = 20
    per_question: int = 24
    per_question_text: int = 50
    no_answer_in_a_row: int = 2

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Plan:
        plan, sampling = config["plan"], config["sampling"]
        return cls(
            k_first=plan["k_first"],
            k_step=plan["k_step"],
            k_max=plan["k_max"],
            k_max_text=plan["k_max_text"],
            per_trajectory=sampling["max_search_per_traj"],
            per_trajectory_text=sampling["max_search_per_traj_text"],
            per_question=plan["max_search_per_question"],
            per_question_text=plan["max_search_per_question_text"],
            no_answer_in_a_row=plan["no_answer_in_a_row"],
        )


NO_LIMIT = 10**9
OLD_PLAN = Plan(
    k_max=8,
    k_max_text=8,
    per_trajectory=NO_LIMIT,
    per_trajectory_text=NO_LIMIT,
    per_question=NO_LIMIT,
    per_question_text=NO_LIMIT,
    no_answer_in_a_row=NO_LIMIT,
)
"""What the full5k run did (seed section 12): up to eight samples and no limit on searches."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What one question came to."""

    searches: int
    """Billed."""
    accepted_at: int | None
    """Number of the accepted sample, from 1; None when there is none."""
    accepted_searches: int
    answered: bool
    """At least one sample gave an answer."""


def walk(question: Question, plan: Plan) -> Walk:
    """Take samples as the plan says until one is accepted or a limit ends the question."""
    k_max = plan.k_max_text if question.text else plan.k_max
    cap = plan.per_trajectory_text if question.text else plan.per_trajectory
    budget = plan.per_question_text if question.text else plan.per_question
    searches = silent = taken = 0
    accepted_at, accepted_searches, answered = None, 0, False
    while taken < min(k_max, len(question.samples)):
        step = plan.k_first if taken == 0 else plan.k_step
        for sample in question.samples[taken : min(taken + step, k_max)]:
            outcome = sample.under(cap)
            taken += 1
            if searches + outcome.billed > budget:  # the next search would break the budget: the question stops
                return Walk(budget, accepted_at, accepted_searches, answered)
            searches += outcome.billed
            answered = answered or outcome.answered
            silent = 0 if outcome.answered else silent + 1
            if outcome.accepted and accepted_at is None:
                accepted_at, accepted_searches = taken, outcome.billed
        if accepted_at is not None or silent >= plan.no_answer_in_a_row:
            break
    return Walk(searches, accepted_at, accepted_searches, answered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Totals over questions, in the terms of seed section 12."""

    questions: int
    accepted: int
    searches: int
    per_accepted_question: float
    """Mean searches of questions that gave a row; likewise below."""
    per_wrong_question: float
    per_silent_question: float
    silent_questions: int
    within_four: float
    """Share of the accepted whose accepted sample was among the first four."""
    in_accepted_samples: float
    """Share of all searches that went into the accepted samples themselves."""
    most: int
    """Searches of the most expensive question."""

    @property
    def per_row(self) -> float:
        """Searches per accepted row, over all questions."""
        return self.searches / self.accepted if self.accepted else float("inf")


def simulate(questions: Iterable[Question], plan: Plan) -> Result:
    """Walk all questions under one plan."""
    walks = [walk(question, plan) for question in questions]
    good = [item for item in walks if item.accepted_at is not None]
    wrong = [item.searches for item in walks if item.accepted_at is None and item.answered]
    silent = [item.searches for item in walks if item.accepted_at is None and not item.answered]
    total = sum(item.searches for item in walks)
    return Result(
        questions=len(walks),
        accepted=len(good),
        searches=total,
        per_accepted_question=_mean([item.searches for item in good]),
        per_wrong_question=_mean(wrong),
        per_silent_question=_mean(silent),
        silent_questions=len(silent),
        within_four=_mean([int((item.accepted_at or 0) <= 4) for item in good]),
        in_accepted_samples=sum(item.accepted_searches for item in good) / total if total else 0.0,
        most=max((item.searches for item in walks), default=0),
    )


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
