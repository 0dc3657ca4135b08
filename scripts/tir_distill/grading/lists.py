"""Answers that name several things, with or without brackets, in Latin or Chinese punctuation."""

from __future__ import annotations

import re
from collections.abc import Callable

from .match import Match
from .numbers import parse_number
from .text import fold, unwrap

_SEPARATOR = re.compile(r"[,;\n]")
_JOINER = re.compile(r"[,;\n]\s*(?:and|和|及|与)?\s*|\s+and\s+|\s*&\s*|(?<=\S)[和及与](?=\S)")
_ONE_JOINER = [re.compile(rf"[,;\n]|(?<=\S){joiner}(?=\S)") for joiner in "和及与"]
_LEADING = re.compile(r"and\s|[和及与]")
_BRACKETS = {"[": "]", "(": ")", "{": "}"}


def _inside(text: str) -> tuple[str, bool]:
    text = fold(unwrap(text.replace("\n", ";")), case=False).rstrip(".")
    if len(text) > 2 and _BRACKETS.get(text[0]) == text[-1] and text[0] not in text[1:]:
        return text[1:-1].strip(), True
    return text, False


def _strip(item: str) -> str:
    item = item.strip()
    return item[1:-1].strip() if len(item) > 2 and item[0] == item[-1] and item[0] in "'\"" else item


def parse_reference_list(text: str) -> list[str] | None:
    """Elements of a reference that is a list: brackets, or a separator inside. ``6,830`` is a number, not a list."""
    inside, bracketed = _inside(text)
    if not bracketed and parse_number(inside.casefold()) is not None:
        return None
    items = [_strip(item) for item in _SEPARATOR.split(inside.rstrip(",;"))]
    if not all(items) or (len(items) == 1 and not bracketed):
        return None
    return items


def brackets(text: str) -> str:
    """The opening bracket around a whole text, or nothing. ``(0, 10)`` and ``[0, 10]`` may be two intervals."""
    inside, bracketed = _inside(text)
    return fold(unwrap(text.replace("\n", ";")))[0] if inside and bracketed else ""


def parse_answer_list(text: str, reference: list[str]) -> list[str]:
    """Elements of an answer. ``and`` separates too, unless the reference's own elements hold it."""
    inside = _inside(text)[0].rstrip(",; ")
    plain = _SEPARATOR.split(inside)
    if any(_JOINER.search(item) for item in reference):
        readings = [plain]
    else:
        # 埃及和法国: 及 is part of a name; the reading that has as many elements as the reference is meant
        readings = [_JOINER.split(inside), *(joiner.split(inside) for joiner in _ONE_JOINER)]
        if not any(_LEADING.match(item) for item in map(_strip, plain) if item not in reference):
            readings.insert(0, plain)
    parts = next((parts for parts in readings if len(parts) == len(reference)), readings[0])
    items = [_strip(item) for item in parts]
    while items and not items[-1]:
        items.pop()
    return items


def compare_lists(answer: list[str], reference: list[str], same: Callable[[str, str], Match]) -> Match:
    """YES when each element is the same, in order. Another order or another length is the judge's to weigh.

    NO only when both are plain numbers throughout and no order makes them equal.
    """
    if len(answer) != len(reference):
        return Match.UNKNOWN
    found = [same(a, r) for a, r in zip(answer, reference, strict=True)]
    if all(match is Match.YES for match in found):
        return Match.YES
    a_numbers = [number.value for number in map(parse_number, map(fold, answer)) if number]
    r_numbers = [number.value for number in map(parse_number, map(fold, reference)) if number]
    all_numbers = len(a_numbers) == len(r_numbers) == len(reference)
    if all_numbers and Match.UNKNOWN not in found and sorted(a_numbers) != sorted(r_numbers):
        return Match.NO
    return Match.UNKNOWN
