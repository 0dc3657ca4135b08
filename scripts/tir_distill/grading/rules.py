"""Rule first: what can be decided without a judge, and nothing that cannot (seed section 5, F1).

Order for each reference: identical text, typed comparison, same text after folding, official scorer. One reference that
certainly fits makes the answer right; the answer is wrong by rule only when every reference certainly does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..records import Verdict
from .dates import compare_clocks, compare_dates, parse_clock, parse_date
from .gaia_scorer import question_scorer
from .guard import case_matters, scorer_is_safe, unsafe, unusable
from .lists import brackets, compare_lists, parse_answer_list, parse_reference_list
from .match import Match
from .quantity import PLAIN, Quantity, compare_quantities, parse_quantity
from .ranges import compare_ranges, parse_range
from .text import is_meaningful, is_single_letter, key

LONGEST_TYPED = 400
"""Characters above which a text is no number, date or list of them: bounds what the patterns may cost."""


class Finding(NamedTuple):
    """What the rules say of one answer and one reference."""

    match: Match
    path: str
    """``exact``, ``typed``, ``scorer`` or ``unsafe``: what said it."""


def compare(answer: str, reference: str, question: str = "") -> Finding:
    """Compare one answer with one reference; UNKNOWN is for the judge."""
    if unsafe(reference):
        return Finding(Match.UNKNOWN, "unsafe")
    if answer.strip() == reference.strip():
        return Finding(Match.YES, "exact")
    typed = compare_typed(answer, reference, question)
    if typed in (Match.YES, Match.NO):
        agrees = question_scorer(answer, reference) is (typed is Match.YES)
        return Finding(typed, "scorer" if agrees and _is_plain(reference) else "typed")
    if typed is Match.UNKNOWN:
        return Finding(Match.UNKNOWN, "typed")
    if key(answer) == key(reference) and not case_matters(answer, reference):
        return Finding(Match.YES, "exact")
    if question_scorer(answer, reference) and scorer_is_safe(answer, reference):
        return Finding(Match.YES, "scorer")
    return Finding(Match.UNKNOWN, "scorer")


def compare_typed(answer: str, reference: str, question: str = "") -> Match:
    """Compare as numbers, dates, times, ranges or lists; NOT_MINE when no kind fits both, or either text is long."""
    if len(answer) > LONGEST_TYPED or len(reference) > LONGEST_TYPED:
        return Match.NOT_MINE
    kinds = [_as_dates, _as_clocks, _as_quantities, _as_ranges, _as_lists]
    if reference.strip()[:1] == "[":  # [100,200] is no number
        kinds.insert(0, _as_lists)
    for compare_kind in kinds:
        match = compare_kind(answer, reference, question)
        if match is not Match.NOT_MINE:
            return match
    return Match.NOT_MINE


def _is_plain(reference: str) -> bool:
    quantity = parse_quantity(reference)
    return quantity is not None and quantity.dimension == PLAIN


def _is_year(quantity: Quantity | None) -> bool:
    return (
        quantity is not None
        and quantity.dimension == PLAIN
        and quantity.value.denominator == 1
        and 1000 <= quantity.value <= 2100
        and quantity.number.digits <= 4
    )


def _as_dates(answer: str, reference: str, question: str) -> Match:
    a, r = parse_date(answer), parse_date(reference)
    if a and r:
        return compare_dates(a, r)
    for dates, other in ((a, reference), (r, answer)):  # 2022年 and 2022
        quantity = parse_quantity(other) if dates else None
        if quantity is not None and _is_year(quantity):
            year = frozenset({(int(quantity.value), None, None)})
            return compare_dates(year, dates)
    return Match.UNKNOWN if (r and parse_quantity(answer)) or (a and parse_quantity(reference)) else Match.NOT_MINE


def _as_clocks(answer: str, reference: str, question: str) -> Match:
    a, r = parse_clock(answer), parse_clock(reference)
    return compare_clocks(a, r) if a and r else Match.NOT_MINE


def _as_quantities(answer: str, reference: str, question: str) -> Match:
    r = parse_quantity(reference)
    a = parse_quantity(answer) if r else None
    return compare_quantities(a, r, question) if a and r else Match.NOT_MINE


def _as_ranges(answer: str, reference: str, question: str) -> Match:
    r = parse_range(reference)
    a = parse_range(answer)
    if a and r:
        return compare_ranges(a, r)
    return Match.UNKNOWN if (a and parse_quantity(reference)) or (r and parse_quantity(answer)) else Match.NOT_MINE


def _as_lists(answer: str, reference: str, question: str) -> Match:
    r = parse_reference_list(reference)
    if r is None:
        return Match.NOT_MINE
    shapes = {brackets(answer), brackets(reference)} - {""}
    if len(shapes) == 2:
        return Match.UNKNOWN
    # every element is shorter than the reference, so this comes to an end
    return compare_lists(parse_answer_list(answer, r), r, lambda x, y: compare(x, y, question).match)


def decide(question: str, answer: str | None, references: Sequence[str]) -> Verdict | None:
    """The verdict the rules can give, or None when a judge is needed."""
    if answer is None or not answer.strip():
        return Verdict(correct=False, path="no_answer")
    usable = [reference for reference in references if not unusable(reference)]
    if not usable:
        return Verdict(correct=None, path="unsafe", detail="no reference holds a letter or a digit")
    if not is_meaningful(answer):
        return Verdict(correct=False, path="unsafe", detail="the answer is punctuation only")
    if is_single_letter(answer) and not any(map(is_single_letter, usable)):
        return Verdict(correct=False, path="unsafe", detail="a single letter for an open question")
    findings = [compare(answer, reference, question) for reference in usable]
    for finding, reference in zip(findings, usable, strict=True):
        if finding.match is Match.YES:
            return Verdict(correct=True, path=finding.path, reference=reference)
    if all(finding.match is Match.NO for finding in findings):
        path = findings[0].path if len({finding.path for finding in findings}) == 1 else "typed"
        return Verdict(correct=False, path=path)
    return None
