"""Rows of a legacy file, streaming: JSON Lines, a JSON list, or parquet."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ..records import BadRow, TirError

BATCH = 64
"""Rows of a parquet file in memory at a time: rows hold pictures."""
CHUNK = 1 << 20


def read_rows(path: Path) -> Iterator[dict[str, Any] | BadRow]:
    """Each row, or a BadRow in the place of one that cannot be parsed. Raises TirError for an unknown file type."""
    if not path.exists():
        raise TirError(f"{path}: no such file; it is named as a legacy input")
    if path.suffix in (".jsonl", ".ndjson"):
        yield from _json_lines(path)
    elif path.suffix == ".json":
        yield from _json_lines(path) if _begins_with_object(path) else _json_list(path)
    elif path.suffix == ".parquet":
        yield from _parquet(path)
    else:
        raise TirError(f"{path}: expected .jsonl, .json or .parquet")


def _json_lines(path: Path) -> Iterator[dict[str, Any] | BadRow]:
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                yield BadRow("bad_json", f"{path.name}:{number}: {error}")
                continue
            yield row if isinstance(row, dict) else BadRow("bad_json", f"{path.name}:{number}: not an object")


def _begins_with_object(path: Path) -> bool:
    """Many a file called .json holds JSON Lines."""
    with path.open("rb") as handle:
        return handle.read(1024).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")


def _json_list(path: Path) -> Iterator[dict[str, Any] | BadRow]:
    """Objects of one big list, read piece by piece: such files reach several gigabytes."""
    decoder = json.JSONDecoder()
    # bytes that are no UTF-8 become half surrogate pairs, by which their row is known (``_sound``)
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as handle:
        buffer = handle.read(CHUNK).lstrip()
        if not buffer.startswith("["):
            raise TirError(f"{path}: expected a JSON list of rows")
        buffer = buffer[1:]
        while True:
            buffer = buffer.lstrip(" \t\r\n,")
            if buffer.startswith("]"):
                return
            try:
                row, end = decoder.raw_decode(buffer)
            except json.JSONDecodeError as error:
                more = handle.read(CHUNK)
                if not more:
                    yield BadRow("bad_json", f"{path.name}: the list breaks off ({error})")
                    return
                buffer += more
                continue
            buffer = buffer[end:]
            yield row if _sound(row) else BadRow("bad_json", f"{path.name}: an element is no object of sound text")


def _sound(row: Any) -> bool:
    """An object whose texts UTF-8 can hold; Python's own parser lets half surrogate pairs through."""
    if not isinstance(row, dict):
        return False
    try:
        orjson.dumps(row)
    except TypeError:
        return False
    return True


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=BATCH):
                yield from batch.to_pylist()
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk or a permission, which say so themselves
        raise TirError(f"{path}: no sound parquet file: {str(error).splitlines()[0]}") from None
