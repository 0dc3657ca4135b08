"""The two commands of this room, as a user runs them."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

import gaia_official_score
import judge_fvqa_official
from filters_helpers import good
from grading_helpers import KEY, FakeJudge
from tir_distill.config import load
from tir_distill.filters import read_trajectories
from tir_distill.records import TirError, Verdict, write_jsonl

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


def run(name: str, *args: object, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / name), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, timeout=120, check=False)


def test_gaia_score_by_level(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "p.jsonl", [{"task_id": "a", "model_answer": "17.0"}, {"task_id": "b", "model_answer": "x"}])
    references: list[dict[str, Any]] = [
        {"task_id": "a", "Final answer": "17", "Level": "1"},
        {"task_id": "b", "Final answer": "a, b", "Level": 2},
        {"task_id": "c", "Final answer": "z", "Level": 1},
    ]
    write_jsonl(tmp_path / "r.jsonl", references)
    files = ("--predictions", tmp_path / "p.jsonl", "--references", tmp_path / "r.jsonl", "--out", tmp_path / "s.json")
    done = run("gaia_official_score.py", *files)
    assert done.returncode == 0, done.stderr
    assert "all: 1 of 3 right (33.33 %)" in done.stdout
    assert "level 1: 1 of 2 right (50.00 %)" in done.stdout
    assert "1 task(s) without a prediction" in done.stdout
    assert json.loads((tmp_path / "s.json").read_text())["scores"]["level 2"] == {"right": 0, "total": 1}


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ([{"task_id": "a", "answer": "17"}], 64),
        ([{"task_id": "a", "model_answer": "18", "answer": "17"}, {"task_id": "b", "answer": "3"}], 64),
        ([{"task_id": "a", "model_answer": "18", "answer": "17"}], 0),
        ([{"task_id": "a", "answer": "18", "final_answer": "17"}], 0),
    ],
)
def test_a_prediction_is_never_its_own_reference(tmp_path: Path, rows: list[dict[str, Any]], status: int) -> None:
    write_jsonl(tmp_path / "p.jsonl", rows)
    done = run("gaia_official_score.py", "--predictions", tmp_path / "p.jsonl")
    assert done.returncode == status, done.stderr
    assert ("all: 0 of 1 right" in done.stdout) is (status == 0)
    assert ("--references FILE" in done.stderr) is (status == 64)
    same = run("gaia_official_score.py", "--predictions", tmp_path / "p.jsonl", "--references", tmp_path / "p.jsonl")
    assert same.returncode == status
    (tmp_path / "r.jsonl").write_bytes((tmp_path / "p.jsonl").read_bytes())
    other = run("gaia_official_score.py", "--predictions", tmp_path / "p.jsonl", "--references", tmp_path / "r.jsonl")
    assert other.returncode == 0


def test_calibrate_and_regrade(httpserver: HTTPServer, tmp_path: Path) -> None:
    judge = FakeJudge(httpserver, lambda case, number: "<judge>Yes</judge>")
    env = {"JUDGE_URL": judge.url, "JUDGE_API_KEY": KEY}
    rows = [
        {"question": "q", "answer": "Mumbai", "response": "Bombay", "label": True},
        {"question": "q", "answer": "Mumbai", "response": "Delhi city", "label": False},
    ]
    write_jsonl(tmp_path / "labelled.jsonl", rows)
    done = run("judge_fvqa_official.py", "--calibrate", tmp_path / "labelled.jsonl", "--model", "other", **env)
    assert done.returncode == 0, done.stderr
    assert "judge other, 2 labelled rows" in done.stdout
    assert "false accept: 100.0 % (1 of 1), 95 % interval 20.7 to 100.0 %" in done.stdout
    failed = good(verdict=Verdict(correct=None, path="judge_failed"), answer="Bombay")
    write_jsonl(
        tmp_path / "raw.jsonl", [failed.to_dict(), good(verdict=Verdict(correct=False, path="judge")).to_dict()]
    )
    done = run("judge_fvqa_official.py", "--regrade", tmp_path / "raw.jsonl", "--out", tmp_path / "out.jsonl", **env)
    assert "2 samples, 1 graded again, 1 now decided" in done.stdout
    assert [t.correct for t in read_trajectories(tmp_path / "out.jsonl")] == [True, False]
    assert KEY not in done.stdout + done.stderr


def test_bad_lines_are_counted_and_set_aside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Predictions: 6 lines, of which task a comes twice, one is no JSON, one names no task, one has no answer field."""
    lines = [
        '{"task_id": "a", "model_answer": "17", "Final answer": "17", "Level": 1}',
        '{"task_id": "b", "model_answer":',
        '{"task_id": "a", "model_answer": "18", "Final answer": "17", "Level": 1}',
        '{"model_answer": "2"}',
        '{"task_id": "c", "final answer": "3"}',
        '{"task_id": "d", "model_answer": null, "Final answer": "None"}',
        '{"task_id": "e", "model_answer": "x", "Final answer": null}',
    ]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines) + "\n")
    out = tmp_path / "s.json"
    gaia_official_score.main(argparse.Namespace(predictions=path, references=None, out=out))
    assert json.loads(out.read_text()) == {
        "scores": {"all": {"right": 2, "total": 2}, "level 1": {"right": 1, "total": 1}},
        "missing": 0,
        "set_aside": {
            "predictions": {"not_json": 1, "repeated_task": 1, "no_task_id": 1, "no_answer_field": 1},
            "references": {
                "not_json": 1, "repeated_task": 1, "no_task_id": 1, "no_answer_field": 1, "no_reference": 1,
            },
        },
    }  # fmt: skip
    assert "predictions: 4 line(s) set aside (no_answer_field 1, no_task_id 1" in capsys.readouterr().out

    labelled = tmp_path / "l.jsonl"
    good_row = '{"question": "q", "answer": "Mumbai", "response": "Mumbai", "label": true}'
    labelled.write_text(f'{good_row}\nnope\n[1]\n{{"question": "q"}}\n{good_row}\n')
    given = argparse.Namespace(calibrate=labelled, cache=None, image_root=None)
    figures = asyncio.run(judge_fvqa_official.run_calibration(given, load()))
    assert (figures["rows"], figures["accuracy"]["hits"]) == (2, 2)
    assert figures["set_aside"] == {"not_json": 1, "not_an_object": 1, "bad_label": 1}
    for empty in (tmp_path / "none.jsonl", labelled):
        empty.write_text("")
        with pytest.raises(TirError, match="no tasks"):
            gaia_official_score.main(argparse.Namespace(predictions=empty, references=None, out=None))
        with pytest.raises(TirError, match="no labelled rows"):
            asyncio.run(
                judge_fvqa_official.run_calibration(argparse.Namespace(**{**vars(given), "calibrate": empty}), load())
            )


def test_bad_usage_and_bad_rows(tmp_path: Path) -> None:
    assert run("judge_fvqa_official.py").returncode == 64
    write_jsonl(tmp_path / "bad.jsonl", [{"question": "q"}])
    done = run("judge_fvqa_official.py", "--calibrate", tmp_path / "bad.jsonl")
    assert done.returncode == 1
    assert "no labelled rows; " in done.stderr
    assert "bad.jsonl:1: row 1" in done.stderr
    assert "Traceback" not in done.stderr
