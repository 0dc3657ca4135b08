"""Joins in numpy: ranges unrolled into index arrays, in portions that keep memory flat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]

PORTION = 1 << 20
"""Candidate pairs that are looked at together: some 30 MB of index arrays."""


def unroll(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """For each range ``start .. start + count``: its number, repeated, and every position in it."""
    owners = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owners, np.arange(len(owners)) + np.repeat(starts - before, counts)


def portions(counts: Ints, limit: int = PORTION) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of items whose counts add up to ``limit`` at most (or a single larger item)."""
    ends = np.cumsum(counts)
    first = 0
    while first < len(counts):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + limit, side="right")))
        yield first, last
        first = last


def joined(parts: Sequence[tuple[NDArray[Any], ...]], kinds: tuple[type, ...]) -> tuple[NDArray[Any], ...]:
    """Column-wise concatenation of result portions; empty columns of the given types when there is none."""
    if not parts:
        return tuple(np.empty(0, dtype=kind) for kind in kinds)
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))
