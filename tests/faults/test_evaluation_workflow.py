"""The gate as Snakemake sees it: refused without one, passed, overridden, and the hook where there is no GPU.

Short runs in a clone: what earlier stages would make is put there by hand, and only the rules at hand may run.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout_helpers import question
from tir_distill.evaluation.student import RunFolder
from tir_distill.records import ToolCall, ToolResult, Trajectory, Turn
from tir_distill.records.jsonl import write_json, write_jsonl
from warm_snakemake import WarmClone
from workflow_helpers import Clone, copy_project, jobs_in

pytestmark = pytest.mark.workflow

OVERLAY: dict[str, Any] = {
    "runs": {
        "pilot": {"phase": "pilot", "adopt": [], "gate": None},
        "full": {"phase": "all", "adopt": ["pilot"], "gate": "pilot"},
        "demo": None,
    },
    "mixes": {"demo": None, "full": None},
    "demo": {"draw": True, "serve": False, "corpus_from_questions": False},
}
SHARD = "results/full/shards/fvqa_train/0000-of-0003.trajectories.jsonl"
OF_THE_GATE = ("--allowed-rules", "sample_shard", "open_gate", "judge_student")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    root = copy_project(tmp_path_factory.mktemp("gate"))
    (root / "config" / "gated.yaml").write_text(yaml.safe_dump(OVERLAY))
    hidden = tmp_path_factory.mktemp("bin")  # no GPU, whatever this machine has
    (hidden / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    (hidden / "nvidia-smi").chmod(0o755)
    made = WarmClone(root, {"PATH": f"{hidden}{os.pathsep}{os.environ['PATH']}"})
    for path in (
        "results/handover_demo/phase_10k.jsonl",
        "results/handover_demo/eval_text_index.json",
        "results/demo/state/chat_template/qwen3_5_think.jinja",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    write_json(root / "results" / "train" / "pilot" / "MIX.json", {"made": "by hand"})
    return made


def configured(clone: Clone, **over: Any) -> tuple[str, ...]:
    path = clone.root / "config" / "over.yaml"
    path.write_text(yaml.safe_dump(over or {"seed": 20261012}))
    return ("--configfile", "config/demo.yaml", "config/gated.yaml", "config/over.yaml")


def student_run(root: Path, searching: int) -> None:
    """A student's finished run over 165 questions."""
    folder = RunFolder(root / "results" / "evaluation_runs" / "pilot")
    asked = ToolCall(id="a", name="search", arguments='{"query":"x"}')
    given = ToolResult(call_id="a", name="search", status="ok", content="")
    rows = [
        Trajectory(
            question=question(f"{n:03d}", task_type="text_search"), sample_index=0, fingerprint="f", seed=1,
            teacher="s", protocol="native", system="", tools=(), stop="answer", answer="x",
            turns=(Turn(index=0, thinking="", content="", calls=(asked,), results=(given,)),)
            if n < searching else (Turn(index=0, thinking="", content=""),),
        )
        for n in range(165)
    ]  # fmt: skip
    write_jsonl(folder.trajectories, rows)
    write_jsonl(folder.questions, [{"id": f"q{n:03d}", "status": "exhausted"} for n in range(165)])
    write_json(folder.metrics, {"model": "s", "questions": 165})


def test_full_waits_for_the_gate(clone: Clone) -> None:
    waits = clone.planned("full", *configured(clone))
    for rule in ("open_gate", "judge_student", "evaluate_student", "train_student", "build_mix"):
        assert waits[rule] == 1, rule


def test_without_a_gpu_the_student_target_says_what_to_run(clone: Clone) -> None:
    done = clone.snakemake(
        "pilot_gate", "--allowed-rules", "pilot_gate", "train_student", "evaluate_student",
        "judge_student", "fetch_source", "draw_demo_sources", *configured(clone),
    )  # fmt: skip
    assert done.returncode == 2, done.stdout[-3000:]
    for words in ("student_not_trained", "results/train/pilot/sft.sh", "results/pilot/student.json", "mix_sha256"):
        assert words in done.stdout, words
    assert not (clone.root / "results/pilot/student.json").exists()


def test_full_is_refused_by_a_failed_gate_and_starts_after_a_passed_one(clone: Clone) -> None:
    student_run(clone.root, searching=30)
    refused = clone.snakemake(SHARD, *OF_THE_GATE, *configured(clone))
    assert refused.returncode == 3, refused.stdout[-3000:]
    assert "pilot: the gate is not passed (self_search is 30, wanted > 30)" in refused.stdout
    assert not (clone.root / "results/full").exists() or not (clone.root / "results/full/state").exists()
    failed = clone.json("results/pilot/state/gate_failed.json")
    assert failed["figures"][0]["examples"][:2] == ["q030", "q031"]

    student_run(clone.root, searching=31)
    passed = clone.snakemake("results/full/gate.json", *OF_THE_GATE, *configured(clone))
    assert passed.returncode == 0, passed.stdout[-3000:]
    paper = clone.json("results/full/gate.json")
    assert (paper["by"], paper["gate"], paper["figures"][0]["count"]) == ("passed", "pilot", 31)
    assert clone.json("results/pilot/pilot_gate.json")["passed"] is True


def test_an_override_replaces_the_gate_and_is_written_into_the_runs_manifest(clone: Clone) -> None:
    """The plan is the whole of it: only ``open_gate`` runs, though everything before the gate is allowed to."""
    for path in ("pilot_gate.json", "../evaluation_runs/pilot/metrics.json"):
        (clone.root / "results/pilot" / path).unlink(missing_ok=True)
    done = clone.snakemake("results/full/gate.json", *configured(clone, gate={"override": "the deadline"}))
    assert done.returncode == 0, done.stdout[-3000:]
    assert set(jobs_in(done.stdout)) == {"open_gate"}
    paper = json.loads((clone.root / "results/full/gate.json").read_text())
    assert paper == {"run": "full", "gate": "pilot", "by": "override", "reason": "the deadline"}


def test_filtering_waits_for_the_evaluation_index_only_with_its_rule(clone: Clone) -> None:
    """A sampled shard stands there. Off: filtered as it is; on: not without the index of the hand-over."""
    shard = clone.root / "results/pilot/shards/fvqa_train/0000-of-0003.trajectories.jsonl"
    shard.parent.mkdir(parents=True, exist_ok=True)
    shard.touch()
    target = str(shard.relative_to(clone.root)).replace("trajectories", "filtered")
    index = "results/handover_demo/eval_text_index.json"
    (clone.root / index).unlink(missing_ok=True)
    only = ("-n", target, "--allowed-rules", "filter_shard")
    off = clone.snakemake(*only, *configured(clone))
    assert off.returncode == 0, off.stdout[-3000:]
    assert set(jobs_in(off.stdout)) == {"filter_shard"}
    assert index not in off.stdout
    on = clone.snakemake(*only, *configured(clone, filters={"extra": ["evaluation_text"]}))
    assert on.returncode == 1, on.stdout[-3000:]
    assert re.search(rf"MissingInputException in rule filter_shard(?s:.*){index}", on.stdout), on.stdout[-3000:]
    (clone.root / index).touch()
    assert clone.planned(*only, *configured(clone, filters={"extra": ["evaluation_text"]})) == {"filter_shard": 1}
