"""Export holds no rows but those before the first complete one (shared cases J 88 and 89)."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

from export_helpers import SETTINGS, places, trajectory
from tir_distill.export import export_rows
from tir_distill.records import dumps


def peak(root: Path, count: int) -> int:
    """Peak over ``count`` samples of 50 kB with pictures."""
    sample = trajectory(root, 1)
    first = replace(sample.turns[0], thinking="word " * 10_000)
    source = root / f"{count}.jsonl"
    with source.open("wb") as handle:
        for number in range(count):
            asked = replace(sample.question, id=f"q{number}")
            one = replace(sample, question=asked, turns=(first, *sample.turns[1:]))
            handle.write(dumps(one.to_dict()) + b"\n")
    tracemalloc.start()
    try:
        counts = export_rows(
            [source], settings=SETTINGS, places=places(root), out=root / "accepted.jsonl", rejects=root / "no.jsonl"
        )
        assert counts.rows == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_88_and_89_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    few, many = peak(tmp_path, 10), peak(tmp_path, 100)
    assert many < few + (1 << 20)
