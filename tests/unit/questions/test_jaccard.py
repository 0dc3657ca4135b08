"""Jaccard join: the same pairs as by Python sets, also at the exact border."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tir_distill.questions import spans
from tir_distill.questions.jaccard import JaccardIndex, Sets


def by_hand(
    queries: list[list[int]], sets: list[list[int]], minimum: str, min_units: int
) -> list[tuple[int, int, float]]:
    """Python sets and exact fractions."""
    out = []
    for i, left in enumerate(queries):
        for j, right in enumerate(sets):
            if min(len(left), len(right)) < max(min_units, 1):
                continue
            shared, together = len({*left} & {*right}), len({*left} | {*right})
            if Fraction(shared, together) >= Fraction(minimum):
                out.append((i, j, shared / together))
    return out


def found(
    queries: list[list[int]], sets: list[list[int]], minimum: str, min_units: int = 1
) -> list[tuple[int, int, float]]:
    pairs = JaccardIndex(Sets.of(sets), float(minimum), min_units).pairs(Sets.of(queries))
    return list(zip(*(column.tolist() for column in pairs), strict=True))


small_set = st.lists(st.integers(0, 14), max_size=12, unique=True).map(sorted)
"""Few units, so that sets meet often; sizes from none."""


@settings(max_examples=150, deadline=None)
@given(
    queries=st.lists(small_set, max_size=8),
    sets=st.lists(small_set, max_size=8),
    minimum=st.sampled_from(["0.8", "0.7", "0.5", "0.34", "0.1", "1.0"]),
    min_units=st.integers(0, 6),
)
def test_same_pairs_as_brute_force(
    queries: list[list[int]], sets: list[list[int]], minimum: str, min_units: int
) -> None:
    assert found(queries, sets, minimum, min_units) == by_hand(queries, sets, minimum, min_units)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_near_copies_of_long_sets(data: st.DataObject) -> None:
    base = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=12, max_size=40, unique=True))
    gone = data.draw(st.integers(0, 6))
    more = data.draw(st.lists(st.integers(0, 2**64 - 1), max_size=6, unique=True))
    copy = list(dict.fromkeys([*base[gone:], *more]))
    assert found([copy], [base], "0.8", 12) == by_hand([copy], [base], "0.8", 12)


def test_exactly_four_fifths_is_a_match() -> None:
    assert found([[1, 2, 3, 4]], [[1, 2, 3, 4, 5]], "0.8") == [(0, 0, 0.8)]
    assert found([list(range(12))], [[*range(12), 90, 91, 92]], "0.8") == [(0, 0, 0.8)]
    assert found([list(range(11))], [[*range(11), 90, 91, 92]], "0.8") == []  # 11 / 14


def test_both_texts_must_be_long() -> None:
    assert found([list(range(12))], [list(range(12))], "0.8", 12) == [(0, 0, 1.0)]
    assert found([list(range(11))], [list(range(11))], "0.8", 12) == []
    assert found([list(range(12))], [list(range(11))], "0.8", 12) == []


def test_small_portions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [[*range(i, i + 20)] for i in range(12)]
    whole = found(sets, sets, "0.8")
    assert whole == by_hand(sets, sets, "0.8", 1)
    monkeypatch.setattr(spans.portions, "__defaults__", (5,))
    assert found(sets, sets, "0.8") == whole


def test_nothing_indexed_and_nothing_asked() -> None:
    assert found([[1, 2]], [], "0.8") == []
    assert found([], [[1, 2]], "0.8") == []
    assert found([[]], [[]], "0.8") == []


@pytest.mark.parametrize("minimum", [0.0, -0.1, 1.1])
def test_a_minimum_outside_its_range_is_refused(minimum: float) -> None:
    with pytest.raises(ValueError, match="minimum Jaccard"):
        JaccardIndex(Sets.of([[1]]), minimum)
