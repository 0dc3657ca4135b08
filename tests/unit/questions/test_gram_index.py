"""The array form of the 13-gram check says what the token-by-token form says."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.questions.gram_index import GramIndex, TokenHasher, gram_array
from tir_distill.sources.text_units import gram_hashes, token_hash, tokens

CHARACTERS = st.one_of(
    st.characters(), st.sampled_from("aB1 -_.\n\u0301é·Ｗ中文かなㄱ한ก\u0e31\u30fb\u2028\x00İßﬁ²Ⅷ\U00020000\ud800")
)
HASHER = TokenHasher()


@given(st.text(CHARACTERS, max_size=60))
@settings(max_examples=300, deadline=None)
def test_tokens_and_grams(text: str) -> None:
    hashes = HASHER.hashes(text)
    assert hashes.tolist() == [token_hash(token) for token in tokens(text)]
    assert sorted(set(gram_array(hashes).tolist())) == gram_hashes(text)


def test_a_text_longer_than_any_before() -> None:
    text = " ".join(f"word{i}" for i in range(3000)) + " 中文"
    assert TokenHasher().hashes(text).tolist() == [token_hash(token) for token in tokens(text)]


@given(st.lists(st.lists(st.integers(0, 4), min_size=13, max_size=18), max_size=8), st.lists(st.integers(0, 4)))
@settings(max_examples=100, deadline=None)
def test_hits(items: list[list[int]], text: list[int]) -> None:
    """Few words, so that grams are shared and repeated; the text quotes the first item."""
    said = [" ".join(f"w{i}" for i in item) for item in items]
    page = " ".join([*(f"w{i}" for i in text), *said[:1]])
    known = [np.array(gram_hashes(item), dtype=np.uint64) for item in said]
    here = set(gram_hashes(page))
    expected = [(i, hits) for i, item in enumerate(known) if (hits := len(here & set(item.tolist())))]
    assert GramIndex(known).hits(page) == expected
