"""All pairs of sets with a Jaccard similarity of at least *t*, exactly, by prefix filtering.

Order all units by how rare they are among the indexed sets. Two sets of *m* and *n* units with Jaccard >= *t* share
ceil(*t* * max(*m*, *n*)) units or more, so the first *n* - ceil(*t* * *n*) + 1 units of each, in that order, share one:
only sets that meet in their rare beginnings are compared. Of those, a meeting counts only where enough units are left
after it on both sides: the first shared unit of a true pair always has them. Units that no indexed set has are the
rarest of all; an unrelated text usually spends its whole prefix on them and is compared with nothing.

MinHash would be faster still for millions of sets but misses pairs; for thousands nothing needs to be missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .spans import Floats, Hashes, Ints, joined, portions, unroll

Pairs = tuple[Ints, Ints, Floats]
"""Index of the query, index of the set, Jaccard."""


@dataclass(frozen=True, slots=True)
class Sets:
    """Sets of 64-bit units, one after the other. Each set's units are distinct."""

    offsets: Ints
    """Set ``i`` is ``units[offsets[i]:offsets[i + 1]]``."""
    units: Hashes

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> Sets:
        sizes = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        flat = np.fromiter((unit for units in lists for unit in units), dtype=np.uint64, count=int(sizes.sum()))
        return cls(offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), units=flat)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)


class JaccardIndex:
    """Sets to be found again by similarity. Sets below ``min_units`` take no part, on either side."""

    def __init__(self, sets: Sets, minimum: float, min_units: int = 1) -> None:
        if not 0 < minimum <= 1:
            raise ValueError(f"minimum Jaccard must be above 0 and up to 1, is {minimum}")
        self._minimum = minimum
        self._share = Fraction(str(minimum))  # 0.8 exactly: a float product would round some of the bounds up
        self._min_units = max(min_units, 1)
        self._sizes = sets.sizes
        entries_of, places = _entries(sets, self._sizes >= self._min_units)
        self._vocabulary, codes, frequency = np.unique(sets.units[places], return_inverse=True, return_counts=True)
        self._rank = np.empty(len(self._vocabulary), dtype=np.int64)
        self._rank[np.argsort(frequency, kind="stable")] = np.arange(len(self._vocabulary))
        self._width = max(len(self._vocabulary), 1)
        # One number per (set, unit), sorted: a set's units by rank, and a membership test by bisection.
        self._members = np.sort(entries_of * self._width + self._rank[codes])
        owners = self._members // self._width
        positions = _positions(owners)
        in_prefix = positions < self._prefix(self._sizes)[owners]
        units = self._members[in_prefix] % self._width
        by_unit = np.argsort(units, kind="stable")
        self._posted = owners[in_prefix][by_unit]
        self._posted_rest = (self._sizes[owners] - positions - 1)[in_prefix][by_unit]
        self._post_starts = np.searchsorted(units[by_unit], np.arange(self._width + 1))

    def pairs(self, queries: Sets) -> Pairs:
        """Every (query, set, Jaccard) from the minimum on, in order of query, then set."""
        sizes = queries.sizes
        owners, places = _entries(queries, sizes >= self._min_units)
        codes = np.searchsorted(self._vocabulary, queries.units[places])
        codes[codes == len(self._vocabulary)] = 0
        known = self._vocabulary[codes] == queries.units[places] if len(self._vocabulary) else np.zeros(0, dtype=bool)
        if not known.any():
            return _no_pairs()
        entries = np.sort(owners[known] * self._width + self._rank[codes[known]])
        owners, ranks = entries // self._width, entries % self._width
        known_sizes = np.bincount(owners, minlength=len(queries))
        positions = (sizes - known_sizes)[owners] + _positions(owners)  # unknown units stand first
        in_prefix = positions < self._prefix(sizes)[owners]
        probes, probe_ranks = owners[in_prefix], ranks[in_prefix]
        probe_rest = (sizes[owners] - positions - 1)[in_prefix]
        starts = self._post_starts[probe_ranks]
        counts = self._post_starts[probe_ranks + 1] - starts
        known_starts = np.cumsum(known_sizes) - known_sizes
        parts = []
        for first, last in _whole_queries(probes, counts):
            probe, place = unroll(starts[first:last], counts[first:last])
            left, right = probes[first:last][probe], self._posted[place]
            rest = np.minimum(probe_rest[first:last][probe], self._posted_rest[place])
            possible = 1 + rest >= self._needed(sizes[left] + self._sizes[right])
            keys = np.unique(left[possible] * len(self._sizes) + right[possible])
            left, right = keys // len(self._sizes), keys % len(self._sizes)
            for begin, end in portions(known_sizes[left]):
                parts.append(self._checked(left[begin:end], right[begin:end], ranks, known_starts, known_sizes, sizes))
        left, right, values = joined(parts, (np.int64, np.int64, np.float64))
        return left, right, values

    def _checked(
        self, left: Ints, right: Ints, ranks: Ints, known_starts: Ints, known_sizes: Ints, sizes: Ints
    ) -> tuple[Ints, Ints, Floats]:
        """The pairs that reach the minimum, by counting shared units."""
        pair, place = unroll(known_starts[left], known_sizes[left])
        wanted = right[pair] * self._width + ranks[place]
        found = np.searchsorted(self._members, wanted)
        found[found == len(self._members)] = 0
        shared = np.bincount(pair[self._members[found] == wanted], minlength=len(left))
        # Both numbers are small integers, so the quotient is the float nearest to the true value, as `minimum` is.
        values = shared / (sizes[left] + self._sizes[right] - shared)
        keep = values >= self._minimum
        return left[keep], right[keep], values[keep]

    def _prefix(self, sizes: Ints) -> Ints:
        """How many units of a set of each size must be looked at."""
        needed: Ints = -(-sizes * self._share.numerator // self._share.denominator)
        return sizes - needed + 1

    def _needed(self, size_sums: Ints) -> Ints:
        """Shared units that two sets need, by the sum of their sizes: shared / (sum - shared) reaches the minimum."""
        top = self._share.numerator
        needed: Ints = -(-size_sums * top // (top + self._share.denominator))
        return needed


def _no_pairs() -> Pairs:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)


def _entries(sets: Sets, wanted: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[Ints, Ints]:
    """(set, place in ``units``) of every unit of the wanted sets."""
    chosen = np.nonzero(wanted)[0]
    owner, places = unroll(sets.offsets[:-1][chosen], sets.sizes[chosen])
    return chosen[owner], places


def _positions(owners: Ints) -> Ints:
    """Place of each entry within its set; entries of one set stand together."""
    index = np.arange(len(owners))
    begins = np.concatenate([[True], owners[1:] != owners[:-1]]) if len(owners) else np.zeros(0, dtype=bool)
    return index - np.maximum.accumulate(np.where(begins, index, 0))


def _whole_queries(probes: Ints, counts: Ints) -> list[tuple[int, int]]:
    """Portions of probes that never split a query, so that repeats of a pair meet in one portion."""
    if not len(probes):
        return []
    begins = np.concatenate([[0], np.nonzero(probes[1:] != probes[:-1])[0] + 1, [len(probes)]])
    per_query = np.add.reduceat(counts, begins[:-1])
    return [(int(begins[first]), int(begins[last])) for first, last in portions(per_query)]
