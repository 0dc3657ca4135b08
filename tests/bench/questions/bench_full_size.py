"""Sources of full size in upstream layouts to a hand-over of 10,000: time and peak memory by step. ``make bench``.

4,856 FVQA, 107,140 LiveVQA, 28,299 ChartQA, 23,059 TabMWP and 800 EvoBrowseComp rows against 4,214 evaluation items,
with small pictures. Every command runs in a process of its own, as in the workflow. Asserts the composition of seed
section 2, that exactly the planted overlaps are dropped, and a peak below 1.5 GB. TIR_BENCH_SCALE=0.05 makes it small.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from full_size_helpers import Sizes
from questions_helpers import read_lines, small_checkout
from tir_distill.config import ROOT, load
from tir_distill.records import write_json

SCALE = float(os.environ.get("TIR_BENCH_SCALE", "1"))
MOST_MEMORY_MB = 1_500


class Steps:
    """Runs commands one after the other and notes what each cost."""

    def __init__(self) -> None:
        self.worst_mb = 0.0

    def run(self, script: Path, *words: str | Path) -> str:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, script, *map(str, words)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert process.stdout is not None
        output = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert status == 0, output
        wall, memory = time.perf_counter() - started, usage.ru_maxrss / 1024
        said = output.strip().split("\n")[-1] if output.strip() else ""
        label = f"{script.stem}: {said.removeprefix(str(words[-1]))}"
        print(
            f"{wall:7.1f} s, CPU {usage.ru_utime + usage.ru_stime:7.1f} s, {memory:6.0f} MB  {label[:110]}", flush=True
        )
        self.worst_mb = max(self.worst_mb, memory)
        return output


def scaled_config(mirror: Path, sizes: Sizes) -> dict[str, Any]:
    """The default configuration on the mirror, its counts for sources of this size."""
    config = load()
    config["sources"].update(hub="mirror", mirror=str(mirror))
    wanted = {
        "fvqa_train": (sizes.fvqa - sizes.planted, sizes.of(1_000)),
        "evobrowsecomp": (2 * sizes.evo, 0),
        "livevqa_news_l2": (sizes.of(3_469), sizes.of(600)),
        "chartqa_human": (sizes.of(1_000), 0),
    }
    for name, (count, pilot) in wanted.items():
        config["buckets"][name].update(count=count, pilot=pilot)
    config["selection"]["total"] = sum(count for count, _ in wanted.values())
    return config


def test_full_size(tmp_path: Path) -> None:
    sizes, steps, scripts = Sizes(SCALE), Steps(), ROOT / "scripts"
    print(f"\nscale {SCALE:g}")
    steps.run(ROOT / "tests" / "full_size_helpers.py", tmp_path / "mirror", str(SCALE))
    steps.worst_mb = 0
    config = scaled_config(tmp_path / "mirror", sizes)
    named = tmp_path / "config.json"
    write_json(named, config)
    checkout = small_checkout(tmp_path / "checkout")
    images = tmp_path / "images"

    sources = {entry["source"] for section in ("buckets", "evaluation") for entry in config[section].values()}
    for source in sorted(sources):
        steps.run(
            scripts / "fetch_source.py", "--config", named, "--source", source, "--out", tmp_path / "sources" / source
        )
    tables = {name: tmp_path / "questions" / f"{name}.parquet" for name in config["buckets"]}
    for name, table in tables.items():
        folder = tmp_path / "sources" / config["buckets"][name]["source"]
        steps.run(scripts / "read_questions.py", "--config", named, "--bucket", name, "--source-dir", folder,
                  "--images", images, "--out", table)  # fmt: skip
    sets = {name: tmp_path / "evaluation" / f"{name}.parquet" for name in config["evaluation"]}
    for name, table in sets.items():
        folder = tmp_path / "sources" / config["evaluation"][name]["source"]
        steps.run(scripts / "read_evaluation.py", "--config", named, "--set", name, "--source-dir", folder,
                  "--out", table)  # fmt: skip
    kept = {name: tmp_path / "kept" / f"{name}.parquet" for name in tables}
    drops = {name: path.with_suffix(".drops.parquet") for name, path in kept.items()}
    for name, table in tables.items():
        steps.run(scripts / "decontaminate.py", "run", "--config", named, "--questions", table,
                  "--evaluation", *sets.values(), "--out", kept[name], "--drops", drops[name])  # fmt: skip
    selected = [name for name, entry in config["buckets"].items() if entry["count"]]
    build, out, hashes = scripts / "build_handover.py", tmp_path / "out", tmp_path / "hashes.json"
    steps.run(build, "select", "--config", named, "--buckets", *(kept[name] for name in selected),
              "--evaluation", *sets.values(), "--images", images, "--out", out)  # fmt: skip
    steps.run(build, "pictures", "--hashes", hashes, "--out", out)
    used = {config["buckets"][name]["source"] for name in selected}
    used |= {entry["source"] for entry in config["evaluation"].values()}
    locks = [tmp_path / "sources" / name / "lock.json" for name in sorted(used)]
    steps.run(build, "pack", "--config", named, "--hashes", hashes, "--scripts-root", checkout,
              "--kept", *(kept[name] for name in selected), "--drops", *(drops[name] for name in selected),
              "--counts", *(tables[name].with_suffix(".counts.json") for name in selected),
              "--evaluation", *(path.with_suffix(".counts.json") for path in sets.values()),
              "--locks", *locks, "--out", out)  # fmt: skip

    wanted = {name: config["buckets"][name]["count"] for name in selected}
    if SCALE == 1:
        assert wanted == {name: load()["buckets"][name]["count"] for name in selected}
    lines = read_lines(out / "phase_10k.jsonl")
    assert Counter(row["bucket"] for row in lines) == wanted
    pilots = Counter(row["bucket"] for row in read_lines(out / "phase_10k_pilot.jsonl"))
    assert pilots == {name: config["buckets"][name]["pilot"] for name in ("fvqa_train", "livevqa_news_l2")}
    document = json.loads((out / "MANIFEST.json").read_text())
    assert document["drops"] == {
        "jaccard": {"fvqa_test": sizes.planted_long_texts},
        "phash": {"fvqa_test": sizes.planted_test_pictures, "simplevqa": sizes.planted_simplevqa_pictures},
    }
    assert {name: entry["items"] for name, entry in document["evaluation"].items()} == sizes.evaluation
    print(f"{len(lines):,} questions; worst step {steps.worst_mb:.0f} MB")
    assert steps.worst_mb < MOST_MEMORY_MB


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-s", __file__]))
