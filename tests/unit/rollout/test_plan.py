"""Which samples are bought: every rule of the plan, and that order of arrival has no say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.rollout import Next, Outcome, PlanSettings, decide
from tir_distill.rollout.plan import at_once

PLAN = PlanSettings()
TEXT = PlanSettings(k_max=3, max_searches=50)


def outcomes(marks: str, billed: int = 0) -> list[Outcome]:
    """``a`` accepted, ``w`` wrong, ``s`` silent (no answer), ``c`` met the question's search limit."""
    return [
        Outcome(index=i, accepted=mark == "a", answered=mark != "s", billed=billed, capped=mark == "c")
        for i, mark in enumerate(marks)
    ]


@pytest.mark.parametrize(
    ("marks", "buy", "status"),
    [
        ("", 2, None),
        ("w", 1, None),
        ("a", 1, None),  # the first two are taken in any case
        ("aa", 0, "accepted"),
        ("aw", 0, "accepted"),
        ("wa", 0, "accepted"),
        ("ww", 1, None),
        ("ss", 0, "stopped_no_answer"),
        ("sa", 0, "accepted"),
        ("sw", 1, None),
        ("sws", 1, None),  # two silent ones, but not in a row
        ("wss", 0, "stopped_no_answer"),
        ("www", 1, None),
        ("wwa", 0, "accepted"),
        ("wwww", 0, "exhausted"),
        ("wwss", 0, "stopped_no_answer"),
        ("c", 1, None),  # it met a limit that is no longer reached
        ("wc", 1, None),
        ("ac", 0, "accepted"),
    ],
)
def test_rules(marks: str, buy: int, status: str | None) -> None:
    step = decide(outcomes(marks), PLAN, billed=0)
    assert (step.buy, step.status) == (buy, status)


@pytest.mark.parametrize(
    ("marks", "status"),
    [("c", "stopped_question_budget"), ("wc", "stopped_question_budget"), ("ac", "accepted"), ("a", "accepted")],
)
def test_a_used_up_search_budget_ends_the_question_even_within_the_first_samples(marks: str, status: str) -> None:
    assert decide(outcomes(marks), PLAN, billed=24).status == status


def test_text_questions_have_their_own_number() -> None:
    assert decide(outcomes("www"), TEXT, billed=0).status == "exhausted"


def test_budget_stops_before_the_next_sample_and_names_the_figures() -> None:
    assert decide(outcomes("ww"), PLAN, billed=23).buy == 1
    step = decide(outcomes("ww"), PLAN, billed=24)
    assert (step.status, step.reason) == ("stopped_question_budget", "24 of 24 billed searches used")
    assert decide([], PlanSettings(max_searches=0), billed=0).buy == 2


def test_one_sample_each_for_the_smoke_run() -> None:
    plan = PlanSettings(k_first=2, k_max=1)
    assert decide([], plan, billed=0).buy == 1
    assert decide(outcomes("w"), plan, billed=0).status == "exhausted"


def test_a_step_of_two_never_goes_over_k_max() -> None:
    plan = PlanSettings(k_step=2, k_max=3)
    assert decide(outcomes("ww"), plan, billed=0).buy == 1


@pytest.mark.parametrize(
    ("marks", "buy", "status"),
    [
        ("ww", 2, None),
        ("wwa", 1, None),  # the step is finished whether or not a kill came between its two samples
        ("wwaw", 0, "accepted"),
        ("wwss", 0, "stopped_no_answer"),
        ("wwww", 1, None),  # k_max cuts the last step
        ("wwwww", 0, "exhausted"),
    ],
)
def test_a_step_is_taken_as_a_whole(marks: str, buy: int, status: str | None) -> None:
    step = decide(outcomes(marks), PlanSettings(k_first=2, k_step=2, k_max=5), billed=0)
    assert (step.buy, step.status) == (buy, status)


@pytest.mark.parametrize(
    ("buy", "billed", "each", "most", "expected"),
    [(2, 0, 8, 24, 2), (2, 9, 8, 24, 1), (2, 0, 20, 50, 2), (2, 11, 20, 50, 1), (1, 24, 8, 24, 1), (2, 0, 0, 24, 2)],
)
def test_samples_run_at_once_only_where_they_cannot_share_the_last_searches(
    buy: int, billed: int, each: int, most: int, expected: int
) -> None:
    assert at_once(buy, billed=billed, searches_each=each, plan=PlanSettings(max_searches=most)) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="aws", max_size=8), st.integers(1, 4), st.integers(1, 5), st.integers(1, 3))
def test_every_question_ends_and_never_over_k_max(fates: str, k_first: int, k_max: int, k_step: int) -> None:
    plan = PlanSettings(k_first=k_first, k_max=k_max, k_step=k_step)
    taken = 0
    fates = fates.ljust(k_max, "w")
    step = Next(buy=1)
    while step.status is None:
        step = decide(outcomes(fates[:taken]), plan, billed=0)
        taken += step.buy
        assert taken <= k_max
        assert (step.buy > 0) is (step.status is None)
    assert (step.status == "accepted") is ("a" in fates[:taken])
