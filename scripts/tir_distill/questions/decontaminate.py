"""One bucket's table split into what may be trained on and what is too close to an evaluation item.

Streaming: a batch of rows is in memory, whatever the size of the table. Kept rows are copied as they are, in order.
The table of drops has a line for *every* matching item of a dropped question, closest first within the question; the
first line of an id is the reason under which the question is counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..records.jsonl import atomic_writer
from ..records.protocols import Progress
from .match import Match
from .matcher import Matcher, Subject
from .parquet_in import batches, schema_of

DROPS = pa.schema(
    [
        ("id", pa.string()),
        ("rule", pa.string()),
        ("evaluation_set", pa.string()),
        ("evaluation_id", pa.string()),
        ("value", pa.float64()),
    ]
)


@dataclass
class DropCounts:
    """What happened to a bucket: ``read == kept + dropped``."""

    read: int = 0
    kept: int = 0
    first: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(rule, evaluation set) of the first match -> questions."""
    pairs: int = 0
    """Matching (question, item, rule) triples."""

    @property
    def dropped(self) -> int:
        return self.first.total()


def subject_of(row: dict[str, Any]) -> Subject:
    """What is compared of a row of a question table."""
    pictures = tuple((picture["phash"], picture["flat"]) for picture in row["images"])
    return Subject(text=row["question"], pictures=pictures)


def decontaminate(
    questions: Path, matcher: Matcher, *, out: Path, drops: Path, progress: Progress | None = None
) -> DropCounts:
    """Write the kept rows to ``out`` and the matches to ``drops``, each whole or not at all."""
    counts = DropCounts()
    schema = schema_of(questions)
    with atomic_writer(out) as kept_file, atomic_writer(drops) as drops_file:
        kept = pq.ParquetWriter(kept_file, schema, compression="zstd", write_statistics=False)
        dropped = pq.ParquetWriter(drops_file, DROPS, compression="zstd", write_statistics=False)
        for batch in batches(questions):
            rows = batch.select(["id", "question", "images"]).to_pylist()
            matches = matcher.matches([subject_of(row) for row in rows])
            lines = _lines(rows, matches, counts)
            if lines:
                dropped.write_table(pa.Table.from_pylist(lines, schema=DROPS))
            clean = batch.filter(pa.array([not found for found in matches]))
            if clean.num_rows:
                kept.write_batch(clean)
            counts.read += batch.num_rows
            counts.kept += clean.num_rows
            if progress is not None:
                progress.update(done=counts.read, dropped=counts.dropped)
        kept.close()
        dropped.close()
    return counts


def _lines(rows: list[dict[str, Any]], matches: list[list[Match]], counts: DropCounts) -> list[dict[str, Any]]:
    lines = []
    for row, found in zip(rows, matches, strict=True):
        if found:
            counts.first[found[0].rule, found[0].evaluation_set] += 1
            counts.pairs += len(found)
            lines += [{"id": row["id"], **match.to_dict()} for match in found]
    return lines


def read_drops(path: Path) -> dict[str, list[Match]]:
    """Matches by dropped id, closest first. Raises TirError when the file is no table of drops."""
    out: dict[str, list[Match]] = {}
    for batch in batches(path, DROPS.names):
        for row in batch.to_pylist():
            out.setdefault(row.pop("id"), []).append(Match(**row))
    return out
