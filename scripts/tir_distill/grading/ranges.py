"""Ranges: ``5-10``, ``5 to 10 km``, ``between 5 and 10``, ``5至10``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .match import Match
from .quantity import Quantity, compare_quantities, parse_quantity
from .text import fold, strip_outer, unwrap

_JOINED = re.compile(
    r"(?P<lead>between |from )?(?P<low>.*?\S)\s?(?P<by>-| to | and |~|至|到)\s?(?P<high>\S.*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Range:
    """Two quantities, the lower first."""

    low: Quantity
    high: Quantity


def parse_range(text: str) -> Range | None:
    """Read a whole answer as a range, or None. ``3-1`` (a score) and ``1990-95`` are none: the low end comes first."""
    text = strip_outer(fold(unwrap(text), case=False))
    if len(text) > 60:
        return None
    found = _JOINED.fullmatch(text)
    if not found or (found["by"] == " and " and (found["lead"] or "").strip().casefold() != "between"):
        return None
    high = parse_quantity(found["high"])
    low = parse_quantity(found["low"])
    if low is None or high is None:
        return None
    if low.dimension == "plain" and high.dimension != "plain":  # 5-10 km: the unit stands once
        low = parse_quantity(f"{found['low']} {high.unit}") or low
    if low.dimension != high.dimension or low.value >= high.value:
        return None
    return Range(low, high)


def compare_ranges(answer: Range, reference: Range) -> Match:
    """Both ends the same; NO when either end is certainly another; UNKNOWN otherwise."""
    ends = [compare_quantities(answer.low, reference.low), compare_quantities(answer.high, reference.high)]
    if ends == [Match.YES, Match.YES]:
        return Match.YES
    return Match.NO if Match.NO in ends else Match.UNKNOWN
