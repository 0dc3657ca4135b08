"""Cutting of tool output."""

from __future__ import annotations

from tir_distill.tools.text import MARKER, for_model


def test_short_text_is_kept() -> None:
    assert for_model("abc", 10) == ("abc", False)


def test_long_text_is_cut_with_the_marker() -> None:
    assert for_model("a" * 11, 10) == ("a" * 10 + MARKER, True)


def test_the_tail_survives_the_cut() -> None:
    text, cut = for_model("o" * 100, 40, "ZeroDivisionError")
    assert cut
    assert text == "o" * (40 - len("ZeroDivisionError")) + MARKER + "\nZeroDivisionError"


def test_a_tail_longer_than_half_is_cut_at_its_start() -> None:
    text, cut = for_model("o" * 100, 40, "t" * 90 + "END")
    assert cut
    assert text.endswith("END")
    assert len(text) <= 40 + len(MARKER) + 1


def test_a_tail_alone_is_kept_whole_when_it_fits() -> None:
    assert for_model("", 40, "t" * 40) == ("t" * 40, False)


def test_tokens_are_broken_before_counting() -> None:
    assert for_model("<image>", 8) == ("< image>", False)
    assert for_model("<image>", 7) == ("< image" + MARKER, True)
