from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pilot_gate
from rollout_helpers import question, settings
from tir_distill.evaluation.gate_run import judge_run, open_gate, write_gate
from tir_distill.evaluation.student import RunFolder
from tir_distill.records import AuditFailed, ExitCode, TirError, ToolCall, ToolResult, Trajectory, Turn, UsageError
from tir_distill.records.jsonl import read_json, write_json, write_jsonl


def answered(number: int, *, search: bool, draw: bool, picture: bool = False) -> Trajectory:
    calls = []
    if search:
        calls.append(ToolCall(id="a", name="search", arguments='{"query":"x"}'))
    if draw:
        calls.append(ToolCall(id="b", name="python", arguments='{"code":"from PIL import Image"}'))
    results = tuple(ToolResult(call_id=call.id, name=call.name, status="ok", content="") for call in calls)
    asked = question(f"{number:03d}", task_type="image_search" if picture else "text_search")
    return Trajectory(
        question=replace(asked, images=("images/a.png",) if picture else ()), sample_index=0, fingerprint="f", seed=1,
        teacher="s", protocol="native", system="", tools=(),
        turns=(Turn(index=0, thinking="", content="", calls=tuple(calls), results=results),), stop="answer", answer="x",
    )  # fmt: skip


def run_with(root: Path, searching: int, drawing: int, *, total: int = 165, lost: int = 0) -> RunFolder:
    """A finished run of ``total`` questions; the last ``lost`` could not be asked."""
    folder = RunFolder(root)
    rows = [answered(n, search=n < searching, draw=n >= total - lost - drawing) for n in range(total - lost)]
    if total - lost > 80:
        rows[70] = answered(70, search=searching > 70, draw=True, picture=True)
    write_jsonl(folder.trajectories, rows)
    write_jsonl(folder.questions, [{"id": f"q{n:03d}", "status": "exhausted"} for n in range(total)])
    write_json(folder.metrics, {"model": "m", "questions": total})
    return folder


@pytest.mark.parametrize(
    ("searching", "drawing", "passed"), [(31, 2, True), (30, 2, False), (31, 3, False), (165, 0, True)]
)
def test_the_gate_is_on_the_right_side_of_both_thresholds(
    tmp_path: Path, searching: int, drawing: int, passed: bool
) -> None:
    document = judge_run(run_with(tmp_path, searching, drawing), settings())
    assert document["passed"] is passed
    assert [figure["count"] for figure in document["figures"]] == [searching, drawing]


def test_a_question_that_was_not_asked_gains_nothing(tmp_path: Path) -> None:
    document = judge_run(run_with(tmp_path, 30, 0, lost=40), settings())
    assert document["questions"] == 165
    assert document["passed"] is False


def test_part_of_the_set_decides_nothing(tmp_path: Path) -> None:
    with pytest.raises(TirError, match="20 questions, but the gate's thresholds are counts out of"):
        judge_run(run_with(tmp_path, 20, 0, total=20), settings())


def test_a_failed_gate_is_exit_3_with_figure_and_ten_questions(tmp_path: Path) -> None:
    out = tmp_path / "pilot" / "pilot_gate.json"
    write_gate(judge_run(run_with(tmp_path / "good", 31, 2), settings()), out)
    assert read_json(out)["passed"] is True
    with pytest.raises(AuditFailed) as caught:
        write_gate(judge_run(run_with(tmp_path / "bad", 30, 2), settings()), out)
    assert caught.value.exit_code == ExitCode.AUDIT_FAILED
    names = ", ".join(f"q{n:03d}" for n in range(30, 40))
    assert f"self_search is 30 of 165, wanted > 30; for example {names}" in str(caught.value)
    assert "image_code" not in str(caught.value)
    assert not out.exists()
    assert read_json(tmp_path / "pilot" / "state" / "gate_failed.json")["passed"] is False


def test_nothing_done_is_a_failed_gate_and_pictures_may_be_everywhere_or_nowhere(tmp_path: Path) -> None:
    """All 165 lost: an empty trajectory file. Then 165 questions of which each has a picture, or none has."""
    lost = judge_run(run_with(tmp_path / "lost", 0, 0, lost=165), settings())
    assert [(f["count"], f["passed"], f["without_sample"]) for f in lost["figures"]] == [
        (0, False, 0),
        (165, False, 165),
    ]
    for picture, wrong in ((True, 0), (False, 165)):
        folder = run_with(tmp_path / str(picture), 0, 0)
        drawn = [answered(n, search=True, draw=True, picture=picture) for n in range(165)]
        write_jsonl(folder.trajectories, [*drawn, *drawn[:40]])  # a sample that stands there twice counts once
        assert [f["count"] for f in judge_run(folder, settings())["figures"]] == [165, wrong]


@pytest.mark.parametrize("total", [0, 1, 164, 166])
def test_any_other_number_of_questions_is_refused(tmp_path: Path, total: int) -> None:
    with pytest.raises(TirError, match=rf"{total} questions, but the gate's thresholds are counts out of .* = 165"):
        judge_run(run_with(tmp_path, total, 0, total=total), settings())


@pytest.mark.parametrize(("lost", "passed"), [(2, True), (3, False), (130, False)])
def test_questions_without_a_sample_count_against_the_gate(tmp_path: Path, lost: int, passed: bool) -> None:
    """Each might have been a question with picture code: 2 are below the limit of 3, 3 are not."""
    document = judge_run(run_with(tmp_path, 35, 0, lost=lost), settings())
    assert (document["passed"], document["questions"], document["with_sample"]) == (passed, 165, 165 - lost)
    assert document["figures"][1]["count"] == document["figures"][1]["without_sample"] == lost
    if not passed:
        with pytest.raises(
            AuditFailed, match=rf"is {lost} of 165, wanted < 3 \({lost} of them have no sample and count"
        ):
            write_gate(document, tmp_path / "pilot_gate.json")


