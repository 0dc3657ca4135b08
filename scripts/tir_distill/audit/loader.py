"""The file as the trainer's readers meet it: types are fixed by what comes first, so order matters.

The whole file goes through ``datasets`` and through pyarrow's own streaming reader. Shuffled thirds, which stand for
the subsets and mixes that people make, go through both as skeletons: every string is shortened and the blocks with
it, so that the same rows share a block as in the real file, at a fraction of the cost. Each starts with a complete row
if it holds one, as every file that this project writes: no column can show its type without.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ..records import stable_int
from .findings import Finding

CHECK = "loader"
PARTS = 3
BLOCK = 10 << 20
"""Bytes that ``datasets`` reads at once; pyarrow reads a tenth of it."""
KEPT = 24
"""Characters of a string that a skeleton keeps: enough to look like a date if the whole does."""
MIN_BLOCK = 64 << 10


def check_loader(path: Path) -> list[Finding]:
    """Findings for the file as a whole. Temporary copies go to the system's temporary folder."""
    size = path.stat().st_size
    if size == 0:
        return [Finding(check=CHECK, reason="empty_file", detail="no rows")]
    found: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="tir-loader-") as folder:
        parts = _write_parts(path, Path(folder))
        rows = sum(count for _, count in parts)
        found += _datasets(path, Path(folder) / "cache", BLOCK, rows, "whole file")
        found += _pyarrow(path, BLOCK // 10, rows, "whole file")
        skeletons = sum(part.stat().st_size for part, _ in parts)
        scale = max(MIN_BLOCK, int(BLOCK * skeletons / size))
        for number, (part, count) in enumerate(parts, start=1):
            name = f"shuffled part {number} of {PARTS}"
            if count:
                found += _datasets(part, Path(folder) / f"cache{number}", scale, count, name)
                found += _pyarrow(part, max(MIN_BLOCK, scale // 10), count, name)
    return found


def _write_parts(path: Path, folder: Path) -> list[tuple[Path, int]]:
    """Rows dealt to parts by a hash of their line number, each part in the order of another hash."""
    places: list[list[tuple[int, int, bool]]] = [[] for _ in range(PARTS)]
    spare = folder / "skeletons"
    with path.open("rb") as source, spare.open("wb") as out:
        number = 0
        for line in source:
            if not line.strip():
                continue
            number += 1
            key = stable_int(0, "loader", str(number))
            try:
                row = orjson.loads(line)
                data, complete = orjson.dumps(_shortened(row)) + b"\n", isinstance(row, dict) and _is_complete(row)
            except orjson.JSONDecodeError:
                data, complete = line if line.endswith(b"\n") else line + b"\n", False
            places[key % PARTS].append((key, out.tell(), complete))
            out.write(data)
    parts = []
    with spare.open("rb") as source:
        for index, wanted in enumerate(places):
            part = folder / f"part{index}.jsonl"
            with part.open("wb") as out:
                order = sorted(wanted)
                first = next((entry for entry in order if entry[2]), None)
                for _, offset, _ in order if first is None else [first, *(e for e in order if e is not first)]:
                    source.seek(offset)
                    out.write(source.readline())
            parts.append((part, len(wanted)))
    return parts


def _is_complete(row: dict[str, Any]) -> bool:
    """``export.is_complete``, for rows of any shape."""
    messages = row.get("messages")
    calls = isinstance(messages, list) and any(isinstance(m, dict) and m.get("tool_calls") for m in messages)
    return bool(row.get("images")) and calls


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value[:KEPT]
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return value


def _datasets(path: Path, cache: Path, block: int, rows: int, name: str) -> Iterator[Finding]:
    """Loads as ms-swift does, and gives every row with the types that the trainer expects."""
    import datasets
    from datasets.exceptions import DatasetGenerationError

    datasets.disable_progress_bars()
    try:
        loaded = datasets.load_dataset(
            "json", data_files=str(path), split="train", cache_dir=str(cache), chunksize=block
        )
    except (DatasetGenerationError, TypeError, ValueError, OSError) as error:
        cause = error.__cause__ or error
        yield Finding(check=CHECK, reason="datasets", detail=f"{name}: {cause}")
        return
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    if len(loaded) != rows:
        yield Finding(check=CHECK, reason="datasets_rows", detail=f"{name}: {len(loaded)} rows, expected {rows}")
    for column, feature in loaded.features.items():
        if str(getattr(feature, "dtype", "")).startswith(("timestamp", "date", "time")):
            # All values seen look like dates: the column would be no text, and clash with other files.
            yield Finding(check=CHECK, reason="column_as_time", detail=f"{name}: {column} is read as {feature.dtype}")


def _pyarrow(path: Path, block: int, rows: int, name: str) -> Iterator[Finding]:
    """Reads in blocks; the first one decides the types."""
    import pyarrow
    from pyarrow import json as reader

    with path.open("rb") as handle:
        largest = max(block, max(map(len, handle), default=0))
    count = 0
    try:
        with reader.open_json(path, read_options=reader.ReadOptions(block_size=largest + 1)) as batches:
            for batch in batches:
                count += batch.num_rows
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError) as error:
        yield Finding(check=CHECK, reason="pyarrow", detail=f"{name}: {error}")
        return
    if count != rows:
        yield Finding(check=CHECK, reason="pyarrow_rows", detail=f"{name}: {count} rows, expected {rows}")
