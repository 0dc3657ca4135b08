"""Normalisation, units and hashes, worked out by hand."""

from __future__ import annotations

import hashlib
import string
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.sources import (
    TextPrint,
    gram_hashes,
    jaccard,
    normalise,
    shingles,
    text_key,
    tokens,
    units,
)
from tir_distill.sources import text_units as module
from tir_distill.sources.text_units import gram_hash, hash64, script, token_hash


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's  THE name?", "what s the name"),
        ("ＷＨＡＴ　ｉｓ", "what is"),
        ("Straße, CAFÉ", "strasse café"),
        ("cafe\u0301", "café"),
        ("9.1 % of 1,000", "9 1 of 1 000"),
        ("这是什么？", "这是什么"),
        ("a_b", "a b"),
        ("हिन्दी भाषा", "हिन्दी भाषा"),
        ("", ""),
        ("?!…", ""),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    assert normalise(text) == expected


def test_tokens_and_units() -> None:
    assert tokens("The iPhone这是什么 of 山?") == ["the", "iphone", "这", "是", "什", "么", "of", "山"]
    assert units("The iPhone这是什么 of 山? the") == {"the", "iphone", "这是", "是什", "什么", "of", "山"}
    assert script("The iPhone这是什么 of 山?") == "cjk"
    assert script("The iPhone and the 山") == "latin"
    assert units("ภาษาไทย") == {"ภา", "าษ", "ษา", "าไ", "ไท", "ทย"}


def test_jaccard_by_hand() -> None:
    """Five words, four shared of six: 4/6. One changed character of six in a row changes two bigrams of five: 3/7."""
    assert jaccard(shingles("one two three four five"), shingles("one two three four six")) == pytest.approx(4 / 6)
    assert jaccard(shingles("天地玄黄宇宙"), shingles("天地玄红宇宙")) == pytest.approx(3 / 7)
    assert jaccard([], []) == 0.0


def test_hash_is_blake2b() -> None:
    assert hash64("word") == int.from_bytes(hashlib.blake2b(b"word", digest_size=8).digest(), "big")


def test_same_words_in_another_order_are_equal_as_sets_but_not_as_texts() -> None:
    assert shingles("red green blue") == shingles("blue, red; GREEN")
    assert text_key("red green blue") != text_key("blue red green")
    assert text_key("红 绿。蓝") == text_key("红绿蓝")
    assert text_key("Ｒed, green; BLUE!") == text_key("red green blue")


def test_grams() -> None:
    words = [f"w{i}" for i in range(14)]
    assert gram_hashes(" ".join(words[:12])) == []
    two = gram_hashes(" ".join(words))
    hashes = [token_hash(word) for word in words]
    assert sorted(two) == sorted({gram_hash(hashes[:13]), gram_hash(hashes[1:])})
    page = "intro text, then: " + ", ".join(words).upper() + " and an end"
    assert set(two) <= set(gram_hashes(page))
    assert not set(two) & set(gram_hashes(page.replace("W6", "other")))
    assert gram_hash(hashes[:13]) != gram_hash([hashes[1], hashes[0], *hashes[2:13]])  # order counts


def test_print_of_a_text() -> None:
    mark = TextPrint.of("one two two three")
    assert mark.units == 3
    assert list(mark.shingles) == sorted(hash64(w) for w in ("one", "two", "three"))
    assert mark.grams == ()


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_case_width_and_punctuation_do_not_matter(text: str) -> None:
    wide = {ord(c): ord(c) + 0xFEE0 for c in string.ascii_letters + string.digits}
    plain = "".join(c for c in text if c.isascii())
    assert text_key(plain) == text_key(plain.upper()) == text_key(plain.translate(wide)) == text_key(f"¿{plain}?!")
    assert normalise(normalise(text)) == normalise(text) or not text.isascii()


def test_module_needs_only_the_standard_library() -> None:
    code = (
        f"import runpy, sys; runpy.run_path({module.__file__!r}, run_name='text_units'); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert "from ." not in Path(str(module.__file__)).read_text()
