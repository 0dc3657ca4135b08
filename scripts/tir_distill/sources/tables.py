"""Rows of the tables in a source folder, streaming: parquet, JSON Lines, or JSON (see ``json_table``).

A few pages of one column are all that is in memory, whatever the file's size. (Writers that put 1,024 pictures into
one page make that some 0.9 GB; the file may be ten times as large.) Text that is no UTF-8 becomes ``Undecodable`` in
its field. A table that is damaged as a file is an error of the whole source and names the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..records.errors import TirError
from .fields import Undecodable, is_writable
from .json_table import DamagedLine, json_lines, json_rows
from .lock import source_files

BATCH_ROWS = 64
"""Rows with a picture of some 300 kB each make batches of about 20 MB."""

TABLE_SUFFIXES = (".parquet", ".jsonl", ".json")
_CELL_ERRORS = (ValueError, OverflowError, KeyError, pa.ArrowException)
"""UnicodeDecodeError is a ValueError; an unknown time zone is a KeyError."""


def give_memory_back() -> None:
    """Let Arrow use an allocator that returns freed memory at once: a quarter less at the peak for large pages.

    Changes the whole process, so commands call it and the library does not.
    """
    for pool in (pa.jemalloc_memory_pool, pa.system_memory_pool):
        try:
            pa.set_memory_pool(pool())
        except NotImplementedError:  # not in this build
            continue
        return


def table_files(folder: Path) -> list[Path]:
    """Tables of a source in the order of their names. Raises TirError when there is none."""
    files = [path for path in source_files(folder) if path.suffix in TABLE_SUFFIXES]
    if not files:
        raise TirError(f"{folder}: no table found; expected a file ending in one of {TABLE_SUFFIXES}")
    return files


def rows(path: Path, columns: Collection[str] | None = None) -> Iterator[dict[str, Any] | DamagedLine]:
    """Rows of one table; with ``columns``, only those (absent ones are simply missing)."""
    if path.suffix == ".parquet":
        yield from _parquet_rows(path, columns)
    elif path.suffix == ".jsonl":
        yield from json_lines(path)
    else:
        yield from json_rows(path)


def columns_of(path: Path) -> list[str] | None:
    """Column names of a parquet table; None for JSON, whose rows say for themselves."""
    if path.suffix != ".parquet":
        return None
    with _opened(path) as table:
        return list(table.schema_arrow.names)


def count_rows(path: Path) -> int | None:
    """Rows of a parquet table by its footer; None for JSON, which would have to be read."""
    if path.suffix != ".parquet":
        return None
    with _opened(path) as table:
        return int(table.metadata.num_rows)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The table. Raises TirError naming the file when it cannot be read, now or while the block reads on."""
    try:
        with contextlib.ExitStack() as stack:
            # Arrow takes paths as UTF-8 only: under a locale of another encoding Python opens what Arrow cannot name.
            # Not always, for a Python file copies every page once more.
            place = path if is_writable(str(path)) else stack.enter_context(path.open("rb"))
            yield stack.enter_context(pq.ParquetFile(place, pre_buffer=False, buffer_size=1 << 20))
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise TirError(f"{path}: not a readable parquet file ({error}); fetch the source again") from error


def _parquet_rows(path: Path, columns: Collection[str] | None) -> Iterator[dict[str, Any]]:
    with _opened(path) as table:
        names = [name for name in table.schema_arrow.names if columns is None or name in columns]
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=names, use_threads=False):
            yield from _batch_rows(batch)


def _batch_rows(batch: Any) -> list[dict[str, Any]]:
    """Rows as Python values; what has none (no UTF-8, a time stamp beyond the calendar) becomes ``Undecodable``."""
    if not batch.num_columns:
        return [{} for _ in range(batch.num_rows)]
    try:
        whole: list[dict[str, Any]] = batch.to_pylist()
    except _CELL_ERRORS:
        return [
            {name: _cell(column, i) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
            for i in range(batch.num_rows)
        ]
    return whole


def _cell(column: Any, index: int) -> Any:
    try:
        return column[index].as_py()
    except _CELL_ERRORS:
        return Undecodable()
