"""Blocked addresses: the quick way finds what the slow way finds."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.records.blocked_urls import any_blocked, blocked, needles

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
        "huggingface",
        "github",
        "gaia_web",
        "who_and_when",
        "openreview",
        "scribd",
    )


SPELLINGS = """
https://huggingface.co//datasets/x
https://huggingface.co:443/datasets/x
https://huggingface.co./datasets/x
https://user@huggingface.co/datasets/x
https://huggingface.co/./datasets/x
https://huggingface.co/spaces/a/../../datasets/x
https://huggingface.co/../datasets/x
https://huggingface.co/%64atasets/x
https://huggingface.co\\datasets\\x
https://huggingface.co/api/datasets/x
https://datasets-server.huggingface.co/rows?dataset=x
https://huggingface-co.translate.goog/datasets/x
https://web.archive.org/web/2024/https://huggingface.co/datasets/x
https://ｈｕｇｇｉｎｇｆａｃｅ.co/datasets/x
huggingface。co/datasets/x
huggingface[.]co/datasets/x
https://hf-mirror.com/api/datasets/x
https://gist.githubusercontent.com/a/b/raw/x.jsonl
https://media.githubusercontent.com/media/a/b/x.jsonl
https://github.com/a/b/blob/main/x.JSONL?raw=true
https://openreview.net//attachment?id=1
https://id.scribd.com/doc/1
https://example.org/Who%5Fand%5FWhen
"""
NEIGHBOURS = """
https://huggingface.co/models
https://huggingface.com/datasets/x
https://huggingface.co/docs/datasets
https://github.com/a/b/x.json
https://gist.github.com/a/x
https://openreview.net/pdf?id=1
https://scribd.net/doc
https://who.int/and/when
https://translate.goog/datasets
C:\\datasets\\x.jsonl
"""


def test_every_spelling_of_a_blocked_address() -> None:
    assert [line for line in SPELLINGS.split() if not blocked(f"看（{line}）。", PATTERNS)] == []
    assert [line for line in NEIGHBOURS.split() if blocked(f"看（{line}）。", PATTERNS)] == []


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


HIDDEN = [
    "https://huggingface.co/data\u00adsets/x",
    "https://huggingface.co/\u200bdatasets/x",
    "https://hugging\u2060face.co/datasets/x",
    "https://huggingface.co/data%C2%ADsets/x",
    "https://scr\ufeffibd.com/doc",
    "https://x.org/GAIA\u200d_web",
    "https://h\u00adf.co/datasets/x",
    "https://ｓcr\u00adibd.com/doc",
]


@pytest.mark.parametrize("url", HIDDEN)
def test_characters_that_nobody_sees(url: str) -> None:
    assert blocked(f"see {url} here", PATTERNS)
    assert blocked(f"see {url} here", (*PATTERNS, "(?!)"))


def test_every_format_character_is_one_that_nobody_sees() -> None:
    hidden = [sign for sign in map(chr, range(0x110000)) if unicodedata.category(sign) == "Cf"]
    assert [hex(ord(sign)) for sign in hidden if not blocked(f"scri{sign}bd.com", PATTERNS)] == []


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
                "scri",
                "bd.com",
                "\u00ad",
                "\u200b",
                "%C2%AD",
                "ｓcribd",
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


@pytest.mark.parametrize(
    ("url", "matches"),
    [
        ("https://huggingface.co/datasets/gaia", True),
        ("https://huggingface.co/%64atasets/gaia", True),
        ("https://huggingface.co/%2564atasets/gaia", True),
        ("https://huggingface.co/models", False),
        ("https://github.com/a/b/blob/main/x.jsonl", True),
        ("https://example.org/gaia_WEB/3", True),
        ("https://openreview.net/attachment?id=1", True),
        ("https://hf.co/datasets/gaia", True),
        ("https://raw.githubusercontent.com/a/b/main/x.jsonl", True),
    ],
)
def test_spellings_and_other_names(url: str, matches: bool) -> None:
    assert (blocked(url, PATTERNS) is not None) is matches
