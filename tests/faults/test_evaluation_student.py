"""A scripted student over real HTTP, with the real tools, sandbox, ledger and journal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import infer_gaia_agent
import pytest

from evaluation_helpers import (
    TOTAL,
    Habits,
    attached,
    docx,
    gaia_row,
    pdf,
    png,
    pptx,
    quick,
    use,
    world,
    write_gaia,
    xlsx,
)
from rollout_helpers import Asked, call, completion, essence, lines
from tir_distill.config import ROOT
from tir_distill.evaluation.gate_run import judge_run
from tir_distill.evaluation.student import RunFolder
from tir_distill.filters import FilterSettings, evaluate
from tir_distill.records import Trajectory, UsageError


def test_figures_equal_hand_counts_and_the_gate_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By ``Habits``: right are the multiples of 5 but 100 (32); 15 divides 11 of them, which are level 1."""
    rows = [gaia_row(number) for number in range(TOTAL)]
    rows[164] = attached(164, "shown.png")  # draws on a picture, which is no fault
    source = write_gaia(tmp_path / "gaia", rows, {"shown.png": png()})
    out = tmp_path / "student"
    with world(Habits(searching=31, drawing=3)) as here:
        use(monkeypatch, here)
        found = infer_gaia_agent.evaluate(quick(), out=out, source=source)
        assert len(here.asked) == 31
    score, behaviour = found["score"]["official"], found["behaviour"]
    assert (found["questions"], found["not_asked"], found["model"]) == (165, {}, "made-student")
    # level 2: 10, 25, ... 160 without 100; level 3: 5, 20, ... 155
    assert {name: (share["count"], share["total"]) for name, share in score.items()} == {
        "all": (32, 165), "level 1": (11, 55), "level 2": (10, 55), "level 3": (11, 55),
    }  # fmt: skip
    assert found["score"]["guarded"]["all"]["count"] == 32
    assert behaviour["self_search"]["count"] == 31
    code = behaviour["image_code_without_picture"]
    assert (code["count"], code["total"]) == (2, 164)
    assert (behaviour["letter_answers"]["count"], behaviour["unanswered"]["count"]) == (1, 1)
    assert found["tool_errors"] == {"python error": 1}
    gate = judge_run(RunFolder(out), quick())
    assert (gate["passed"], [figure["count"] for figure in gate["figures"]]) == (True, [31, 2])

    # the records are those of any run, and nothing that quotes a question lies outside private/
    first = Trajectory.from_dict(lines(RunFolder(out).trajectories)[0])
    assert evaluate(first, FilterSettings.from_config(quick())).accepted is first.accepted
    assert first.verdict is not None
    assert first.verdict.path == "scorer"
    outside = [path for path in out.rglob("*") if path.is_file() and "private" not in path.parts]
    assert outside
    assert not any(b"Made question" in path.read_bytes() for path in outside)


def test_one_search_less_and_one_drawing_more_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_gaia(tmp_path / "gaia", [gaia_row(number) for number in range(TOTAL)])
    with world(Habits(searching=30, drawing=3)) as here:
        use(monkeypatch, here)
        infer_gaia_agent.evaluate(quick(), out=tmp_path / "student", source=source)
    gate = judge_run(RunFolder(tmp_path / "student"), quick())
    assert [(figure["count"], figure["passed"]) for figure in gate["figures"]] == [(30, False), (3, False)]
    assert gate["figures"][0]["examples"] == [f"g{number:03d}" for number in range(30, 40)]
    assert gate["figures"][1]["examples"] == ["g162", "g163", "g164"]


READS = {
    "t.txt": ("print(open('t.txt').read())", "plain words"),
    "c.csv": ("import pandas; print(pandas.read_csv('c.csv').n.sum())", "42"),
    "x.xlsx": ("import pandas; print(pandas.read_csv('x_sheet1.csv'), open('x_sheet1_fills.csv').read())", "#00FF00"),
    "d.docx": ("print(open('d.txt').read())", "The owl sleeps."),
    "p.pptx": ("print(open('p.txt').read())", "Slide words 10"),
    "f.pdf": ("print(open('f.txt').read())", "A page about herons"),
    "i.png": ("print(image_1.size)", "(40, 30)"),
    "a.mp3": ("print(open('a.mp3', 'rb').read())", "b'ID3 song'"),
    "e.xlsx": ("import os; print(os.path.getsize('e.xlsx'), os.path.exists('e_sheet1.csv'))", "9 False"),
    "b.xlsx": ("import os; print(os.path.exists('b_sheet1.csv'))", "False"),
}  # fmt: skip
"""Attached file -> what a student's code does with it, what that prints."""


