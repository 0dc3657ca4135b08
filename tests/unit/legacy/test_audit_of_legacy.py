"""Converted rows under the audit: the figures of seed section 11 before cleaning, a passed file after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import legacy_helpers as made
from questions_helpers import evaluation_row, write_evaluation
from tir_distill.config import ROOT
from tir_distill.questions import DecontaminationSettings, write_index
from tir_distill.records import read_json, write_jsonl

ITEM = "In which year did the builder of the third lighthouse on the northern cape leave his last post there"


def run(script: str, *arguments: object) -> int:
    return subprocess.run([sys.executable, ROOT / "scripts" / script, *map(str, arguments)], check=False).returncode


def audit(rows: Path, index: Path) -> tuple[int, dict[str, Any]]:
    report = rows.with_suffix(".audit.json")
    code = run(
        "check_distilled.py", "--in", rows, "--img-root", rows.parent, "--profile", "legacy_python",
        "--eval-index", index, "--report", report,
    )  # fmt: skip
    return code, read_json(report)


@pytest.mark.slow
def test_the_audit_says_what_the_seed_says_and_passes_what_was_cleaned(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", made.rows(pictures=True))
    table = write_evaluation(tmp_path / "e.parquet", [evaluation_row("gaia", "g1", ITEM)])
    write_index([table], DecontaminationSettings(), tmp_path / "index.json")
    assert run("convert_tir_to_native.py", "--in", tmp_path / "in.jsonl", "--out", tmp_path / "native.jsonl") == 0
    code, report = audit(tmp_path / "native.jsonl", tmp_path / "index.json")
    assert code == 3
    assert report["rows"] == 24_508
    figures = {item["name"]: item["value"] for item in report["thresholds"]}
    assert report["checks"]["1_thinking"]["rows_failed"] == 17_828
    assert figures["letter_answers"] == 9_085
    assert figures["self_search_rate"] == figures["mean_searches"] == 0

    assert run("clean_legacy.py", "--in", tmp_path / "native.jsonl", "--out", tmp_path / "clean.jsonl") == 0
    code, report = audit(tmp_path / "clean.jsonl", tmp_path / "index.json")
    assert report["failures"] == []
    assert code == 0
    assert report["rows"] == 24_508 - 17_828
