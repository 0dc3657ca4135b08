"""Writing files exactly as upstream lays them out, and the same bytes each time."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ZIP_TIME = (2026, 1, 1, 0, 0, 0)


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]], schema: Any) -> None:
    """One parquet file with the given pyarrow schema."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    pq.write_table(table, path, compression="zstd", row_group_size=8)


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """An archive without compression, in name order and without the clock's time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, ZIP_TIME), files[name])


def write_bytes(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """JSON Lines as Python's own json writes them."""
    write_bytes(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def numpy_text(items: Sequence[str]) -> str:
    """A list as ``str()`` of a numpy object array prints it: quotes, white space between, no commas."""
    text = "["
    for index, item in enumerate(items):
        text += ("\n " if index and index % 3 == 0 else " " if index else "") + repr(item)
    return text + "]"


def fvqa_schema(*, with_category: bool) -> Any:
    """FVQA: prompt, images as list of structs, the judge's references, ids. Only train has a category."""
    import pyarrow as pa

    fields = [
        ("prompt", pa.list_(pa.struct([("content", pa.string()), ("role", pa.string())]))),
        ("images", pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.null())]))),
        (
            "reward_model",
            pa.struct([("candidate_answers", pa.string()), ("ground_truth", pa.string()), ("style", pa.string())]),
        ),
        ("data_source", pa.string()),
        ("image_urls", pa.null()),
        ("data_id", pa.string()),
    ]
    if with_category:
        fields.append(("category", pa.string()))
    return pa.schema(fields)


def image_struct() -> Any:
    """A picture column as ``datasets`` stores its Image feature."""
    import pyarrow as pa

    return pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def text_schema(*names: str) -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in names])
