"""Reading a number exactly: digits with grouping, fractions, English words, Chinese numerals. No binary floats."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction

LONGEST = 60
"""Characters above which nothing is read as a number: bounds the size of exact arithmetic."""

ENDLESS = 99
"""Digits ascribed to a fraction: any decimal form of it is a rounding."""

_DIGITS = r"""
    \d{1,3}(?:,\d{3})+(?:\.\d+)?            # 6,830.5
  | \d{1,3}(?:[ ]\d{3})+(?:\.\d+)?          # 6 830.5
  | \d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?      # 12,34,567 (Indian grouping)
  | \d{1,3}(?:\.\d{3})+,\d+                 # 1.234,50 (only with both marks)
  | \d+\.?\d* | \.\d+
"""
_NUMBER = re.compile(
    rf"(?P<sign>[+-]?)\s?(?P<body>{_DIGITS})(?:e(?P<exp>[+-]?\d{{1,2}})|\s?[x×*]\s?10\^(?P<ten>-?\d{{1,2}}))?",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_FRACTION = re.compile(
    r"(?P<sign>[+-]?)\s?(?:(?P<whole>\d{1,9})[ ])?(?P<top>\d{1,9})\s?/\s?(?P<bottom>\d{1,9})", re.ASCII
)

_TEENS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_ONES = {word: value for value, word in enumerate(_TEENS)}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), start=2
    )
}
_LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_CJK_DIGITS = dict(zip("零一二三四五六七八九", range(10), strict=True)) | {"〇": 0, "两": 2, "兩": 2}
_CJK_SMALL = {"十": 10, "百": 100, "千": 1000}
_ELIDED = re.compile(r"[百千万萬亿億][一二三四五六七八九两兩](?:$|[万萬亿億])")
"""A digit right after a large unit: 一百二 is 120 as people say it and 102 to the letter."""
_CJK_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}


@dataclass(frozen=True, slots=True)
class Number:
    """An exact value and how precisely it was written."""

    value: Fraction
    decimals: int = 0
    """Digits after the point, as written."""
    digits: int = 0
    """Significant digits, as written."""
    zeros: int = 0
    """Zeros in front, as written: 02138 is a code rather than a number."""
    ratio: tuple[int, int] | None = None
    """The two numbers of a fraction that nobody would leave so (6/8, 24/7, 10/5): it may be a score or a signature."""


def _decimal(body: str, exponent: int) -> Number:
    if "," in body and "." in body and body.rindex(",") > body.rindex("."):
        body = body.replace(".", "").replace(",", ".")
    plain = body.replace(",", "").replace(" ", "")
    decimals = len(plain.partition(".")[2])
    digits = len(plain.replace(".", "").lstrip("0"))
    zeros = len(plain) - len(re.sub(r"^0+(?=\d)", "", plain))
    value = Fraction(plain if plain[-1] != "." else plain[:-1]) * Fraction(10) ** exponent
    return Number(value, decimals, digits, zeros)


def parse_words(text: str) -> Number | None:
    """``one hundred and twenty-three``, ``two million``. None when any word is no number word."""
    pieces = text.replace("-", " ").split()
    if not text[:1].isalpha() or pieces[0] == "and" or pieces[-1] == "and":  # "-five" is not five
        return None
    words = [w for w in pieces if w != "and"]
    if len(words) > 12:
        return None
    total = group = 0
    last_large = 10**15
    previous = ""
    for word in words:
        if word in _ONES:
            # "twenty one" is 21, but "one two" is two numbers
            if previous in _ONES or (previous in _TENS and not 0 < _ONES[word] < 10):
                return None
            group += _ONES[word]
        elif word in _TENS:
            if previous in _ONES or previous in _TENS:
                return None
            group += _TENS[word]
        elif word == "hundred" and 0 < group < 100:
            group *= 100
        elif word in _LARGE and group and _LARGE[word] < last_large:
            last_large = _LARGE[word]
            total += group * last_large
            group = 0
        else:
            return None
        previous = word
    value = total + group
    return Number(Fraction(value), 0, len(str(value)))


def parse_cjk(text: str) -> Number | None:
    """``三十五``, ``一千二百万``, ``二〇二二`` (digit by digit). None when any character is no numeral.

    None too where people read more than one number: ``二千五`` (2500; 2005 to the letter), ``三五`` (three to five).
    """
    if not text or len(text) > 24:
        return None
    if all(c in _CJK_DIGITS for c in text):
        if len(text) > 1 and ("两" in text or "兩" in text):
            return None
        if len(text) == 2 and 0 not in (_CJK_DIGITS[c] for c in text):
            return None
        value = int("".join(str(_CJK_DIGITS[c]) for c in text))
        return Number(Fraction(value), 0, len(str(value)))
    total = section = 0
    smallest_large = 10**16
    smallest_small = 10**4
    digit: int | None = None
    for c in text:
        if c in _CJK_DIGITS:
            if digit:
                return None
            digit = _CJK_DIGITS[c]
        elif c in _CJK_SMALL:
            if _CJK_SMALL[c] >= smallest_small:
                return None
            smallest_small = _CJK_SMALL[c]
            section += (1 if digit is None else digit) * _CJK_SMALL[c]
            digit = None
        elif c in _CJK_LARGE:
            large = _CJK_LARGE[c]
            section += digit or 0
            if not section and not total:
                return None
            if large < smallest_large and section:  # 三亿五千万
                total += section * large
            elif not section:  # 一万亿
                total *= large
            else:
                return None
            smallest_large, smallest_small, section, digit = large, 10**4, 0, None
        else:
            return None
    if _ELIDED.search(text):
        return None
    value = total + section + (digit or 0)
    return Number(Fraction(value), 0, len(str(value)))


def parse_fraction(text: str) -> Number | None:
    """``3/4``, ``-3/4``, ``1 1/2``. None for anything else, and for a zero below."""
    found = _FRACTION.fullmatch(text) if len(text) <= LONGEST else None
    if not found or int(found["bottom"]) == 0:
        return None
    top, bottom = int(found["top"]), int(found["bottom"])
    value = Fraction(top, bottom) + int(found["whole"] or 0)
    plain = math.gcd(top, bottom) == 1 and bottom > 1
    return Number(-value if found["sign"] == "-" else value, ENDLESS, ENDLESS, ratio=None if plain else (top, bottom))


def parse_number(text: str) -> Number | None:
    """The whole of a folded text (``text.fold``) as one number, or None."""
    if not text or len(text) > LONGEST:
        return None
    found = _NUMBER.fullmatch(text)
    if found:
        number = _decimal(found["body"], int(found["exp"] or found["ten"] or 0))
        if found["sign"] == "-":
            number = replace(number, value=-number.value)
        return number
    return parse_fraction(text) or parse_words(text) or parse_cjk(text)


def leading_number(text: str) -> tuple[Number, str] | None:
    """A number in digits at the start of a folded text, and the rest; None when there is none."""
    if len(text) > 2 * LONGEST:
        return None
    for pattern in (_FRACTION, _NUMBER):
        found = pattern.match(text)
        if found and not text[found.end() : found.end() + 1].isdigit():
            number = parse_number(found.group())
            rest = text[found.end() :]
            if number is not None and not re.match(r"[.,/:\d]", rest):
                return number, rest
    return None


def is_rounding(one: Number, other: Number) -> bool:
    """Whether one is the other with fewer digits (at least two significant): a question of taste, not of right."""
    short, long = sorted((one, other), key=lambda number: number.decimals)
    if short.digits < 2 or short.decimals >= long.decimals:
        return False
    return abs(short.value - long.value) <= Fraction(1, 10**short.decimals)
