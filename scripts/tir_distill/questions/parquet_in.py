"""Parquet tables, a batch of rows at a time. One error for whatever is wrong with a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..records.errors import TirError

BATCH_ROWS = 2048


def batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Record batches, with only the given columns if any. Raises TirError for a missing, damaged or other kind of file.

    Python opens the file: Arrow cannot open a path outside ASCII under a locale like C.
    """
    try:
        with path.open("rb") as handle, pq.ParquetFile(handle, pre_buffer=False, buffer_size=1 << 20) as table:
            if missing := set(columns or ()) - set(table.schema_arrow.names):
                raise TirError(f"{path}: lacks the columns {sorted(missing)}; make it again with this version")
            yield from table.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise TirError(f"{path}: not a readable table ({error}); make it again") from error


def schema_of(path: Path) -> Any:
    """The table's columns and types. Raises TirError as ``batches`` does."""
    try:
        with path.open("rb") as handle:
            return pq.read_schema(handle)
    except (pa.ArrowException, OSError) as error:
        raise TirError(f"{path}: not a readable table ({error}); make it again") from error


def mark_of(path: Path, name: str) -> str:
    """One entry of the table's metadata; empty when it has none. Raises TirError as ``batches`` does."""
    metadata = schema_of(path).metadata or {}
    return bytes(metadata.get(name.encode(), b"")).decode("utf-8", "replace")