def attachments() -> Mapping[str, bytes]:
    bomb = xlsx(b"<worksheet>" + b" " * (40 << 20) + b"</worksheet>")
    return {
        "t.txt": b"plain words\n", "c.csv": b"n\n40\n2\n", "x.xlsx": xlsx(), "d.docx": docx(), "p.pptx": pptx(),
        "f.pdf": pdf(), "i.png": png(), "a.mp3": b"ID3 song", "e.xlsx": b"no sheets", "b.xlsx": bomb,
    }  # fmt: skip


def reads_its_file(asked: Asked) -> dict[str, Any]:
    number = int(asked.question.split("Made question ")[1].split(":")[0])
    if asked.turn == 0:
        return completion(calls=[call("python", {"code": list(READS.values())[number][0]})])
    return completion("<answer>read</answer>")


def test_every_kind_of_attachment_is_read_by_its_stated_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_gaia(tmp_path / "gaia", [attached(number, name) for number, name in enumerate(READS)], attachments())
    with world(reads_its_file) as here:
        use(monkeypatch, here)
        infer_gaia_agent.evaluate(quick(), out=tmp_path / "student", source=source)
    rows = [Trajectory.from_dict(row) for row in lines(RunFolder(tmp_path / "student").trajectories)]
    for row, (name, (_, printed)) in zip(rows, READS.items(), strict=True):
        assert printed in row.turns[0].results[0].content, name
        if not row.question.images:
            assert f"- {name}" in row.question.question
    said = {name: row.question.question for row, name in zip(rows, READS, strict=True)}
    assert 'x_sheet1.csv (sheet "Stock" as CSV)' in said["x.xlsx"]
    assert "no text could be made of it: no Office file" in said["e.xlsx"]
    assert "unpacks to more than" in said["b.xlsx"]


def start(source: Path, out: Path, env: Mapping[str, str], *flags: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(ROOT / "scripts" / "infer_gaia_agent.py"), "--gaia", str(source), "--out", str(out)]
    return subprocess.Popen([*command, *flags], env={**os.environ, **env}, cwd=out.parent, stderr=subprocess.PIPE)


def test_after_a_kill_it_goes_on_and_pays_nothing_twice(tmp_path: Path) -> None:
    flags = ("--limit", "40", "--concurrency", "3")
    source = write_gaia(tmp_path / "gaia", [gaia_row(number) for number in range(50)])
    (tmp_path / "runs").mkdir()
    killed, whole = tmp_path / "runs" / "killed", tmp_path / "runs" / "whole"
    with world(Habits(searching=20), latency=0.05) as here:
        process = start(source, killed, here.env, *flags)
        deadline = time.monotonic() + 60
        while here.student.received < 15:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (killed / "metrics.json").exists()
        before = sum(here.student.answered.values())
        again = start(source, killed, here.env, *flags)
        _, said = again.communicate(timeout=60)
        assert again.returncode == 0, said.decode()[-2000:]
        # 20 questions of two turns and 20 of one; at most one reply per conversation was under way
        assert sum(here.student.answered.values()) - 60 <= 3
        assert before < 60
        assert sum(here.asked.values()) - 20 <= 3
        calm = start(source, whole, here.env, *flags)
        assert calm.wait(timeout=60) == 0
    assert essence(RunFolder(killed).trajectories) == essence(RunFolder(whole).trajectories)
    assert (killed / "metrics.json").read_bytes() == (whole / "metrics.json").read_bytes()
    assert "only first 0, only second 0" in infer_gaia_agent.compare_runs(killed, whole)


def test_several_samples_are_taken_whatever_their_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two right, two wrong, two silent ones: three samples of each, in the text protocol, from a file of ours."""
    from rollout_helpers import question
    from tir_distill.records import write_jsonl

    def script(asked: Asked) -> dict[str, Any]:
        kind = asked.question.split()[1]
        return completion({"0?": "<answer>right</answer>", "1?": "<answer>no</answer>"}.get(kind, "Hm."))

    path = tmp_path / "questions.jsonl"
    write_jsonl(path, [question(n, task_type="text_search").to_dict() for n in range(3)])
    with world(script) as here:
        here.student.keep = True
        use(monkeypatch, here)
        found = infer_gaia_agent.evaluate(
            quick(), out=tmp_path / "s", source=None, questions_file=path, text_protocol=True,
            changes={"samples": 3, "temperature": 0.7},
        )  # fmt: skip
        assert all("tools" not in body and body["temperature"] == 0.7 for body in here.student.requests)
    assert found["score"]["samples"]["count"] == 9
    assert found["score"]["official"] == {"all": found["score"]["official"]["all"]}
    assert found["score"]["official"]["all"]["count"] == 1
    assert found["protocol"] == "text"
    with pytest.raises(UsageError, match="no question"):
        infer_gaia_agent.evaluate(quick(), out=tmp_path / "t", source=None, questions_file=Path(os.devnull))
