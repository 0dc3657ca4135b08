"""Rows of one id in files of many rows, without parsing the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson


def in_jsonl(path: Path, question_id: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, row) of each row with this ``id``. Damaged lines are another stage's to count: passed over here."""
    if not path.exists():
        return
    wanted = orjson.dumps(question_id)
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if wanted not in line:
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(row, dict) and row.get("id") == question_id:
                yield number, row


def in_parquet(path: Path, question_id: str) -> Iterator[dict[str, Any]]:
    """Each row with this ``id``, read in batches of row groups."""
    if not path.exists():
        return
    import pyarrow as pa  # here, because Snakemake imports this room whenever it reads the rules
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with path.open("rb") as handle, pq.ParquetFile(handle) as table:
        for batch in table.iter_batches():
            yield from batch.filter(pc.equal(batch.column("id"), pa.scalar(question_id))).to_pylist()
