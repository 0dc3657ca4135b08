"""Tables of full size to a hand-over of 10,000: time by step and peak memory. Run with ``make bench``.

4,856 FVQA, 107,140 LiveVQA level-2, 7,398 human ChartQA and 800 EvoBrowseComp candidates against 4,214 evaluation
items; pictures are small and shared, tables are drawn. Every command runs in a process of its own, as in the workflow.
Asserts the composition of seed section 2 and a peak below 1.5 GB.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from questions_helpers import cell, drawn, encoded, evaluation_row, question_row, read_lines, small_checkout
from tir_distill.config import ROOT, load
from tir_distill.records import write_json
from tir_distill.sources.parquet_out import EVALUATION, QUESTIONS, table_writer

SIZES = {"fvqa_train": 4_856, "evobrowsecomp": 800, "livevqa_news_l2": 107_140, "chartqa_human": 7_398}
SETS = {"simplevqa": 2_025, "fvqa_test": 1_800, "gaia": 165, "mmbrowsecomp": 224}
POOL = 400
"""Different picture files; hashes are drawn apart from them."""
MOST_MEMORY_MB = 1_500


def long_text(rng: random.Random) -> str:
    return " ".join(f"w{rng.randrange(20_000)}" for _ in range(rng.randrange(6, 26)))


def rows(bucket: str, pool: list[dict[str, Any]], task_type: str) -> Iterator[dict[str, Any]]:
    rng = random.Random(bucket)
    for i in range(SIZES[bucket]):
        picture = {**rng.choice(pool), "phash": f"{rng.getrandbits(64):016x}"}
        yield question_row(
            f"{bucket}_{i}",
            long_text(rng),
            [] if task_type == "text_search" else [picture],
            bucket=bucket,
            source=bucket,
            group=f"article {i // 5}",
            task_type=task_type,
        )


def run(script: str, *words: str | Path) -> tuple[float, float, str]:
    """Wall seconds, peak memory in MB and output of a command."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, ROOT / "scripts" / script, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, errors.decode()
    return time.perf_counter() - started, usage.ru_maxrss / 1024, output.decode()


def test_ten_thousand(tmp_path: Path) -> None:
    config = load()
    write_json(tmp_path / "config.json", config)
    checkout = small_checkout(tmp_path / "checkout")
    pool = [cell(encoded(drawn(i, (160, 120)), "JPEG", quality=80), tmp_path / "images") for i in range(POOL)]
    tables, sets = [], []
    for bucket, size in SIZES.items():
        path = tmp_path / "questions" / f"{bucket}.parquet"
        with table_writer(path, QUESTIONS) as table:
            for row in rows(bucket, pool, config["buckets"][bucket]["task_type"]):
                table.add(row)
        write_json(path.with_suffix(".counts.json"), {"read": size, "kept": size, "rejects": {}})
        tables.append(path)
    rng = random.Random("evaluation")
    for name, size in SETS.items():
        path = tmp_path / "evaluation" / f"{name}.parquet"
        with table_writer(path, EVALUATION) as table:
            for i in range(size):
                picture = {**pool[0], "phash": f"{rng.getrandbits(64):016x}"}
                table.add(evaluation_row(name, f"{name}_{i}", long_text(rng), [picture]))
        write_json(path.with_suffix(".counts.json"), {"read": size, "kept": size, "rejects": {}, "notes": {}})
        sets.append(path)
    locks = []
    for name, entry in config["sources"]["sets"].items():
        lock = {"source": name, "repo": entry["repo"], "hub": "mirror", "revision": "r", "requested_revision": "main",
                "licence": entry["licence"], "licence_upstream": "", "rows": 1, "files": []}  # fmt: skip
        locks.append(tmp_path / "sources" / name / "lock.json")
        write_json(locks[-1], lock)

    figures, kept, drops = [], [], []
    for path in tables:
        out = tmp_path / "decontaminated" / path.name
        kept.append(out)
        drops.append(out.with_suffix(".drops.parquet"))
        seconds, memory, said = run(
            "decontaminate.py", "run", "--config", tmp_path / "config.json", "--questions", path, "--evaluation", *sets,
            "--out", out, "--drops", drops[-1],
        )  # fmt: skip
        figures.append((f"decontaminate {said.strip()}", seconds, memory))
    seconds, memory, said = run(
        "build_handover.py", "select", "--config", tmp_path / "config.json", "--buckets", *kept, "--evaluation", *sets,
        "--images", tmp_path / "images", "--out", tmp_path / "out",
    )  # fmt: skip
    figures.append((f"select: {said.strip()}", seconds, memory))
    seconds, memory, said = run(
        "build_handover.py", "pack", "--config", tmp_path / "config.json", "--kept", *kept, "--drops", *drops,
        "--counts", *(path.with_suffix(".counts.json") for path in tables),
        "--evaluation", *(path.with_suffix(".counts.json") for path in sets), "--locks", *locks,
        "--scripts-root", checkout, "--out", tmp_path / "out",
    )  # fmt: skip
    figures.append((f"pack: {said.strip().split(': ')[-1]}", seconds, memory))

    print()
    for text, seconds, memory in figures:
        print(f"{seconds:7.1f} s {memory:7.0f} MB  {text}")
    lines = read_lines(tmp_path / "out" / "phase_10k.jsonl")
    assert len(lines) == 10_000
    wanted = {name: entry["count"] for name, entry in config["buckets"].items() if entry["count"]}
    assert Counter(row["bucket"] for row in lines) == wanted
    assert len(read_lines(tmp_path / "out" / "phase_10k_pilot.jsonl")) == 1_600
    assert json.loads((tmp_path / "out" / "MANIFEST.json").read_text())["counts"]["total"] == 10_000
    assert max(memory for _, _, memory in figures) < MOST_MEMORY_MB
    size = np.sum([path.stat().st_size for path in (tmp_path / "out").glob("*.json*")]) / 1e6
    print(f"question files, index, manifest and metadata: {size:.1f} MB")


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-s", __file__]))
