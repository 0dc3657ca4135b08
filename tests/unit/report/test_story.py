"""What became of a question, told from files written by hand as the stages write them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tir_distill.report import Places, story

SURPLUS = "surplus, another sample of the question is"
EXPLAIN = Path(__file__).resolve().parents[3] / "scripts" / "explain.py"


def lines(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in rows), "utf-8")


def table(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)


def candidate(name: str) -> dict[str, Any]:
    return {"id": name, "source": "fvqa", "bucket": "fvqa_train", "question": f"Who is {name}?"}


def sample(name: str, index: int, *fails: str, **changes: Any) -> dict[str, Any]:
    row = {
        "id": name,
        "sample_index": index,
        "turns": [{}, {}, {}],
        "searches": 2,
        "answer": "Mumbai",
        "verdict": {"correct": True, "path": "exact"},
        "accepted": not fails,
        "filter_fails": list(fails),
        "repaired_turns": [],
    }
    return row | changes


@pytest.fixture
def places(tmp_path: Path) -> Places:
    data, results, handover = tmp_path / "data", tmp_path / "results", tmp_path / "handover"
    table(data / "questions/fvqa_train.parquet", *map(candidate, ("q1", "q2", "q4", "q5")))
    lines(data / "questions/fvqa_train.rejects.jsonl", {"id": "q3", "reason": "picture_truncated", "detail": "3 bytes"})
    drop = {"id": "q2", "rule": "phash", "evaluation_set": "simplevqa", "evaluation_id": "17", "value": 4.0}
    table(data / "decontaminated/fvqa_train.drops.parquet", drop)
    table(data / "decontaminated/fvqa_train.parquet", *map(candidate, ("q1", "q4", "q5")))
    lines(
        handover / "phase_10k.jsonl",
        {"id": "q4", "priority": "P1", "phase": "full"},
        {"id": "q1", "priority": "P0", "phase": "pilot"},
    )
    shard = results / "pilot/shards/fvqa_train/0000-of-0001"
    end = {"bucket": "fvqa_train", "samples": 2, "searches_billed": 3}
    lines(
        shard.with_suffix(".questions.jsonl"),
        {"id": "q4", "status": "exhausted", "reason": "4 samples, none accepted", **end},
        {"id": "q1", "status": "accepted", "reason": "sample 1 passed every filter", **end},
    )
    lines(
        shard.with_suffix(".filtered.jsonl"),
        sample("q4", 0, "F1", "F9", verdict={"correct": False, "path": "judge"}, answer="Delhi"),
        sample("q4", 1, "judge_failed", verdict={"correct": None, "path": "judge_failed"}),
        sample("q1", 0, "surplus"),
        sample("q1", 1, repaired_turns=[1, 2]),
    )
    lineage = {"sample_index": 1}
    lines(
        results / "pilot/accepted.jsonl",
        {"id": "q1", "n_samples": 2, "licence": "Apache-2.0", "lineage": lineage},
    )
    failure = {"id": "q1", "line": 1, "check": "pictures", "reason": "missing", "detail": "a.png"}
    (results / "pilot/state").mkdir()
    (results / "pilot/state/audit_failed.json").write_text(json.dumps({"failures": [failure]}))
    lines(results / "other_run/shards/fvqa_train/0000-of-0001.filtered.jsonl", sample("q1", 0))
    lines(results / "evaluation_runs/shards/x/0000-of-0001.filtered.jsonl", sample("q1", 0))
    lines(results / "train/pilot/train.jsonl", {"id": "q9"}, {"id": "q1"}, {"id": "q1"})
    (results / "train/pilot/MIX.json").write_text("{}")
    return Places(data=data, handover=handover, results=results, run_names=("smoke", "pilot", "full"))


def told(name: str, places: Places) -> list[tuple[str, str]]:
    return [(event.stage, event.said) for event in story(name, places)]


def test_a_question_that_became_a_row(places: Places) -> None:
    assert told("q1", places) == [
        ("sources", "read from fvqa for fvqa_train: 'Who is q1?'"),
        ("decontamination", "kept: no evaluation item matches"),
        ("hand-over", "selected: line 2, P0, phase pilot"),
        ("pilot", "accepted after 2 samples, 3 searches billed: sample 1 passed every filter"),
        (
            "pilot",
            "sample 0: 3 turns, 2 searches; answer 'Mumbai' right by exact; not kept: " + SURPLUS,
        ),
        ("pilot", "sample 1: 3 turns, 2 searches; answer 'Mumbai' right by exact; kept; repaired, turns 1, 2 cut"),
        ("pilot", "row 1, from sample 1 of 2, licence Apache-2.0"),
        ("pilot", "audit: pictures failed: missing a.png"),
        ("mix pilot", "in train, line 2, 3"),
    ]


def test_questions_that_stayed_out(places: Places) -> None:
    assert told("q3", places) == [("sources", "set aside: picture_truncated (3 bytes)")]
    assert told("q2", places)[1:] == [("decontamination", "dropped: phash 4 with simplevqa 17")]
    assert told("q5", places)[1:] == [("decontamination", "kept: no evaluation item matches")]
    assert told("q4", places)[3:] == [
        ("pilot", "exhausted after 2 samples, 3 searches billed: 4 samples, none accepted"),
        ("pilot", "sample 0: 3 turns, 2 searches; answer 'Delhi' wrong by judge; not kept: F1, F9"),
        (
            "pilot",
            "sample 1: 3 turns, 2 searches; answer 'Mumbai' undecided by judge_failed; not kept: judge_failed",
        ),
    ]
    assert told("q", places) == []  # part of other ids


def test_damaged_lines_do_not_hide_the_others(places: Places) -> None:
    path = places.handover / "phase_10k.jsonl"
    path.write_bytes(b'{"id":"q1", torn\n["q1"]\n' + path.read_bytes())
    assert ("hand-over", "selected: line 4, P0, phase pilot") in told("q1", places)


def test_command(places: Places, tmp_path: Path) -> None:
    config = {"paths": {"data": str(places.data), "handover": str(places.handover), "results": str(places.results)}}
    (tmp_path / "over.json").write_text(json.dumps(config))
    command = [sys.executable, str(EXPLAIN), "--config", str(tmp_path / "over.json")]
    done = subprocess.run([*command, "q3"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "q3"
    assert said[1] == "  sources  set aside: picture_truncated (3 bytes)"
    assert said[2].strip() == str(places.data / "questions/fvqa_train.rejects.jsonl")
    done = subprocess.run([*command, "q3", "nobody"], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert "no stage knows nobody" in done.stderr
    assert "set aside" in done.stdout