def test_rows_of_the_set_that_were_never_asked_count_against_the_gate(tmp_path: Path) -> None:
    """35 questions were asked and answered; metrics.json says that the set has 165."""
    folder = run_with(tmp_path, 35, 0, total=35)
    write_json(folder.metrics, {"model": "m", "questions": 165})
    document = judge_run(folder, settings())
    assert [(f["count"], f["passed"]) for f in document["figures"]] == [(35, True), (130, False)]


def test_samples_of_other_questions_and_other_totals_are_refused(tmp_path: Path) -> None:
    folder = run_with(tmp_path / "a", 35, 0, total=165)
    write_jsonl(folder.questions, [{"id": f"q{n:03d}"} for n in range(160)] + [{"id": f"x{n}"} for n in range(5)])
    with pytest.raises(TirError, match=r"5 samples of questions that .* does not name \(first: q160\)"):
        judge_run(folder, settings())
    folder = run_with(tmp_path / "b", 35, 0, total=165)
    write_json(folder.metrics, {"model": "m", "questions": 164})
    with pytest.raises(TirError, match=r"speaks of 164 questions, questions_done\.jsonl of 165"):
        judge_run(folder, settings())


@pytest.mark.parametrize(
    "about",
    [
        [],
        None,
        {"questions": 165},
        {"model": "m"},
        *({"model": "m", "questions": n} for n in (None, "165", 164.9, True, -1)),
    ],
)
def test_damaged_metrics_are_one_line(tmp_path: Path, about: Any) -> None:
    folder = run_with(tmp_path, 35, 0)
    write_json(folder.metrics, about)
    with pytest.raises(TirError, match=r"metrics\.json: expected 'model' and 'questions'"):
        judge_run(folder, settings())


@pytest.mark.parametrize("line", [{"status": "x"}, {"id": 5}, {"id": None}])
def test_a_question_line_without_an_id_is_one_line(tmp_path: Path, line: dict[str, Any]) -> None:
    folder = run_with(tmp_path, 35, 0)
    write_jsonl(folder.questions, [{"id": f"q{n:03d}"} for n in range(164)] + [line])
    with pytest.raises(TirError, match="question 165 has no id"):
        judge_run(folder, settings())


@pytest.mark.parametrize("line", ['{"question": 5}', '{"question": {"id": "q"}}', "{}"])
def test_a_line_that_is_no_trajectory_is_one_line(tmp_path: Path, line: str) -> None:
    folder = run_with(tmp_path, 35, 0)
    with folder.trajectories.open("a") as handle:
        handle.write(line + "\n")
    with pytest.raises(TirError, match=r"trajectories\.jsonl:166: no trajectory"):
        judge_run(folder, settings())


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_an_override_needs_a_reason(tmp_path: Path, reason: str) -> None:
    gate = tmp_path / "pilot_gate.json"
    write_json(gate, {"passed": True, "model": "m", "figures": []})
    with pytest.raises(UsageError, match="override is empty"):
        open_gate("full", "pilot", gate, reason)


def test_only_a_run_with_a_gate_is_opened(tmp_path: Path) -> None:
    for name in ("pilot", "nosuch"):
        given = pilot_gate.parser.parse_args(["open", "--run", name, "--out", str(tmp_path / "g.json")])
        with pytest.raises(UsageError, match=f"--run {name}: no run that waits for a gate; those are full"):
            pilot_gate.main(given)


def refused(gate: Path | None) -> str:
    with pytest.raises(AuditFailed) as caught:
        open_gate("full", "pilot", gate, None)
    return str(caught.value)


def test_a_run_starts_by_a_passed_gate_or_by_a_reason(tmp_path: Path) -> None:
    gate = tmp_path / "pilot_gate.json"
    words = refused(gate)
    assert words.startswith("run 'full' is refused")
    assert "gate.override" in words
    names = ("self_search", "image_code_without_picture")
    document: dict[str, Any] = {"passed": False, "model": "m", "figures": [{"name": n, "passed": True} for n in names]}
    write_json(gate, document)
    assert "was not passed" in refused(gate)
    write_json(gate, {**document, "passed": True})
    assert open_gate("full", "pilot", gate, None)["by"] == "passed"
    assert open_gate("full", "pilot", None, "the deadline") == {
        "run": "full", "gate": "pilot", "by": "override", "reason": "the deadline",
    }  # fmt: skip


GOOD = [{"name": "self_search", "passed": True}, {"name": "image_code_without_picture", "passed": True}]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "is not a document that"),
        (None, "is not a document that"),
        ({"passed": True}, "is not a document that"),
        ({"passed": True, "model": "m", "figures": []}, "must name a model and the figures"),
        ({"passed": True, "model": "m", "figures": GOOD[:1]}, "must name a model and the figures"),
        ({"passed": True, "model": "m", "figures": [*GOOD, 5]}, "must name a model and the figures"),
        ({"passed": True, "figures": GOOD}, "must name a model and the figures"),
        ({"passed": 1, "model": "m", "figures": GOOD}, "was not passed"),
        ({"passed": "true", "model": "m", "figures": GOOD}, "was not passed"),
        (
            {"passed": True, "model": "m", "figures": [{"name": "self_search", "passed": False}, GOOD[1]]},
            "says that it was passed, but self_search was not",
        ),
    ],
)
def test_a_gate_file_that_does_not_say_passed_throughout_opens_nothing(
    tmp_path: Path, document: Any, words: str
) -> None:
    write_json(tmp_path / "pilot_gate.json", document)
    assert words in refused(tmp_path / "pilot_gate.json")
