"""The audit streams: memory holds a few numbers a row, whatever the file's size (shared case J 89)."""

from __future__ import annotations

import copy
import tracemalloc
from pathlib import Path

from audit_helpers import Index, Row, clean_rows, settings, write
from tir_distill.audit import audit_file


def rows(base: Row, count: int) -> list[Row]:
    """Rows of 50 kB that differ."""
    made = []
    for number in range(count):
        row = copy.deepcopy(base)
        row["id"] = f"evobrowsecomp_{number}"
        row["messages"][1]["content"] = f"What is number {number}?"
        row["messages"][3]["content"] = f"word{number} " * 6000
        row["lineage"].update(sample=f"{row['id']}#1", fingerprint=f"{number:064x}")
        made.append(row)
    return made


def peak(path: Path, root: Path, count: int) -> int:
    """Without a template: rendered rows wait for their counts in a queue of fixed length, which is not meant here."""
    tracemalloc.start()
    try:
        report = audit_file(path, settings(), img_root=root, tokens=None, index=Index(), loading=False)
        assert report.rows == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_89_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    base = next(row for row in clean_rows(tmp_path) if not row["images"])
    peaks = [peak(write(tmp_path / f"{n}.jsonl", rows(base, n)), tmp_path, n) for n in (10, 100)]
    assert peaks[1] < peaks[0] + (1 << 20)
