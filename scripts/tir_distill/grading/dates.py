"""Dates and times of day in English and Chinese. A text may have several readings; only agreement of all decides."""

from __future__ import annotations

import re

from .match import Match
from .text import fold, strip_outer, unwrap

Reading = tuple[int | None, int | None, int | None]
"""Year, month, day; None where the text does not say."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "(?P<m>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<y>\d{4})"
_NAMED = [
    re.compile(rf"(?:the )?{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", re.ASCII),
    re.compile(rf"{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?", re.ASCII),
    re.compile(rf"{_YEAR},? {_MONTH}(?: {_DAY})?", re.ASCII),
    re.compile(rf"{_MONTH}(?: of)?,? {_YEAR}", re.ASCII),
    re.compile(rf"{_DAY}-{_MONTH}-{_YEAR}", re.ASCII),
]
_YEAR_FIRST = re.compile(rf"{_YEAR}(?P<s>[-/.])(?P<m>\d{{1,2}})(?:(?P=s)(?P<d>\d{{1,2}}))?", re.ASCII)
_YEAR_LAST = re.compile(rf"(?P<a>\d{{1,2}})(?P<s>[-/.])(?P<b>\d{{1,2}})(?P=s){_YEAR}", re.ASCII)
_CHINESE = re.compile(r"(?:(?P<y>\d{4})年)?(?:(?P<m>\d{1,2})月)?(?:(?P<d>\d{1,2})[日号])?", re.ASCII)
_WEEKDAY = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun),? (?=\S)"
    r"|(?:,? ?星期[一二三四五六日天])$"
)
_HALVES = {
    **dict.fromkeys(("上午", "早上", "凌晨"), "am"),
    **{"下午": "pm", "中午": "noon", "晚上": "night"},
}
_CLOCK = re.compile(
    r"(?P<zh>上午|早上|凌晨|中午|下午|晚上)?(?P<h>\d{1,2})(?:[:.点时](?P<min>\d{2}|半)?分?)?"
    r"(?::(?P<s>\d{2}))? ?(?P<half>[ap]\.?m\.?)?",
    re.ASCII,
)


def _valid(year: int | None, month: int | None, day: int | None) -> bool:
    return (
        (month is None or 1 <= month <= 12)
        and (day is None or 1 <= day <= (29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31))
        and (year is None or year > 0)
    )


def parse_date(text: str) -> frozenset[Reading]:
    """All readings of a whole answer as a date; empty when it is none. A bare number is no date here."""
    text = _WEEKDAY.sub("", strip_outer(fold(unwrap(text))))
    if len(text) > 40:
        return frozenset()
    for pattern in _NAMED:
        found = pattern.fullmatch(text)
        if found:
            parts = found.groupdict()
            return _readings([(parts.get("y"), str(_MONTHS[parts["m"]]), parts.get("d"))])
    found = _YEAR_FIRST.fullmatch(text)
    if found and (found["d"] or found["s"] != "."):
        readings = [(found["y"], found["m"], found["d"])]
        if not found["d"] and 0 < int(found["m"]) <= 12 and (int(found["y"]) + 1) % 100 == int(found["m"]):
            readings.append((found["y"], None, None))  # 2001-02: February, or a season over two years
        return _readings(readings)
    found = _YEAR_LAST.fullmatch(text)
    if found:
        return _readings([(found["y"], found["a"], found["b"]), (found["y"], found["b"], found["a"])])
    found = _CHINESE.fullmatch(text)
    if text and found:
        return _readings([(found["y"], found["m"], found["d"])])
    return frozenset()


def _readings(parts: list[tuple[str | None, str | None, str | None]]) -> frozenset[Reading]:
    readings = {tuple(int(p) if p else None for p in triple) for triple in parts}
    return frozenset((y, m, d) for y, m, d in readings if _valid(y, m, d))


def compare_dates(answer: frozenset[Reading], reference: frozenset[Reading]) -> Match:
    """YES when both sides have one and the same reading, NO when no reading of one fits any of the other."""
    if len(answer) == len(reference) == 1 and answer == reference:
        return Match.YES
    fits = any(
        all(x is None or y is None or x == y for x, y in zip(a, r, strict=True)) for a in answer for r in reference
    )
    return Match.UNKNOWN if fits else Match.NO


def parse_clock(text: str) -> tuple[frozenset[int], bool] | None:
    """Seconds of the day a text may mean, and whether it says which half of the day; None when it is no time."""
    text = strip_outer(fold(unwrap(text)))
    found = _CLOCK.fullmatch(text) if len(text) <= 20 else None
    if not found or not (found["min"] or found["half"] or found["zh"] or re.search("[点时]", text)):
        return None
    if found["min"] and re.search(r"\d\.\d", text) and not found["half"]:
        return None  # 3.30 is a number
    hour = int(found["h"])
    minute = 30 if found["min"] == "半" else int(found["min"] or 0)
    second = int(found["s"] or 0)
    if hour > 24 or minute > 59 or second > 59:
        return None
    half = {"a": "am", "p": "pm"}.get((found["half"] or " ")[0]) or _HALVES.get(found["zh"] or "")
    hours = _hours(hour, half)
    return frozenset(h * 3600 + minute * 60 + second for h in hours), half is not None and len(hours) == 1


def _hours(hour: int, half: str | None) -> set[int]:
    """Hours of the day (0 to 23) that an hour and a part of the day can mean."""
    if hour > 12 or hour == 0:
        return {hour % 24}
    early, late = hour % 12, hour % 12 + 12
    if half == "noon":
        return {hour if hour in (10, 11, 12) else late}
    if half == "night":  # 晚上12点 is midnight, 晚上1点 is after it
        return {late} if 5 <= hour < 12 else {early}
    return {"am": {early}, "pm": {late}}.get(half or "", {early, late})


def compare_clocks(answer: tuple[frozenset[int], bool], reference: tuple[frozenset[int], bool]) -> Match:
    """YES when each side has one reading and they agree; NO when none agree and both name the half of the day."""
    (a, a_sure), (r, r_sure) = answer, reference
    if len(a) == len(r) == 1 and a == r:
        return Match.YES
    return Match.NO if not a & r and a_sure and r_sure else Match.UNKNOWN
