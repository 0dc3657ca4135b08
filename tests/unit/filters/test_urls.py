"""Blocked addresses: the quick way finds what the slow way finds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.filters.urls import any_blocked, blocked, needles

PATTERNS = (
    r"huggingface\.co/datasets",
    r"github\.com/.*\.jsonl",
    "GAIA_web",
    "Who_and_When",
    r"openreview\.net/attachment",
    r"scribd\.com",
)


def test_needles_of_the_default_list() -> None:
    assert needles(PATTERNS) == (
        "huggingface.co/datasets",
        "github.com/",
        "gaia_web",
        "who_and_when",
        "openreview.net/attachment",
        "scribd.com",
    )


@pytest.mark.parametrize("pattern", ["a|b", "colou?r", "[ab]c", "x.y", "(ab)", "a{2}", r"\d", "a*", ".*"])
def test_other_expressions_have_no_needle(pattern: str) -> None:
    assert needles((pattern,)) is None


@pytest.mark.parametrize(
    ("pattern", "text"), [("colou?r", "a color"), ("bad|worse", "far worse"), (r"x\d+\.org", "http://x12.org/")]
)
def test_other_expressions_still_block(pattern: str, text: str) -> None:
    assert blocked(text, (pattern,))


def test_word_is_returned() -> None:
    assert blocked("see (https://scribd.com/doc/1), page 2", PATTERNS) == "https://scribd.com/doc/1"
    assert any_blocked(["nothing", "scribd.com"], PATTERNS) == "scribd.com"
    assert any_blocked([], PATTERNS) is None


def test_twice_encoded() -> None:
    assert blocked("https://proxy.org/?u=https%253A%252F%252Fscribd%252Ecom%252F", PATTERNS)
    assert blocked("https://proxy.org/?u=hf%2Eco/datasets/x", PATTERNS)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "huggingface.co",
                "/datasets",
                "hf.co",
                "github.com/",
                ".jsonl",
                "GAIA_",
                "WEB",
                "%2F",
                " ",
                "图",
                "ſcribd.com",
                "a",
            ]
        ),
        max_size=8,
    )
)
def test_quick_and_slow_agree(pieces: list[str]) -> None:
    text = "".join(pieces)
    slow = (*PATTERNS, "(?!)")  # has no needle, so the expression alone decides
    assert needles(slow) is None
    assert blocked(text, PATTERNS) == blocked(text, slow)
