"""A run's rows: one per question, a complete one first, counts that add up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from export_helpers import SETTINGS, places, row, trajectory
from tir_distill.export import complete_first, export_rows, is_complete
from tir_distill.records import Trajectory, read_jsonl, write_jsonl


def write(path: Path, samples: list[Trajectory]) -> Path:
    write_jsonl(path, [sample.to_dict() for sample in samples])
    return path


def test_counts_add_up_and_every_refusal_is_written_down(tmp_path: Path) -> None:
    good = [trajectory(tmp_path, number) for number in (1, 2, 3)]
    text = trajectory(tmp_path, 1, "evobrowsecomp")
    wrong = replace(good[0], accepted=False, sample_index=0, question=replace(good[0].question, id="q8"))
    again = replace(good[1], sample_index=7)
    bad = replace(good[2], question=replace(good[2].question, id="q9", images=("images/none.png",)))
    first = write(tmp_path / "a.jsonl", [text, wrong, good[0]])
    second = write(tmp_path / "b.jsonl", [good[1], again, bad, good[2]])
    counts = export_rows(
        [first, second],
        settings=SETTINGS,
        places=places(tmp_path),
        out=tmp_path / "accepted.jsonl",
        rejects=tmp_path / "rejects.jsonl",
    )
    assert counts.to_dict() == {
        "samples": 7,
        "not_accepted": 1,
        "duplicates": 1,
        "rows": 4,
        "rejected": {"picture_missing": 1},
    }
    rows = list(read_jsonl(tmp_path / "accepted.jsonl"))
    assert is_complete(rows[0])
    assert [item["id"] for item in rows] == ["fvqa_train_1", "evobrowsecomp_1", "fvqa_train_2", "fvqa_train_3"]
    assert [item["n_samples"] for item in rows] == [1, 1, 2, 1]
    (reject,) = read_jsonl(tmp_path / "rejects.jsonl")
    assert (reject["id"], reject["reason"]) == ("q9", "picture_missing")
    assert "none.png" in reject["detail"]


def test_a_refused_sample_leaves_its_place_to_the_next_one(tmp_path: Path) -> None:
    sample = trajectory(tmp_path, 1)
    bad = replace(sample, question=replace(sample.question, images=("images/none.png",)))
    counts = export_rows(
        [write(tmp_path / "a.jsonl", [bad, sample])],
        settings=SETTINGS,
        places=places(tmp_path),
        out=tmp_path / "accepted.jsonl",
        rejects=tmp_path / "rejects.jsonl",
    )
    assert (counts.rows, dict(counts.rejected)) == (1, {"picture_missing": 1})


def test_complete_row_first_keeps_the_order_otherwise(tmp_path: Path) -> None:
    rows = [row(tmp_path, n, "evobrowsecomp") for n in (1, 2)] + [row(tmp_path, n) for n in (3, 4)]
    assert [item["id"] for item in complete_first(rows)] == [
        "fvqa_train_3",
        "evobrowsecomp_1",
        "evobrowsecomp_2",
        "fvqa_train_4",
    ]
    only_text = rows[:2]
    assert list(complete_first(only_text)) == only_text
    assert list(complete_first([])) == []
    late = [*[rows[0]] * 4, rows[2]]
    assert list(complete_first(late, at_most=3)) == late
    assert next(complete_first(late, at_most=4)) == rows[2]
