"""What is recognised in a text, and in which spelling."""

from __future__ import annotations

import pytest

from tir_distill.filters.mentions import (
    mentions,
    speaks_of_failure,
    speaks_of_other_source,
    speaks_of_picture,
    speaks_of_run,
    speaks_of_tool_picture,
    with_roundings,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,234.50 and -7", {"1234.5", "7"}),
        ("50%", {"50"}),
        ("(640, 480)", {"640", "480"}),
        ("Shivaji's sign", {"shivaji", "sign"}),
        ("The done image", set()),
        ("孟买站", {"孟买", "买站"}),
        ("[timeout: the cell ran longer than 20 s]", set()),
        ("(no output)", set()),
        ("x=3.10", {"3.1"}),
        ("a1", {"1"}),
    ],
)
def test_mentions(text: str, found: set[str]) -> None:
    assert mentions(text) == found


def test_roundings_need_two_digits() -> None:
    assert with_roundings({"0.38764"}) == {"0.38764", "0.388", "0.39", "38.764", "38.76", "38.8", "39"}


def test_whole_numbers_are_not_rounded() -> None:
    assert with_roundings({"38764"}) == {"38764"}


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        ("1234567890123456789012345.5", {"1234567890123456789012346", "123456789012345678901234550"}),
        ("9" * 27 + ".9", {"1" + "0" * 27}),
        ("0." + "1" * 60, {"0.11", "0.111", "11", "11.1", "11.11", "11.111"}),
    ],
)
def test_numbers_beyond_the_precision_of_decimals(number: str, rounded: set[str]) -> None:
    assert rounded <= with_roundings(mentions(number))


def test_speaking_of() -> None:
    assert speaks_of_picture("the crop shows")
    assert speaks_of_picture("图中可见")
    assert not speaks_of_picture("I see. The article says it.")
    assert not speaks_of_tool_picture("the image")
    assert speaks_of_tool_picture("the cropped part")
    assert speaks_of_picture("the letters spell it")
    assert speaks_of_picture("牌子上写着")
    assert not speaks_of_picture("a significant letter")
    assert speaks_of_other_source("by the same article")
    assert speaks_of_other_source("Wikipedia says")
    assert speaks_of_other_source("从记忆来看")
    assert not speaks_of_other_source("as the sign has it")
    assert speaks_of_run("the output is")
    assert speaks_of_failure("That failed")
    assert not speaks_of_failure("terrorist")


@pytest.mark.parametrize(
    "text", ["9" * 10_000, "1e999999", "0." + "3" * 5000, "1,,,,", "-", "٣٤", "1" * 5000 + ".5", "-" + "1" * 30 + ".5%"]
)
def test_hostile_numbers(text: str) -> None:
    with_roundings(mentions(text))
