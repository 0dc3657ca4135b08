"""Who is chosen: the first of a bucket by a hash of (seed, id).

Nothing else decides, so shards, workers, row order and other buckets change nothing, and a larger count only adds. The
pilot is the beginning of the same order: it stays the same whatever the full count is. The cap per article is applied
in that order too, within a bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..records.errors import TirError
from ..records.hashing import stable_int
from .settings import BucketPlan


@dataclass(frozen=True, slots=True)
class Ranked:
    """A bucket's questions that may be chosen."""

    ids: tuple[str, ...]
    """In the order in which they are chosen."""
    over_cap: int
    """Questions passed over because their article had enough."""


def rank(plan: BucketPlan, seed: int, members: Iterable[tuple[str, str]]) -> Ranked:
    """Order (id, group) pairs. Raises TirError when an id comes twice."""
    order = sorted((stable_int(seed, name), name, group) for name, group in members)
    taken: Counter[str] = Counter()
    ids: list[str] = []
    last = None
    for _, name, group in order:
        if name == last:
            raise TirError(f"bucket {plan.name}: id '{name}' comes twice; read the source again")
        last = name
        if plan.max_per_group is not None and taken[group] >= plan.max_per_group:
            continue
        taken[group] += 1
        ids.append(name)
    return Ranked(ids=tuple(ids), over_cap=len(order) - len(ids))
