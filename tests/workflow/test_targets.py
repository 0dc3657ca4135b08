"""The targets ``smoke`` and ``top_up`` and the choice by priority, run for real on the demo."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tir_distill.records import write_jsonl
from workflow_helpers import DemoRun

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

Overlay = Callable[[dict[str, Any]], tuple[str, ...]]


def small_run(name: str, **sections: Any) -> dict[str, Any]:
    """Overlay: one run over the pilot's questions with a ledger of its own."""
    return {
        "runs": {"demo": None, name: {"phase": "pilot", "adopt": [], "gate": None}},
        "ledger": {"url": f"sqlite:///results/{name}/ledger.sqlite"},
        "mixes": {"demo": None},
        **sections,
    }


def ends_of(demo: DemoRun, run: str) -> list[dict[str, Any]]:
    root = demo.clone.root
    paths = sorted((root / "results" / run / "shards").rglob("*.questions.jsonl"))
    return [end for path in paths for end in demo.clone.lines(str(path.relative_to(root)))]


def test_smoke_takes_one_sample_of_a_few_questions_of_each_bucket(demo: DemoRun) -> None:
    done = demo.clone.snakemake(*demo.args, "--", "smoke")
    assert done.returncode == 0, done.stdout[-4000:]
    ends = ends_of(demo, "smoke")
    questions = demo.clone.lines("results/handover_demo/phase_10k.jsonl")
    there = Counter(question["bucket"] for question in questions)
    assert Counter(end["bucket"] for end in ends) == {bucket: min(2, count) for bucket, count in there.items()}
    assert {end["samples"] for end in ends} == {1}
    stats = demo.clone.json("results/smoke/stats.json")
    assert stats["samples"] == stats["questions"]["total"] == len(ends)
    assert "Nothing to be done" in demo.clone.snakemake(*demo.args, "--", "smoke").stdout
    shutil.rmtree(demo.clone.root / "results" / "smoke")


def test_priority_samples_only_its_buckets_and_the_rest_comes_later(demo: DemoRun, overlay: Overlay) -> None:
    args = overlay(small_run("first") | {"runs": {"demo": None, "first": {"phase": "all", "adopt": [], "gate": None}}})
    done = demo.clone.snakemake(*args, "--config", "priority=P0", "--", "first")
    assert done.returncode == 0, done.stdout[-4000:]
    assert {end["bucket"] for end in ends_of(demo, "first")} == {"fvqa_train", "evobrowsecomp"}
    assert set(demo.clone.json("results/first/stats.json")["buckets"]) == {"fvqa_train", "evobrowsecomp"}
    rest = demo.clone.planned(*args, "--", "first")
    everything = demo.clone.planned(*args, "--forceall", "--", "first")
    p0_shards = len(list((demo.clone.root / "results/first/shards").rglob("*.trajectories.jsonl")))
    assert rest["sample_shard"] == everything["sample_shard"] - p0_shards
    shutil.rmtree(demo.clone.root / "results" / "first")


def test_rows_of_a_plain_file_join_a_mix_one_by_one(demo: DemoRun, overlay: Overlay) -> None:
    root, mine = demo.clone.root, {"name": "mine", "file": "mine.jsonl", "weight": 1}
    rest = {"validation_share": 0, "cap_per_source": None, "cap_per_bucket": None, "non_commercial": True}
    args = overlay({"mixes": {"demo": None, "wide": {"parts": [mine], **rest}}})
    rows = [row | {"id": f"mine_{row['id']}"} for row in demo.clone.lines("results/demo/accepted.jsonl")[:4]]
    rows[2]["images"] = ["images/nowhere.png"] * len(rows[2]["images"]) or ["images/nowhere.png"]
    rows[3]["messages"][-1]["content"] = rows[3]["messages"][-1]["content"].replace("</think>", "")
    write_jsonl(root / "mine.jsonl", rows)
    done = demo.clone.snakemake(*args)
    assert done.returncode == 0, done.stdout[-3000:]
    part = demo.clone.json("results/train/wide/MIX.json")["parts"]["mine"]
    assert part["rows"] == 2
    assert sum(part["dropped"].values()) == 2
    assert [reason for reason in part["dropped"] if reason.startswith("audit_")]
    shutil.rmtree(root / "results/train/wide")


def test_top_up_buys_only_after_a_changed_filter_and_only_once(demo: DemoRun, overlay: Overlay) -> None:
    usual = overlay(small_run("more"))
    strict = overlay(small_run("more", filters={"min_think_chars": 100_000}))
    export = ("--until", "export_run", "--", "more")
    assert demo.clone.snakemake(*usual, *export).returncode == 0
    before, paid = ends_of(demo, "more"), demo.servers.counters()
    assert demo.clone.snakemake(*usual, "--", "top_up").returncode == 0
    assert demo.servers.counters()["teacher"] == paid["teacher"], "nothing is missing by the filters of sampling"
    assert demo.clone.snakemake(*strict, *export).returncode == 0
    assert demo.servers.counters()["teacher"] == paid["teacher"], "a changed filter buys nothing by itself"
    assert demo.clone.json("results/more/stats.json")["accepted"] == 0
    bought = demo.clone.snakemake(*strict, "--", "top_up")
    assert bought.returncode == 0, bought.stdout[-4000:]
    assert demo.servers.counters()["teacher"] > paid["teacher"]
    after = ends_of(demo, "more")
    assert [end["id"] for end in after] == [end["id"] for end in before]
    assert all(new["samples"] >= old["samples"] for new, old in zip(after, before, strict=True))
    assert not any(end["status"] == "accepted" for end in after), "no sample passes these filters"
    assert demo.clone.snakemake(*strict, *export).returncode == 0
    stats = demo.clone.json("results/more/stats.json")
    assert stats["samples"] == sum(end["samples"] for end in after) > sum(end["samples"] for end in before)
    topped = demo.servers.counters()["teacher"]
    assert "Nothing to be done" in demo.clone.snakemake(*strict, "--", "top_up").stdout
    assert demo.servers.counters()["teacher"] == topped
    shutil.rmtree(demo.clone.root / "results" / "more")
