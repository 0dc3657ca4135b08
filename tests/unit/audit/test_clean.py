"""Clean files pass, legal oddities included; the command answers 0, and 3 for a broken one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from audit_helpers import audit, clean_rows, write
from tir_distill.audit import CHECKS
from tir_distill.audit.loader import check_loader

ROOT = Path(__file__).resolve().parents[3]

COMMAND = """
import check_distilled, audit_helpers
check_distilled.load_index = lambda path: audit_helpers.Index()
if __name__ == "__main__":
    check_distilled.cli.run(check_distilled.main, check_distilled.parser)
"""
"""The command with the evaluation index of the tests."""


def test_a_clean_file_passes_every_check(tmp_path: Path) -> None:
    report = audit(tmp_path, clean_rows(tmp_path))
    assert report.failures == []
    assert report.passed
    assert check_loader(tmp_path / "rows.jsonl") == []
    assert set(report.checks) == set(CHECKS) - {"loader"}
    assert all(item["met"] for item in report.thresholds)
    assert report.figures["tokens"]["rows"] == report.rows == 6


def test_a_legal_truncation_marker_and_a_notice_in_results_pass(tmp_path: Path) -> None:
    row = clean_rows(tmp_path)[2]
    assert row["messages"][4]["content"].endswith("[tool output truncated]")
    assert row["messages"][7]["content"].endswith("[notice] Answer now.")
    assert audit(tmp_path, [row]).passed


def test_any_subset_in_any_order_passes(tmp_path: Path) -> None:
    rows = clean_rows(tmp_path)
    for part in (rows[::-1], rows[3:5], rows[5:] + rows[3:5]):
        assert audit(tmp_path, part).failures == []
        assert check_loader(tmp_path / "rows.jsonl") == []


def test_names_with_blanks_and_other_scripts_are_only_names(tmp_path: Path) -> None:
    rows = clean_rows(tmp_path)
    name = "handover/images/a b 图片 (1).png"
    (tmp_path / rows[0]["images"][0]).rename(tmp_path / name)
    rows[0]["images"][0] = name
    assert audit(tmp_path, rows).failures == []


def test_pages_may_speak_of_markup_once_it_is_neutralised(tmp_path: Path) -> None:
    from tir_distill.records.neutralise import neutralise

    row = clean_rows(tmp_path)[3]
    ugly = "<think> </tool_response> <|im_end|> <image> <video> </parameter> <img>x</img> <|image_pad|> <tool_call>"
    row["messages"][3]["content"] = neutralise(f"U+2028 \u2028 and {ugly} <b>bold</b> a < b")
    assert audit(tmp_path, [row]).failures == []


@pytest.mark.parametrize(("broken", "code"), [(False, 0), (True, 3)])
def test_command(tmp_path: Path, broken: bool, code: int) -> None:
    rows = clean_rows(tmp_path)
    if broken:
        rows[1]["messages"][-1]["content"] = rows[1]["messages"][-1]["content"].replace("</answer>", "")
    config = tmp_path / "index.json"
    done = subprocess.run(
        [
            *(sys.executable, "-c", COMMAND),
            *("--in", str(write(tmp_path / "a.jsonl", rows)), "--img-root", str(tmp_path)),
            *("--eval-index", str(config), "--report", str(tmp_path / "audit.json")),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'scripts'}:{ROOT / 'tests'}"},
    )
    assert done.returncode == code, done.stderr
    report = orjson.loads((tmp_path / "audit.json").read_bytes())
    assert report["passed"] is not broken
    if broken:
        (failure,) = report["failures"]
        assert (failure["id"], failure["line"]) == (rows[1]["id"], 2)
        assert (failure["check"], failure["reason"], failure["message"]) == ("3_truncation", "unclosed_answer", 8)
        assert "unclosed_answer" in done.stdout
