"""The file as the trainer's readers meet it: types are fixed by what comes first, so order matters.

Pyarrow's own streaming reader reads the file itself. ``datasets``, ten times as dear, reads its skeleton: the same rows
with every string shortened, padded so that each of its blocks holds the very rows that a block of the file holds. What
``datasets`` adds to a reader of JSON is the types that it finds, block by block, and a string's type does not depend on
its length. Shuffled thirds, which stand for the subsets and mixes that people make, go through both as skeletons too;
each starts with a complete row if it holds one, as every file that this project writes: no column can show its type
without.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ..records import stable_int
from .findings import Finding

CHECK = "loader"
PARTS = 3
BLOCK = 10 << 20
"""Bytes that ``datasets`` reads at once; pyarrow reads a tenth of it."""
KEPT = 8
"""Characters of a string that a skeleton keeps."""
KEPT_OF_A_NUMBER = 36
"""Of one that begins like a date: enough for the longest form that is read as a time."""
MIN_BLOCK = 64 << 10


@dataclass(frozen=True, slots=True)
class Line:
    """A row's line in the file of skeletons."""

    key: int
    """Decides its part and its place there."""
    offset: int
    size: int
    complete: bool
    closes_block: bool
    """The row is the last one of a block that ``datasets`` reads at once."""


def check_loader(path: Path) -> list[Finding]:
    """Findings for the file as a whole. Temporary copies go to the system's temporary folder."""
    size = path.stat().st_size
    if size == 0:
        return [Finding(check=CHECK, reason="empty_file", detail="no rows")]
    found: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="tir-loader-") as name:
        folder = Path(name)
        spare = folder / "skeletons"
        lines, longest = _write_skeletons(path, spare)
        if not lines:
            return [Finding(check=CHECK, reason="empty_file", detail="only blank lines")]
        whole = folder / "whole.jsonl"
        block = _write_whole(spare, lines, whole)
        found += _datasets(whole, folder / "cache", block, len(lines), "whole file")
        found += _pyarrow(path, max(BLOCK // 10, longest), len(lines), "whole file")
        scale = max(MIN_BLOCK, int(BLOCK * spare.stat().st_size / size))
        for number, part in enumerate(_parts(lines), start=1):
            if part:
                file = folder / f"part{number}.jsonl"
                _write_part(spare, part, file)
                title = f"shuffled part {number} of {PARTS}"
                found += _datasets(file, folder / f"cache{number}", scale, len(part), title)
                largest = max(line.size for line in part)
                found += _pyarrow(file, max(MIN_BLOCK, scale // 10, largest), len(part), title)
    return found


def _write_skeletons(path: Path, spare: Path) -> tuple[list[Line], int]:
    """A skeleton of each row, and the bytes of the longest line. A line that is no JSON is kept as it is."""
    lines: list[Line] = []
    longest = place = written = 0
    limit = BLOCK
    with path.open("rb") as source, spare.open("wb") as out:
        for line in source:
            place += len(line)
            if not line.strip():
                continue
            longest = max(longest, len(line))
            data, complete = _skeleton(line)
            # a block ends with the line in which its bytes end, or with the next one when they end between two
            closes = place > limit
            if closes:
                limit = place + BLOCK
            key = stable_int(0, "loader", str(len(lines) + 1))
            lines.append(Line(key, written, len(data), complete, closes))
            written += out.write(data)
    return lines, longest


def _skeleton(line: bytes) -> tuple[bytes, bool]:
    try:
        row = orjson.loads(line)
        return orjson.dumps(_shortened(row)) + b"\n", isinstance(row, dict) and _is_complete(row)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, RecursionError):
        return line if line.endswith(b"\n") else line + b"\n", False


def _write_whole(spare: Path, lines: list[Line], target: Path) -> int:
    """The skeletons in order, blank-padded; returns the block size with which every block is one of the file's own."""
    totals, total = [0], 0
    for line in lines:
        total += line.size
        if line.closes_block:
            totals.append(total - line.size)
            total = 0
    block = max(*totals, total, 1)
    with spare.open("rb") as source, target.open("wb") as out:
        total = 0
        for line in lines:
            data = source.read(line.size)
            total += line.size
            if line.closes_block:
                out.write(data[:-1] + b" " * (block + 1 - total) + b"\n")
                total = 0
            else:
                out.write(data)
    return block


def _parts(lines: list[Line]) -> list[list[Line]]:
    """Rows dealt to parts by their keys, each part in the order of its keys but for a complete row in front."""
    parts = []
    for index in range(PARTS):
        order = sorted((line for line in lines if line.key % PARTS == index), key=lambda line: (line.key, line.offset))
        first = next((line for line in order if line.complete), None)
        parts.append(order if first is None else [first, *(line for line in order if line is not first)])
    return parts


def _write_part(spare: Path, part: list[Line], target: Path) -> None:
    with spare.open("rb") as source, target.open("wb") as out:
        for line in part:
            source.seek(line.offset)
            out.write(source.read(line.size))


def _is_complete(row: dict[str, Any]) -> bool:
    """``export.is_complete``, for rows of any shape."""
    messages = row.get("messages")
    calls = isinstance(messages, list) and any(isinstance(m, dict) and m.get("tool_calls") for m in messages)
    return bool(row.get("images")) and calls


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value[: KEPT_OF_A_NUMBER if value[:1].isdigit() else KEPT]
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
    """Reads in blocks, each as long as its longest line at least; the first one decides the types."""
    import pyarrow
    from pyarrow import json as reader

    count = 0
    try:
        with reader.open_json(path, read_options=reader.ReadOptions(block_size=block + 1)) as batches:
            for batch in batches:
                count += batch.num_rows
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError) as error:
        yield Finding(check=CHECK, reason="pyarrow", detail=f"{name}: {error}")
        return
    if count != rows:
        yield Finding(check=CHECK, reason="pyarrow_rows", detail=f"{name}: {count} rows, expected {rows}")
