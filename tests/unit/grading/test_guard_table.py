"""A table of hand-made pairs: no wrong answer is accepted by a rule, and what rules reject wrongly is stated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tir_distill.grading.match import Match
from tir_distill.grading.rules import compare

TABLE = Path(__file__).with_name("guard_pairs.tsv")

FALSE_REJECTS = {
    ("1.234", "1,234"),  # a German thousands point reads as a decimal point
    ("12/25", "25/12"),  # two orders of a date without a year read as two fractions
}
"""Right answers that a rule calls wrong. Anything new here is a decision."""

LEFT_TO_THE_JUDGE = {("'a', 'b'", "['a', 'b']")}
"""Right answers that no rule accepts. The judge does."""


class Pair(NamedTuple):
    answer: str
    reference: str
    truth: str
    """``right``, ``wrong``, or ``open``: people would differ, so no rule may accept."""
    question: str


def pairs() -> list[Pair]:
    lines = TABLE.read_text(encoding="utf-8").removesuffix("\n").split("\n")[1:]
    return [Pair(*[*line.split("\t"), ""][:4]) for line in lines]


def test_table_is_large_and_of_many_kinds() -> None:
    counts = Counter(pair.truth for pair in pairs())
    assert len(pairs()) >= 80
    assert min(counts["right"], counts["wrong"], counts["open"]) >= 40


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: f"{pair.answer}|{pair.reference}")
def test_pair(pair: Pair) -> None:
    match = compare(pair.answer, pair.reference, pair.question).match
    if pair.truth == "right":
        expected = {Match.YES}
        if (pair.answer, pair.reference) in FALSE_REJECTS:
            expected = {Match.NO}
        elif (pair.answer, pair.reference) in LEFT_TO_THE_JUDGE:
            expected = {Match.UNKNOWN}
    elif pair.truth == "wrong":
        expected = {Match.NO, Match.UNKNOWN}
    else:
        expected = {Match.UNKNOWN}
    assert match in expected


def test_zero_false_accepts() -> None:
    assert [
        p for p in pairs() if p.truth != "right" and compare(p.answer, p.reference, p.question).match is Match.YES
    ] == []


def test_most_wrong_numbers_cost_no_judge() -> None:
    wrong = [compare(p.answer, p.reference, p.question).match for p in pairs() if p.truth == "wrong"]
    assert wrong.count(Match.NO) >= len(wrong) // 2 - 5
