"""Verdicts by rule: what decides, what is left to the judge, what never can be accepted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.grading import compare, decide, relaxed_correct
from tir_distill.grading.dates import parse_clock, parse_date
from tir_distill.grading.lists import parse_reference_list
from tir_distill.grading.match import Match
from tir_distill.grading.quantity import parse_quantity
from tir_distill.grading.ranges import parse_range
from tir_distill.grading.text import is_meaningful, is_single_letter, key, unwrap


@pytest.mark.parametrize("answer", [None, "", "   ", "\n"])
def test_no_answer_is_wrong(answer: str | None) -> None:
    verdict = decide("q", answer, ["Mumbai"])
    assert verdict is not None
    assert (verdict.correct, verdict.path) == (False, "no_answer")


@pytest.mark.parametrize(
    ("answer", "references", "correct", "path", "reference"),
    [
        ("Mumbai", ["Mumbai"], True, "exact", "Mumbai"),
        ("bombay", ["Mumbai", "Bombay"], True, "exact", "Bombay"),
        ("17.0", ["17"], True, "scorer", "17"),
        ("6830", ["6,830"], True, "typed", "6,830"),
        ("NewYork", ["New York"], True, "scorer", "New York"),
        ("18", ["17"], False, "scorer", None),
        ("18", ["17", "19"], False, "scorer", None),
        ("15 m", ["1.5 m"], False, "typed", None),
        ("...", ["Mumbai"], False, "unsafe", None),
        ("B", ["Mumbai"], False, "unsafe", None),
        ("Mumbai", [""], None, "unsafe", None),
        ("Mumbai", ["...", "-"], None, "unsafe", None),
    ],
)
def test_decided(answer: str, references: list[str], correct: bool | None, path: str, reference: str | None) -> None:
    verdict = decide("q", answer, references)
    assert verdict is not None
    assert (verdict.correct, verdict.path, verdict.reference) == (correct, path, reference)
    assert verdict.judge_model == "rule"


@pytest.mark.parametrize(
    ("answer", "references"),
    [
        ("Bombay", ["Mumbai"]),
        ("18", ["17", "Mumbai"]),
        ("17 km", ["17"]),
        ("sea gull", ["seagull"]),
        ("A", ["A"]),
        ("(a)", ["A"]),
        ("nan", ["nan"]),
        ("whatever", ["inf"]),
        ("2022-10-01", ["1/10/2022"]),
    ],
)
def test_left_to_the_judge(answer: str, references: list[str]) -> None:
    assert decide("q", answer, references) is None


def test_unusable_references_are_left_out() -> None:
    verdict = decide("q", "17", ["", "17"])
    assert verdict is not None
    assert verdict.correct


texts = st.one_of(
    st.text(max_size=15),
    st.sampled_from(
        [
            "17",
            "6,830",
            "1/2",
            "50%",
            "$5",
            "5 km",
            "[63, 26]",
            "a, b",
            "2022-10-01",
            "B",
            "...",
            "inf",
            "孟买",
            "5-10",
            "3:30 PM",
        ]
    ),
)


@settings(max_examples=300, deadline=None)
@given(texts, st.lists(texts, min_size=1, max_size=4), texts)
def test_one_more_candidate_never_turns_right_into_wrong(answer: str, references: list[str], another: str) -> None:
    before = decide("q", answer, references)
    for more in ([*references, another], [another, *references]):
        after = decide("q", answer, more)
        if before is not None and before.correct:
            assert after is not None
            assert after.correct
        if before is None:  # the judge was needed: it still is, or the new reference fits
            assert after is None or after.correct


@settings(max_examples=300, deadline=None)
@given(texts)
def test_every_safe_text_equals_itself(text: str) -> None:
    verdict = decide("q", text, [text])
    if verdict is not None and verdict.correct is False:
        assert not text.strip() or not is_meaningful(text)


@settings(max_examples=300, deadline=None)
@given(texts, texts)
def test_comparing_is_total_and_parsers_never_raise(answer: str, reference: str) -> None:
    assert compare(answer, reference, "how many percent").match in Match
    for parse in (parse_date, parse_clock, parse_quantity, parse_range, parse_reference_list, key, unwrap):
        parse(answer)


@pytest.mark.parametrize(
    "text", ["9" * 5000, "(" * 3000, "1/" * 2000, "a, " * 3000, "**" * 2000, "\\boxed{" * 500, "$" * 999]
)
def test_long_answers_are_fast_and_harmless(text: str) -> None:
    compare(text, "6,830")
    compare("6830", text)


@pytest.mark.parametrize(
    ("text", "single"),
    [
        ("B", True),
        ("(b).", True),
        ("Ｂ", True),
        ("BC", False),
        ("A-", False),
        ("A−", False),
        ("-A", True),
        ("李", False),
        ("5", False),
        ("é", False),
    ],
)
def test_single_letters(text: str, single: bool) -> None:
    assert is_single_letter(text) is single


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [
        ("105", "100", True),
        ("95", "100", True),
        ("105.1", "100", False),
        ("94.9", "100", False),
        ("0.41", "39%", False),
        ("0.40", "39%", True),
        ("40%", "0.39", True),
        ("0", "0", True),
        ("0.001", "0", False),
        ("Yes", "yes", True),
        ("yes!", "yes", False),
        ("nan", "5", False),
        ("inf", "5", False),
        ("-100", "100", False),
    ],
)
def test_chartqa_relaxed_rule(answer: str, reference: str, right: bool) -> None:
    assert relaxed_correct(answer, reference) is right
