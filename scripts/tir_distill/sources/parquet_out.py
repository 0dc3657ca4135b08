"""Parquet files written row by row, in place only when whole, the same bytes for the same rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..records.jsonl import atomic_writer
from .print_cache import made_by

GROUP_ROWS = 1024
EVALUATION_FORMAT = "2"
"""Raise it when the same item gives other hashes: a reader of the old table would find nothing and say nothing.
2: grams are hashed by their tokens' hashes (``text_units.gram_hash``); 1 hashed their text and bore no mark."""

PICTURE = pa.struct(
    [
        ("sha256", pa.string()),
        ("ext", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("phash", pa.string()),
        ("flat", pa.bool_()),
    ]
)
QUESTIONS = pa.schema(
    [
        ("id", pa.string()),
        ("source", pa.string()),
        ("bucket", pa.string()),
        ("task_type", pa.string()),
        ("question", pa.string()),
        ("answer", pa.string()),
        ("candidate_answers", pa.string()),
        ("group", pa.string()),
        ("images", pa.list_(PICTURE)),
        ("meta", pa.string()),
    ]
)
EVALUATION = pa.schema(
    [
        ("set", pa.string()),
        ("id", pa.string()),
        ("images", pa.list_(pa.struct([("phash", pa.string()), ("flat", pa.bool_()), ("sha256", pa.string())]))),
        ("shingles", pa.list_(pa.uint64())),
        ("units", pa.int32()),
        ("text_key", pa.string()),
        ("script", pa.string()),
        ("grams", pa.list_(pa.uint64())),
    ],
    metadata={"format": EVALUATION_FORMAT},
)


class TableWriter:
    """Takes rows; writes a row group whenever enough have come."""

    def __init__(self, handle: Any, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(handle, schema, compression="zstd", write_statistics=False)
        self._rows: list[Mapping[str, Any]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
            self._rows.clear()

    def discard(self) -> None:
        self._rows.clear()
        self._writer.close()

    def close(self) -> None:
        self.flush()
        self._writer.close()


@contextlib.contextmanager
def table_writer(path: Path, schema: pa.Schema) -> Iterator[TableWriter]:
    """A writer whose file takes its place when the block ends without an exception.

    The file's metadata holds the schema's, and says under which picture policy and libraries its hashes were made:
    another version of Pillow can move a hash by a bit or two.
    """
    with atomic_writer(path) as handle:
        writer = TableWriter(handle, schema.with_metadata({**(schema.metadata or {}), "made_by": made_by()}))
        try:
            yield writer
        except BaseException:
            writer.discard()  # before the file is closed under it
            raise
        writer.close()
