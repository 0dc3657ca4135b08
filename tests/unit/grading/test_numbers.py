"""Exact reading of numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.grading.numbers import is_rounding, leading_number, parse_cjk, parse_number, parse_words
from tir_distill.grading.text import fold


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17", 17),
        ("1,234,567.5", Fraction("1234567.5")),
        ("1 234 567", 1234567),
        ("12,34,567", 1234567),
        ("1.234.567,5", Fraction("1234567.5")),
        ("-0.5", Fraction(-1, 2)),
        ("−5", -5),
        ("1e3", 1000),
        ("2.5e-2", Fraction(25, 1000)),
        ("2 × 10^5", 200_000),
        ("1½", Fraction(3, 2)),
        ("-3/4", Fraction(-3, 4)),
        ("2 1/2", Fraction(5, 2)),
        ("zero", 0),
        ("nineteen", 19),
        ("two million three hundred thousand and one", 2_300_001),
        ("三亿五千万", 350_000_000),
        ("一万亿", 10**12),
        ("十", 10),
        ("二十五", 25),
        ("一百零五", 105),
        ("二〇二四", 2024),
        ("兩百", 200),
        ("十万零三百", 100_300),
    ],
)
def test_value(text: str, value: int | Fraction) -> None:
    number = parse_number(fold(text))
    assert number is not None
    assert number.value == value


NO_NUMBERS = [
    *("", "1,7,0,0,0", "1,2345", "12,34", "1/0", "one two", "twenty ten", "hundred", "5²", "0x11", "1_000", "千千"),
    *("三五万五", "1.2.3", "--5", "5-", "inf", "nan", "e5", "thousand million", "one hundred hundred", "9" * 61),
]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_no_number(text: str) -> None:
    assert parse_number(fold(text)) is None


def test_leading_number_stops_at_dates_and_versions() -> None:
    assert leading_number("5 km") is not None
    assert leading_number("10/1/2022") is None
    assert leading_number("1.2.3 x") is None
    assert leading_number("3:30") is None


@pytest.mark.parametrize(
    ("one", "other", "rounding"),
    [
        ("65.7", "65.67", True),
        ("65.67", "65.7", True),
        ("1.63", "1.634722222", True),
        ("65.7", "65.4", False),
        ("5", "5.2", False),
        ("17", "17.3", True),
        ("0.3", "0.33", False),
        ("0.33", "1/3", True),
        ("65", "66", False),
        ("65.7", "75.67", False),
    ],
)
def test_rounding_needs_two_digits(one: str, other: str, rounding: bool) -> None:
    a, b = parse_number(one), parse_number(other)
    assert a is not None
    assert b is not None
    assert is_rounding(a, b) is rounding


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_grouping_and_chinese_digits_round_trip(number: int) -> None:
    grouped = parse_number(f"{number:,}")
    assert grouped is not None
    assert grouped.value == number
    if number > 9:
        digits = parse_cjk("".join("〇一二三四五六七八九"[int(c)] for c in str(number)))
        if number < 100 and number % 10:  # 三五 is also "three to five"
            assert digits is None
        else:
            assert digits is not None
            assert digits.value == number


@pytest.mark.parametrize("text", ["一百二", "二千五", "三万五", "二千五万", "三五", "两两", "一百二万", "五百千"])
def test_chinese_numerals_with_two_readings_are_none(text: str) -> None:
    assert parse_cjk(text) is None


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.text(alphabet="0123456789,./ -+eEx×*^万亿十百二", max_size=30))
def test_never_raises(text: str, digits: str) -> None:
    for candidate in (text, digits):
        parse_number(fold(candidate))
        parse_words(candidate)
        parse_cjk(candidate)
        leading_number(fold(candidate))
