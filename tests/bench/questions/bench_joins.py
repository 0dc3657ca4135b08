"""Figures for the two joins at full size against other ways of finding the same pairs. Run with ``make bench``.

15,000 questions against 4,200 evaluation items. Asserts only that all ways find the same pairs. Times are CPU times of
this process, so that a busy machine does not show.
"""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest

from tir_distill.questions.hamming import HammingIndex, compare_all
from tir_distill.questions.jaccard import JaccardIndex, Sets
from tir_distill.sources.text_units import shingles

QUESTIONS, ITEMS = 15_000, 4_200
NAIVE_SAMPLE = 150
REPEATS = 3

T = TypeVar("T")


def timed(work: Callable[[], T], repeats: int = REPEATS) -> tuple[float, T]:
    """Best CPU time in seconds, and the result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    assert result is not None
    return best, result


def test_hamming_join() -> None:
    rng = np.random.default_rng(0)
    items = rng.integers(0, 2**64, ITEMS, dtype=np.uint64)
    questions = rng.integers(0, 2**64, QUESTIONS, dtype=np.uint64)
    for i in range(500):  # near copies at distances 0 to 9
        bits = rng.choice(64, size=i % 10, replace=False)
        questions[i] = items[i] ^ np.bitwise_or.reduce(np.uint64(1) << bits.astype(np.uint64), initial=np.uint64(0))
    banded, ours = timed(lambda: HammingIndex(items, 6).pairs(questions))
    blocks, reference = timed(lambda: compare_all(questions, items, 6))
    assert all((a == b).all() for a, b in zip(ours, reference, strict=True))
    print(f"\nHamming join {QUESTIONS} x {ITEMS}, {len(ours[0])} pairs: bands {banded * 1e3:.0f} ms with the index, "
          f"numpy blocks {blocks * 1e3:.0f} ms = {blocks / banded:.1f}x")  # fmt: skip


WORDS = [f"word{i}" for i in range(4000)]
TEMPLATES = (
    "what is the name of this {}",
    "who designed the {} in this {}",
    "in which year was this {} opened",
    "which {} did the speaker shown here found with {} and {}",
)


def texts(count: int, seed: int) -> list[str]:
    """Half from short templates, which meet each other often, half free and up to 29 words long."""
    rng = random.Random(seed)
    out = []
    for i in range(count):
        if i % 2:
            out.append(re.sub(r"\{\}", lambda _: rng.choice(WORDS[:500]), rng.choice(TEMPLATES)))
        else:
            out.append(" ".join(WORDS[min(int(rng.paretovariate(0.6)), 3999)] for _ in range(rng.randrange(4, 30))))
    return out


def scipy_pairs(left: Sets, right: Sets, minimum: float, floor: int) -> set[tuple[int, int]]:
    """Shared units as a sparse product, a block of questions at a time."""
    import scipy.sparse as sparse

    vocabulary = np.unique(np.concatenate([left.units, right.units]))

    def matrix(sets: Sets) -> sparse.csr_matrix:
        columns = np.searchsorted(vocabulary, sets.units)
        data = np.ones(len(columns), dtype=np.int32)
        return sparse.csr_matrix((data, columns, sets.offsets), shape=(len(sets), len(vocabulary)))

    a, b = matrix(left), matrix(right).T.tocsr()
    out: set[tuple[int, int]] = set()
    for first in range(0, len(left), 1000):
        product = (a[first : first + 1000] @ b).tocoo()
        i, j = product.row + first, product.col
        m, n = left.sizes[i], right.sizes[j]
        keep = (product.data / (m + n - product.data) >= minimum) & (m >= floor) & (n >= floor)
        out.update(zip(i[keep].tolist(), j[keep].tolist(), strict=True))
    return out


def inverted_pairs(left: list[list[int]], right: list[list[int]], minimum: float, floor: int) -> set[tuple[int, int]]:
    """Shared units counted through a plain inverted index."""
    posted: dict[int, list[int]] = defaultdict(list)
    for j, units in enumerate(right):
        if len(units) >= floor:
            for unit in units:
                posted[unit].append(j)
    out = set()
    for i, units in enumerate(left):
        if len(units) < floor:
            continue
        shared: dict[int, int] = defaultdict(int)
        for unit in units:
            for j in posted.get(unit, ()):
                shared[j] += 1
        for j, both in shared.items():
            if both / (len(units) + len(right[j]) - both) >= minimum:
                out.add((i, j))
    return out


def naive_pairs(left: list[list[int]], right: list[list[int]], minimum: float, floor: int) -> set[tuple[int, int]]:
    """Every pair as Python sets."""
    a, b = [frozenset(units) for units in left], [frozenset(units) for units in right]
    return {
        (i, j)
        for i, x in enumerate(a)
        for j, y in enumerate(b)
        if min(len(x), len(y)) >= floor and len(x & y) / len(x | y) >= minimum
    }


@pytest.mark.parametrize("floor", [1, 12])
def test_jaccard_join(floor: int) -> None:
    items, questions = texts(ITEMS, 1), texts(QUESTIONS, 2)
    questions[:1000] = [text + " indeed" for text in items[:1000]]
    left, right = [shingles(text) for text in questions], [shingles(text) for text in items]
    a, b = Sets.of(left), Sets.of(right)
    prefix, ours = timed(lambda: JaccardIndex(b, 0.8, floor).pairs(a))
    pairs = set(zip(ours[0].tolist(), ours[1].tolist(), strict=True))
    sparse, by_scipy = timed(lambda: scipy_pairs(a, b, 0.8, floor))
    inverted, by_index = timed(lambda: inverted_pairs(left, right, 0.8, floor), 1)
    naive, by_hand = timed(lambda: naive_pairs(left[:NAIVE_SAMPLE], right, 0.8, floor), 1)
    naive *= QUESTIONS / NAIVE_SAMPLE
    assert pairs == by_scipy == by_index
    assert {pair for pair in pairs if pair[0] < NAIVE_SAMPLE} == by_hand
    print(f"\nJaccard join {QUESTIONS} x {ITEMS}, from {floor} units, {len(pairs)} pairs: prefix filter "
          f"{prefix * 1e3:.0f} ms; scipy.sparse {sparse / prefix:.1f}x, inverted index {inverted / prefix:.1f}x, "
          f"naive {naive / prefix:.0f}x (from a sample of {NAIVE_SAMPLE})")  # fmt: skip
