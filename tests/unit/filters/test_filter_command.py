"""``filter_shard.py`` as the workflow runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from filters_helpers import Script, good
from questions_helpers import evaluation_row, write_evaluation
from tir_distill.filters import read_trajectories
from tir_distill.questions import DecontaminationSettings, write_index
from tir_distill.records import Trajectory, write_jsonl

COMMAND = Path(__file__).resolve().parents[3] / "scripts" / "filter_shard.py"
ITEM = "In which year did the builder of the third lighthouse on the northern cape leave his last post there"


def run(folder: Path, config: str, samples: list[Trajectory], *more: object) -> subprocess.CompletedProcess[str]:
    (folder / "c.yaml").write_text(config)
    write_jsonl(folder / "raw.jsonl", [sample.to_dict() for sample in samples])
    files = ("--config", folder / "c.yaml", "--trajectories", folder / "raw.jsonl", "--out", folder / "out.jsonl")
    command = [sys.executable, str(COMMAND), *map(str, (*files, *more))]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_thresholds_of_the_configuration_decide(tmp_path: Path) -> None:
    done = run(tmp_path, "max_length: 2999\n", [good()])
    assert done.returncode == 0, done.stderr
    [sample] = read_trajectories(tmp_path / "out.jsonl")
    assert sample.filter_fails == ("F11",)
    assert "1 samples: 0 accepted, 0 repaired; dropped: F11 1" in done.stderr


def test_evaluation_text_with_the_hand_overs_index(tmp_path: Path) -> None:
    table = write_evaluation(tmp_path / "e.parquet", [evaluation_row("gaia", "g10", ITEM)])
    write_index([table], DecontaminationSettings(), tmp_path / "eval_text_index.json")
    config = f"filters: {{extra: [evaluation_text]}}\npaths: {{handover: {tmp_path}}}\n"
    script = Script().search()
    script.turn(script.an_open(text=f"# Forum\n\nSomebody asked: {ITEM}? Nobody knew."))
    done = run(tmp_path, config, [script.answer().done(), good()])
    assert done.returncode == 0, done.stderr
    leaked, clean = read_trajectories(tmp_path / "out.jsonl")
    assert leaked.filter_fails == ("evaluation_text",)
    assert clean.filter_fails in ((), ("surplus",))
    missing = run(tmp_path, config, [good()], "--eval-index", tmp_path / "none.json")
    assert missing.returncode == 1
    assert "none.json: no such file" in missing.stderr


def test_bad_line_is_one_plain_sentence(tmp_path: Path) -> None:
    done = run(tmp_path, "{}\n", [])
    assert done.returncode == 0, done.stderr
    (tmp_path / "raw.jsonl").write_text('{"id": 1}\n')
    command = [sys.executable, str(COMMAND), "--config", str(tmp_path / "c.yaml")]
    command += ["--trajectories", str(tmp_path / "raw.jsonl"), "--out", str(tmp_path / "out.jsonl")]
    again = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 1
    assert "sample 1: not a trajectory" in again.stderr
    assert "Traceback" not in again.stderr


def test_the_one_process_run_reads_the_index_beside_its_questions(tmp_path: Path) -> None:
    from tir_distill.config import load
    from tir_distill.pipeline import filter_settings

    table = write_evaluation(tmp_path / "e.parquet", [evaluation_row("gaia", "g10", ITEM)])
    write_index([table], DecontaminationSettings(), tmp_path / "eval_text_index.json")
    config = load()
    assert filter_settings(config, tmp_path / "none.json").evaluation is None
    config["filters"]["extra"] = ["evaluation_text"]
    found = filter_settings(config, tmp_path / "eval_text_index.json").evaluation
    assert found is not None
    assert found.find(f"Somebody asked: {ITEM}?") == "gaia:g10"
