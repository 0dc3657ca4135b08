"""The command that joins a run: what it writes for good, empty and spoiled shards, and how it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

import export_run
from export_helpers import trajectory
from tir_distill.records import Trajectory, read_json, read_jsonl, write_jsonl

FILES = {"accepted.jsonl", "rejects.jsonl", "trajectories_raw.jsonl", "stats.json", "search_cache.jsonl"}


def shard(folder: Path, name: str, samples: Sequence[Trajectory], raw: Sequence[Trajectory] | None = None) -> Path:
    """The three files of a shard; ``raw`` are the samples before the filters, the same if not given."""
    folder.mkdir(parents=True, exist_ok=True)
    filtered = folder / f"{name}.filtered.jsonl"
    write_jsonl(filtered, [sample.to_dict() for sample in samples])
    write_jsonl(folder / f"{name}.trajectories.jsonl", [sample.to_dict() for sample in (raw or samples)])
    questions: dict[str, dict[str, Any]] = {}
    for sample in samples:
        state = {"status": "accepted" if sample.accepted else "exhausted", "reason": "", "searches_billed": 1}
        questions[sample.question.id] = {
            **{"id": sample.question.id, "bucket": sample.question.bucket, "samples": 1},
            **{"accepted_sample": sample.sample_index if sample.accepted else None, **state},
        }
    write_jsonl(folder / f"{name}.questions.jsonl", list(questions.values()))
    return filtered


def refused(sample: Trajectory) -> Trajectory:
    return replace(sample, accepted=False, filter_fails=("F3",))


class Run:
    """A run folder whose pictures and shards lie below one root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "run"
        self.config = root / "config.json"
        self.config.write_bytes(orjson.dumps({"paths": {"state": str(root / "state")}}))

    def __call__(self, *shards: Path, img_root: Path | None = None) -> int:
        arguments = ["--config", self.config, "--run", "demo", "--run-dir", self.folder, "--row-root", self.root]
        arguments += ["--img-root", img_root or self.root / "handover", "--shards", *shards]
        with pytest.raises(SystemExit) as left:
            export_run.cli.run(export_run.main, export_run.parser, [str(item) for item in arguments])
        return int(left.value.code or 0)

    def rows(self, name: str) -> list[dict[str, Any]]:
        return list(read_jsonl(self.folder / name))

    @property
    def stats(self) -> dict[str, Any]:
        found: dict[str, Any] = read_json(self.folder / "stats.json")
        return found


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(export_run.cli, "setup_logging", lambda: None)  # the test runner has its own
    return Run(tmp_path)


def test_a_good_run_with_an_empty_shard(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, first = trajectory(tmp_path, 1, "evobrowsecomp"), trajectory(tmp_path, 1)
    second, last = refused(trajectory(tmp_path, 2)), trajectory(tmp_path, 3)
    shards = [
        shard(run.folder / "shards/fvqa_train", "0000-of-0003", [text, first]),
        shard(run.folder / "shards/fvqa_train", "0001-of-0003", []),
        shard(run.folder / "shards/fvqa_train", "0002-of-0003", [second, last]),
    ]
    assert run(*shards) == 0
    assert {path.name for path in run.folder.iterdir()} >= FILES
    rows = run.rows("accepted.jsonl")
    assert [row["id"] for row in rows] == [first.question.id, text.question.id, last.question.id]
    assert rows[0]["images"][0] == f"handover/images/fvqa_train/{first.question.id}.png"
    assert [Trajectory.from_dict(line).key for line in run.rows("trajectories_raw.jsonl")] == [
        item.key for item in (text, first, second, last)
    ]
    assert run.rows("rejects.jsonl") == []
    expected = {"samples": 4, "not_accepted": 1, "duplicates": 0, "rows": 3, "rejected": {}}
    assert run.stats["export"] == expected
    assert run.stats["questions"]["total"] == 4
    assert "4 samples, 3 accepted" in capsys.readouterr().out
    before = (run.folder / "accepted.jsonl").read_bytes()
    assert run(*shards) == 0
    assert (run.folder / "accepted.jsonl").read_bytes() == before


def test_nothing_accepted_and_nothing_at_all_are_results_too(run: Run, tmp_path: Path) -> None:
    shards = [
        shard(run.folder / "shards", "0000-of-0001", [refused(trajectory(tmp_path, number)) for number in (1, 2)])
    ]
    assert run(*shards) == 0
    assert run.rows("accepted.jsonl") == []
    assert (run.stats["samples"], run.stats["accepted"], run.stats["export"]["rows"]) == (2, 0, 0)
    assert run(shard(run.folder / "shards", "0000-of-0001", [])) == 0
    assert (run.folder / "accepted.jsonl").read_bytes() == b""
    assert run.stats["export"] == {"samples": 0, "not_accepted": 0, "duplicates": 0, "rows": 0, "rejected": {}}


def test_what_cannot_be_exported_is_counted_under_its_reason(run: Run, tmp_path: Path) -> None:
    good, gone, out = (trajectory(tmp_path, number) for number in (1, 2, 3))
    tagged, other = trajectory(tmp_path, 4), trajectory(tmp_path, 5)
    (tmp_path / "handover" / gone.question.images[0]).unlink()
    out = replace(out, question=replace(out.question, images=("../run/shards/x.png",)))
    turn = replace(tagged.turns[-1], thinking=f"{tagged.turns[-1].thinking} <|im_end|>")
    tagged = replace(tagged, turns=(*tagged.turns[:-1], turn))
    twice = replace(other.turns[-1], content="<answer>Mumbai</answer> <answer>Pune</answer>")
    other = replace(other, turns=(*other.turns[:-1], twice))
    assert run(shard(run.folder / "shards", "0000-of-0001", [good, gone, out, tagged, other])) == 0
    reasons = {"picture_missing": 1, "picture_outside_root": 1, "markup_in_text": 1, "two_answers": 1}
    assert run.stats["export"] == {
        **{"samples": 5, "not_accepted": 0, "duplicates": 0, "rows": 1},
        "rejected": dict(sorted(reasons.items())),
    }
    rejects = {line["id"]: line for line in run.rows("rejects.jsonl")}
    assert {key: line["reason"] for key, line in rejects.items()} == {
        gone.question.id: "picture_missing",
        out.question.id: "picture_outside_root",
        tagged.question.id: "markup_in_text",
        other.question.id: "two_answers",
    }
    assert gone.question.images[0] in rejects[gone.question.id]["detail"]
    assert [row["id"] for row in run.rows("accepted.jsonl")] == [good.question.id]


def test_a_folder_outside_the_root_is_bad_usage_and_nothing_is_written(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards = [shard(run.folder / "shards", "0000-of-0001", [trajectory(tmp_path, 1)])]
    outside = tmp_path.parent / f"{tmp_path.name}_handover"
    assert run(*shards, img_root=outside) == 64
    assert f"{outside} is not inside {tmp_path}" in capsys.readouterr().err
    assert not (run.folder / "accepted.jsonl").exists()


def test_files_that_are_no_shards_or_do_not_match_stop_the_command(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = trajectory(tmp_path, 1), trajectory(tmp_path, 2)
    path = shard(run.folder / "shards", "0000-of-0001", [one])
    assert run(path.with_name("0000-of-0001.trajectories.jsonl")) == 1
    assert ".filtered.jsonl" in capsys.readouterr().err
    assert run(shard(run.folder / "shards", "0000-of-0001", [one], raw=[two])) == 1
    assert "filter it again" in capsys.readouterr().err
    assert not (run.folder / "stats.json").exists()
