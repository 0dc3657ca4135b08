"""Where every upstream row went: read = kept + rejected, kept = dropped + selected + not selected (DESIGN 4.9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.errors import TirError
from ..records.jsonl import read_json
from .decontaminate import read_drops
from .select_questions import ranked_buckets
from .settings import SelectionSettings


@dataclass(frozen=True, slots=True)
class BucketFunnel:
    """Counts of one bucket, each row once."""

    read: int
    rejected: Mapping[str, int]
    """Reason -> rows that the reader set aside."""
    dropped: Mapping[str, Mapping[str, int]]
    """Rule -> evaluation set -> questions, each under its first match."""
    over_article_cap: int
    not_drawn: int
    selected: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "rejected": dict(self.rejected),
            "kept": self.read - sum(self.rejected.values()),
            "dropped": {rule: dict(sets) for rule, sets in self.dropped.items()},
            "not_selected": {"over_article_cap": self.over_article_cap, "not_drawn": self.not_drawn},
            "selected": self.selected,
        }


def by_bucket(paths: Sequence[Path], ending: str, buckets: Sequence[str]) -> dict[str, Path]:
    """Files named ``<bucket><ending>``. Raises TirError when one is missing or unknown."""
    found = {path.name.removesuffix(ending): path for path in paths}
    if set(found) != set(buckets):
        raise TirError(f"expected one file *{ending} for each of {sorted(buckets)}, got {sorted(found)}")
    return found


def funnels(
    settings: SelectionSettings,
    *,
    counts: Sequence[Path],
    drops: Sequence[Path],
    kept: Sequence[Path],
    selected: Mapping[str, int],
) -> dict[str, BucketFunnel]:
    """By bucket, in the order of the configuration. Raises TirError naming the bucket whose numbers do not add up."""
    names = [plan.name for plan in settings.buckets]
    count_files = by_bucket(counts, ".counts.json", names)
    drop_files = by_bucket(drops, ".drops.parquet", names)
    ranked = ranked_buckets(kept, settings)
    out = {}
    for name in names:
        reader = read_json(count_files[name])
        first = Counter(
            (matches[0].rule, matches[0].evaluation_set) for matches in read_drops(drop_files[name]).values()
        )
        left = len(ranked[name].ids) + ranked[name].over_cap
        if reader["read"] != reader["kept"] + sum(reader["rejects"].values()):
            raise TirError(f"bucket {name}: {reader['read']} rows read, but kept and rejected make another number")
        if reader["kept"] != first.total() + left:
            raise TirError(
                f"bucket {name}: {reader['kept']} rows kept by the reader, but {first.total()} dropped and {left} "
                f"left; the tables are of different runs, make them again"
            )
        dropped: dict[str, dict[str, int]] = {}
        for (rule, evaluation_set), number in sorted(first.items()):
            dropped.setdefault(rule, {})[evaluation_set] = number
        out[name] = BucketFunnel(
            read=reader["read"],
            rejected=dict(sorted(reader["rejects"].items())),
            dropped=dropped,
            over_article_cap=ranked[name].over_cap,
            not_drawn=len(ranked[name].ids) - selected.get(name, 0),
            selected=selected.get(name, 0),
        )
    return out
