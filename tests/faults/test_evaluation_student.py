"""A scripted student over real HTTP, with the real tools, sandbox, ledger and journal."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import infer_gaia_agent
from evaluation_helpers import (
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
from rollout_helpers import Asked, call, completion, essence, lines, question
from tir_distill.config import ROOT
from tir_distill.evaluation.gate_run import judge_run
from tir_distill.evaluation.metrics import metrics, summary
from tir_distill.evaluation.observed import read_observed
from tir_distill.evaluation.student import RunFolder
from tir_distill.filters import FilterSettings, evaluate
from tir_distill.records import Trajectory, read_json, write_json, write_jsonl


def without(folder: RunFolder, out: Path, *numbers: int) -> RunFolder:
    """The run as it would stand without some of its questions."""
    gone = {f"g{number:03d}" for number in numbers}
    part = RunFolder(out)
    for read, write in ((folder.trajectories, part.trajectories), (folder.questions, part.questions)):
        write_jsonl(write, [row for row in lines(read) if row["id"] not in gone])
    document = metrics(read_observed(part.trajectories), lines(part.questions), about={"model": "made-student"})
    write_json(part.metrics, document)
    return part


def test_figures_and_gate_equal_hand_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """167 questions, of which the gate sees 165 at a time: 31 searched, four drawn on, one of those with a picture.

    Right by ``Habits`` are the multiples of 5 but 100: 33 of 0 to 166. Those that 3 divides too are of level 1: 0, 15,
    ... 165. Level 2 are 10, 25, ... 160 without 100, level 3 are 5, 20, ... 155.
    """
    rows = [gaia_row(number) for number in range(167)]
    rows[163] = attached(163, "shown.png")  # drawing on a picture is no fault
    source = write_gaia(tmp_path / "gaia", rows, {"shown.png": png()})
    out = tmp_path / "student"
    with world(Habits(searching=31, drawing=range(160, 164))) as here:
        use(monkeypatch, here)
        found = infer_gaia_agent.evaluate(quick(), out=out, source=source)
        assert len(here.asked) == 31
    score, behaviour = found["score"]["official"], found["behaviour"]
    assert (found["questions"], found["not_asked"], found["model"]) == (167, {}, "made-student")
    assert {name: (share["count"], share["total"]) for name, share in score.items()} == {
        "all": (33, 167), "level 1": (12, 56), "level 2": (10, 56), "level 3": (11, 55),
    }  # fmt: skip
    assert found["score"]["guarded"]["all"]["count"] == 33
    assert behaviour["self_search"]["count"] == 31
    code = behaviour["image_code_without_picture"]
    assert (code["count"], code["total"]) == (3, 166)
    assert (behaviour["letter_answers"]["count"], behaviour["unanswered"]["count"]) == (1, 1)
    assert found["tool_errors"] == {"python error": 1}

    def decided(*left_out: int) -> list[tuple[int, bool]]:
        part = without(RunFolder(out), tmp_path / "-".join(map(str, left_out)), *left_out)
        gate = judge_run(part, quick())
        assert gate["passed"] is all(figure["passed"] for figure in gate["figures"])
        return [(figure["count"], figure["passed"]) for figure in gate["figures"]]

    assert decided(162, 164) == [(31, True), (2, True)]
    assert decided(0, 162) == [(30, False), (2, True)]
    assert decided(164, 165) == [(31, True), (3, False)]

    # the records are those of any run, and nothing that quotes a question lies outside private/
    first = Trajectory.from_dict(lines(RunFolder(out).trajectories)[0])
    assert evaluate(first, FilterSettings.from_config(quick())).accepted is first.accepted
    assert first.verdict is not None
    assert first.verdict.path == "scorer"
    outside = [path for path in out.rglob("*") if path.is_file() and "private" not in path.parts]
    assert outside
    assert not any(b"Made question" in path.read_bytes() for path in outside)


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


def speaks_in_text(asked: Asked) -> dict[str, Any]:
    """Searches, then answers: every second question right, every fourth not at all."""
    number = int(asked.question.split("Question ")[1].split("?")[0])
    if asked.turn == 0:
        query = f"about {number} for {asked.seed % 7}"
        return completion(f'<tool_call>{{"action":"search","query":"{query}"}}</tool_call>')
    return completion({0: "<answer>right</answer>", 1: "Hm."}.get(number % 4, "<answer>no</answer>"))


def test_after_a_kill_it_goes_on_and_pays_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two samples of each of 16 questions of our own format, in the text protocol; no sample is saved or added."""
    path = tmp_path / "questions.jsonl"
    write_jsonl(path, [question(n, task_type="text_search").to_dict() for n in range(20)])
    (tmp_path / "runs").mkdir()
    killed, whole = tmp_path / "runs" / "killed", tmp_path / "runs" / "whole"
    command = [
        sys.executable, str(ROOT / "scripts" / "infer_gaia_agent.py"), "--in", str(path), "--out", str(killed),
        "--limit", "16", "--n", "2", "--temperature", "0.7", "--concurrency", "3", "--text-protocol",
    ]  # fmt: skip
    with world(speaks_in_text, latency=0.03) as here:
        use(monkeypatch, here)
        here.student.keep = True
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 90
        while here.student.received < 20:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (killed / "metrics.json").exists()
        before = sum(here.student.answered.values())

        def run(out: Path) -> dict[str, Any]:
            changes = {"samples": 2, "temperature": 0.7}
            return infer_gaia_agent.evaluate(
                quick(), out=out, source=None, questions_file=path, limit=16, text_protocol=True, changes=changes
            )

        went_on = run(killed)
        # Two turns a sample, and one more where the silent answer is asked for once again; one reply of each of the
        # three conversations may have been under way when the process died.
        needed = 2 * (16 * 2 + 4)
        assert before < needed
        assert 0 <= sum(here.student.answered.values()) - needed <= 3
        assert all("tools" not in body and body["temperature"] == 0.7 for body in here.student.requests)
        assert run(whole) == went_on
    assert essence(RunFolder(killed).trajectories) == essence(RunFolder(whole).trajectories)
    found = read_json(killed / "metrics.json")
    assert found == went_on
    assert "official: all 4/16" in summary(found)
    assert (found["protocol"], found["score"]["samples"]["count"]) == ("text", 32)
    assert (found["behaviour"]["unanswered"]["count"], found["behaviour"]["self_search"]["count"]) == (4, 16)
    assert "only first 0, only second 0" in infer_gaia_agent.compare_runs(killed, whole)
