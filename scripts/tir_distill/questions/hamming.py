"""All pairs of 64-bit hashes within a Hamming distance, exactly.

Pigeonhole: two hashes that differ in at most *d* bits agree in at least one of *d* + 1 bands of bits. The indexed
hashes are sorted by each band once; a query meets only those that share a band with it. A pair is reported by the
first band that it shares, so no set of pairs is kept to find repeats.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from .spans import Hashes, Ints, joined, portions, unroll

BITS = 64
MOST_BANDS = 13
"""Above it bands are under 5 bits and select hardly anything: all pairs are compared instead."""
FEW = 8
"""Up to so many queries, comparing with all of a few thousand hashes is quicker than preparing the join."""

Pairs = tuple[Ints, Ints, Ints]
"""Index of the query, index of the hash, distance."""


def as_hashes(texts: Iterable[str]) -> Hashes:
    """Hex digits to numbers."""
    return np.fromiter((int(text, 16) for text in texts), dtype=np.uint64)


class HammingIndex:
    """Hashes to be found again within ``max_distance`` bits."""

    def __init__(self, hashes: Hashes, max_distance: int) -> None:
        self._hashes = hashes
        self._max_distance = max_distance
        bands = max_distance + 1
        edges = [BITS * i // bands for i in range(bands + 1)] if bands <= MOST_BANDS else []
        self._bands = list(pairwise(edges))
        self._sorted: list[tuple[Hashes, Hashes, Ints]] = []
        for low, high in self._bands:
            values = band(hashes, low, high)
            order = np.argsort(values, kind="stable")
            self._sorted.append((values[order], hashes[order], order))

    def pairs(self, queries: Hashes) -> Pairs:
        """Every (query, hash, distance) within the limit, in order of query, then hash."""
        if not self._bands or len(queries) <= FEW:
            return compare_all(queries, self._hashes, self._max_distance)
        parts = []
        for number, (low, high) in enumerate(self._bands):
            values, hashes, order = self._sorted[number]
            wanted = band(queries, low, high)
            by_band = np.argsort(wanted, kind="stable")  # neighbours then look at the same stretch of hashes
            wanted, asked = wanted[by_band], queries[by_band]
            starts = np.searchsorted(values, wanted, side="left")
            counts = np.searchsorted(values, wanted, side="right") - starts
            for first, last in portions(counts):
                owners, places = unroll(starts[first:last], counts[first:last])
                differing = np.repeat(asked[first:last], counts[first:last]) ^ hashes[places]
                near = np.nonzero(np.bitwise_count(differing) <= self._max_distance)[0]
                differing = differing[near]
                new = np.ones(len(near), dtype=bool)
                for earlier_low, earlier_high in self._bands[:number]:
                    new &= band(differing, earlier_low, earlier_high) != 0
                near, differing = near[new], differing[new]
                distances = np.bitwise_count(differing).astype(np.int64)
                parts.append((by_band[owners[near] + first], order[places[near]], distances))
        left, right, distances = joined(parts, (np.int64, np.int64, np.int64))
        order = np.lexsort((right, left))
        return left[order], right[order], distances[order]


def band(hashes: Hashes, low: int, high: int) -> Hashes:
    """Bits ``low`` to ``high`` (exclusive) of each hash."""
    return (hashes >> np.uint64(low)) & np.uint64((1 << (high - low)) - 1)


def compare_all(queries: Hashes, hashes: Hashes, max_distance: int, block: int = 256) -> Pairs:
    """The same by comparing every pair, a block of queries at a time: the reference, and the way for wide limits."""
    parts = []
    for first in range(0, len(queries), block):
        distances = np.bitwise_count(queries[first : first + block, None] ^ hashes[None, :])
        left, right = np.nonzero(distances <= max_distance)
        parts.append((left + first, right, distances[left, right].astype(np.int64)))
    left, right, distances = joined(parts, (np.int64, np.int64, np.int64))
    return left, right, distances
