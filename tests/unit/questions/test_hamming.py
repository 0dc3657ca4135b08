"""Hamming join: the same pairs as by comparing all, and hashes near in every band."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.questions import hamming, spans
from tir_distill.questions.hamming import HammingIndex, as_hashes, compare_all

word = st.integers(0, 2**64 - 1)
flips = st.lists(st.integers(0, 63), max_size=9, unique=True)


def by_hand(queries: list[int], hashes: list[int], limit: int) -> list[tuple[int, int, int]]:
    """Plain Python, one pair at a time."""
    return [
        (i, j, (left ^ right).bit_count())
        for i, left in enumerate(queries)
        for j, right in enumerate(hashes)
        if (left ^ right).bit_count() <= limit
    ]


def as_list(pairs: hamming.Pairs) -> list[tuple[int, int, int]]:
    return list(zip(*(column.tolist() for column in pairs), strict=True))


@settings(max_examples=80, deadline=None)
@given(
    hashes=st.lists(word, max_size=12),
    near=st.lists(st.tuples(st.integers(0, 11), flips), max_size=12),
    far=st.lists(word, max_size=3),
    limit=st.integers(0, 16),
)
def test_same_pairs_as_brute_force(
    hashes: list[int], near: list[tuple[int, list[int]]], far: list[int], limit: int
) -> None:
    queries = list(far)
    for place, bits in near:
        if hashes:
            queries.append(hashes[place % len(hashes)] ^ sum(1 << bit for bit in bits))
    left, right = np.array(queries, dtype=np.uint64), np.array(hashes, dtype=np.uint64)
    expected = by_hand(queries, hashes, limit)
    assert as_list(HammingIndex(right, limit).pairs(left)) == expected
    assert as_list(compare_all(left, right, limit, block=2)) == expected


def test_six_bits_spread_over_the_bands_are_found_and_seven_are_not() -> None:
    base = 0x0F0F_1234_5678_9ABC
    six = base ^ sum(1 << bit for bit in (0, 9, 18, 27, 36, 45))  # one bit in each of six of the seven bands
    seven = six ^ (1 << 63)
    found = HammingIndex(np.array([base], dtype=np.uint64), 6).pairs(np.array([six, seven], dtype=np.uint64))
    assert as_list(found) == [(0, 0, 6)]


def test_small_portions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    hashes = rng.integers(0, 2**64, 60, dtype=np.uint64)
    queries = np.concatenate([hashes ^ np.uint64(0b101), hashes])
    whole = as_list(HammingIndex(hashes, 6).pairs(queries))
    monkeypatch.setattr(spans.portions, "__defaults__", (7,))
    assert as_list(HammingIndex(hashes, 6).pairs(queries)) == whole
    assert len(whole) >= 120


def test_many_equal_hashes() -> None:
    same = np.full(50, 0x8000_0000_0000_0000, dtype=np.uint64)
    left, right, bits = HammingIndex(same, 6).pairs(same[:3])
    assert (len(left), bits.max()) == (150, 0)
    assert right[:50].tolist() == list(range(50))


def test_hex_digits() -> None:
    assert as_hashes(["8000000000000000", "00000000000000ff"]).tolist() == [2**63, 255]
    assert len(as_hashes([])) == 0
