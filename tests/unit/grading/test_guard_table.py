"""A table of hand-made pairs: no wrong answer is accepted by a rule, and what rules reject wrongly is stated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tir_distill.grading.match import Match
from tir_distill.grading.rules import compare, decide

TABLE = Path(__file__).with_name("guard_pairs.tsv")

FALSE_REJECTS = {
    ("1.234", "1,234"),  # a German thousands point reads as a decimal point
    ("12/25", "25/12"),  # two orders of a date without a year read as two fractions
}
"""Right answers that a rule calls wrong. Anything new here is a decision."""

LEFT_TO_THE_JUDGE = {
    ("'a', 'b'", "['a', 'b']"),  # option letters
    ("10²", "100"),
    ("B-52", "B52"),  # UTC-5 is not UTC5
    ("F-16", "F16"),
    ("cannot", "can not"),  # not able is not notable
    ("no one", "noone"),
    ("sea gull", "seagull"),
    ("1h30m", "90 min"),
    ("μm", "um"),  # two characters: the case of short marks carries meaning
}
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
    assert len(pairs()) >= 850
    assert min(counts["right"], counts["wrong"], counts["open"]) >= 40


def expected(pair: Pair) -> set[Match]:
    if pair.truth == "wrong":
        return {Match.NO, Match.UNKNOWN}
    if pair.truth == "open" or (pair.answer, pair.reference) in LEFT_TO_THE_JUDGE:
        return {Match.UNKNOWN}
    return {Match.NO} if (pair.answer, pair.reference) in FALSE_REJECTS else {Match.YES}


def test_every_pair_is_decided_as_written_beforehand() -> None:
    found = [(pair, compare(pair.answer, pair.reference, pair.question).match) for pair in pairs()]
    assert [(*pair, match) for pair, match in found if match not in expected(pair)] == []


def test_zero_false_accepts_whatever_the_side() -> None:
    """Also through ``decide``, with a reference that says nothing beside the real one."""
    wrong = [pair for pair in pairs() if pair.truth != "right"]
    assert [p for p in wrong if compare(p.answer, p.reference, p.question).match is Match.YES] == []
    verdicts = [(p, decide(p.question, p.answer, (p.reference, "", "...", " "))) for p in wrong]
    assert [p for p, verdict in verdicts if verdict is not None and verdict.correct] == []


def test_a_false_reject_is_never_new() -> None:
    """Right answers that rules call wrong are those listed; all other doubts go to the judge."""
    right = {(p.answer, p.reference) for p in pairs() if p.truth == "right"}
    rejected = {
        (p.answer, p.reference)
        for p in pairs()
        if p.truth != "wrong" and compare(p.answer, p.reference, p.question).match is Match.NO
    }
    assert rejected == FALSE_REJECTS
    assert right >= LEFT_TO_THE_JUDGE | FALSE_REJECTS


def test_most_wrong_numbers_cost_no_judge() -> None:
    wrong = [compare(p.answer, p.reference, p.question).match for p in pairs() if p.truth == "wrong"]
    assert wrong.count(Match.NO) >= 95
