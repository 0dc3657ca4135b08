"""Evaluation fingerprints in memory: arrays ready for joins, filled from tables or from a shipped index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..records.errors import TirError
from ..sources.parquet_out import EVALUATION_FORMAT
from .hamming import as_hashes
from .jaccard import Sets
from .natural import natural_key
from .parquet_in import batches, mark_of
from .spans import Hashes, Ints


@dataclass(frozen=True, slots=True)
class Item:
    """One evaluation item. It holds hashes only."""

    set: str
    id: str
    units: int
    """Distinct units of the text."""
    text_key: str
    script: str
    shingles: Hashes
    grams: Hashes
    pictures: tuple[tuple[str, bool], ...]
    """(pHash as 16 hex digits, flat?) of each picture."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Item:
        """From a row of ``evaluation/<set>.parquet``."""
        return cls(
            set=row["set"],
            id=row["id"],
            units=row["units"],
            text_key=row["text_key"],
            script=row["script"],
            shingles=np.array(row["shingles"], dtype=np.uint64),
            grams=np.array(row["grams"], dtype=np.uint64),
            pictures=tuple((picture["phash"], picture["flat"]) for picture in row["images"]),
        )


def read_items(tables: Iterable[Path]) -> list[Item]:
    """Items of all tables by set and id: no order of files or rows shows.

    Raises TirError for a table that is none, or whose hashes are those of another version: they would match nothing.
    """
    items = [item for path in tables for item in _table_items(path)]
    return sorted(items, key=lambda item: (item.set, natural_key(item.id)))


COLUMNS = ("set", "id", "images", "shingles", "units", "text_key", "script", "grams")


def _table_items(path: Path) -> Iterator[Item]:
    if (found := mark_of(path, "format")) != EVALUATION_FORMAT:
        raise TirError(
            f"{path}: fingerprints of format {found or '1'}, this version reads {EVALUATION_FORMAT}; "
            "rebuild it: run read_evaluation.py again (snakemake --forcerun read_evaluation)"
        )
    for batch in batches(path, COLUMNS):
        yield from map(Item.from_row, batch.to_pylist())


def hashed_by(tables: Sequence[Path]) -> str:
    """Under which picture policy and libraries the picture hashes of all tables were made.

    Raises TirError when they differ: the same file may have another bit or two in each. Tables without a mark are
    taken on trust.
    """
    marks = {path: mark for path in tables if (mark := mark_of(path, "made_by"))}
    if len(set(marks.values())) > 1:
        said = "; ".join(f"{path.name}: {mark}" for path, mark in sorted(marks.items()))
        raise TirError(f"picture hashes were made by different versions ({said}); read the older tables again")
    return next(iter(marks.values()), "")


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """All items, and their pictures and texts as arrays."""

    items: Sequence[Item]
    hashes: Hashes
    """Picture hashes of all items that are not flat."""
    hash_owner: Ints
    """Item of each hash."""
    texts: Sets
    """Units of each item's text."""
    by_text_key: Mapping[str, Sequence[int]]
    """Items with this token sequence."""

    @classmethod
    def of(cls, items: Sequence[Item]) -> Fingerprints:
        sharp = [(phash, i) for i, item in enumerate(items) for phash, flat in item.pictures if not flat]
        by_key: dict[str, list[int]] = {}
        for i, item in enumerate(items):
            by_key.setdefault(item.text_key, []).append(i)
        sizes = [len(item.shingles) for item in items]
        return cls(
            items=items,
            hashes=as_hashes(phash for phash, _ in sharp),
            hash_owner=np.array([i for _, i in sharp], dtype=np.int64),
            texts=Sets(
                offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
                units=np.concatenate([np.empty(0, dtype=np.uint64), *(item.shingles for item in items)]),
            ),
            by_text_key=by_key,
        )

    @classmethod
    def read(cls, tables: Iterable[Path]) -> Fingerprints:
        return cls.of(read_items(tables))
