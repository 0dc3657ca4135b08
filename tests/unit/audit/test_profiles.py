"""Profiles, figures, the loader's dependence on order, and that one bad row never stops the others."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from audit_helpers import audit, clean_rows, python_only, settings, tokens, write
from export_helpers import SETTINGS, places, row, trajectory
from tir_distill.audit import Finding
from tir_distill.audit.findings import EXCERPTS, Book
from tir_distill.audit.loader import check_loader
from tir_distill.config import load
from tir_distill.export import to_row
from tir_distill.records import UsageError


def test_python_only_rows_pass_the_profile_made_for_them_and_no_other(tmp_path: Path) -> None:
    rows = python_only(clean_rows(tmp_path))
    report = audit(tmp_path, rows, profile="legacy_python")
    assert report.failures == []
    figures = {item["name"]: (item["value"], item["met"], item["enforced"]) for item in report.thresholds}
    assert figures["self_search_rate"] == (0.0, False, False)
    assert "licence" not in report.checks
    assert not audit(tmp_path, rows).passed


def test_uncleaned_legacy_rows_fail_with_their_figures(tmp_path: Path) -> None:
    rows = python_only(clean_rows(tmp_path))
    for item in rows[:2]:
        item["messages"][-1]["content"] = "<answer>B</answer>"
    report = audit(tmp_path, rows, profile="legacy_python")
    assert report.checks["1_thinking"]["reasons"] == {"missing_think": 2}
    assert report.checks["4_behaviour"]["reasons"] == {"letter_answer": 2, "threshold_letter_answers": 1}


def test_figures_of_check_4_by_hand(tmp_path: Path) -> None:
    rows = clean_rows(tmp_path)
    report = audit(tmp_path, rows)
    figures = {item["name"]: item["value"] for item in report.thresholds}
    # five rows are to be searched: three with a picture (two searches, one open), two without (three and one)
    assert figures["mean_searches"] == (3 * 3 + 2 * 4) / 5
    assert figures["self_search_rate"] == 1.0
    thoughts = []
    for item in rows:
        said = [m["content"] for m in item["messages"] if m["role"] == "assistant"]
        thoughts.append(sum(len(text.split("</think>")[0].removeprefix("<think>").strip()) for text in said))
    middle = sorted(thoughts)
    assert figures["median_think_chars"] == (middle[2] + middle[3]) / 2
    assert report.figures["tokens"]["total"] == sum(
        tokens().count(made, [(64, 48)] * len(item["images"])).sequence
        for made, item in zip(samples(tmp_path), rows, strict=True)
    )


def samples(root: Path) -> list:  # type: ignore[type-arg]
    from audit_helpers import sample

    names = [("fvqa_train", n) for n in range(3)] + [("evobrowsecomp", n) for n in range(2)] + [("chartqa_human", 0)]
    return [sample(root, number, bucket) for bucket, number in names]


def test_every_bad_row_is_reported_and_the_first_twenty_shown(tmp_path: Path) -> None:
    base = clean_rows(tmp_path)
    rows: list[object] = [b"{"]
    for number in range(40):
        item = copy.deepcopy(base[number % 6])
        item["id"] = f"q{number}"
        item["lineage"]["sample"] = f"q{number}#1"
        item["messages"][1]["content"] += f" {number}"
        item["messages"][6]["content"] = "No thought."
        rows.append(item)
    report = audit(tmp_path, rows)
    missing = [item for item in report.failures if item["reason"] == "missing_think"]
    assert [item["id"] for item in missing] == [f"q{number}" for number in range(40)]
    assert {item["message"] for item in missing} == {6}
    assert report.failures[0]["reason"] == "bad_json"
    assert len(report.excerpts) == EXCERPTS == 20
    assert report.excerpts[0]["excerpt"] == "No thought."
    document = report.to_dict()
    assert document["rows_failed"] == 41
    assert document["checks"]["1_thinking"]["rows_failed"] == 40
    assert "and " in report.summary()


def test_line_ends_are_line_feeds_only(tmp_path: Path) -> None:
    item = clean_rows(tmp_path)[3]
    item["messages"][3]["content"] = "one\u2028two\u0085three\u000cfour"
    report = audit(tmp_path, [item])
    assert (report.rows, report.failures) == (1, [])
    assert check_loader(tmp_path / "rows.jsonl") == []


def test_unknown_profile_and_settings_from_the_configuration() -> None:
    with pytest.raises(UsageError, match="legacy_python"):
        settings("other")
    made = settings()
    config = load()
    assert made.max_length == config["max_length"]
    assert made.min_think_chars == config["filters"]["min_think_chars"]
    assert not made.evaluation_text_fails


def test_counts_of_the_book_are_by_check_and_reason() -> None:
    book = Book()
    book.add("a", 1, [Finding(check="x", reason="r"), Finding(check="x", reason="r"), Finding(check="x", reason="s")])
    book.add("b", 2, [Finding(check="x", reason="r")], warning=True)
    assert book.table(["x", "y"]) == {
        "x": {"rows_failed": 1, "reasons": {"r": 2, "s": 1}},
        "y": {"rows_failed": 0, "reasons": {}},
    }
    assert [item["id"] for item in book.warnings] == ["b"]


@pytest.mark.slow
def test_order_that_breaks_a_reader_is_found(tmp_path: Path) -> None:
    """12 MB of rows without pictures in front of one with: the first block types the column as null."""
    plain = row(tmp_path, 1, "evobrowsecomp")
    plain["messages"][3]["content"] = "page " * 8000
    full = to_row(trajectory(tmp_path, 3), places=places(tmp_path), settings=SETTINGS, n_samples=1)
    many = [{**plain, "id": str(number)} for number in range(300)]
    bad = write(tmp_path / "bad.jsonl", [*many, full])
    assert {(item.check, item.reason) for item in check_loader(bad)} >= {("loader", "datasets"), ("loader", "pyarrow")}
    assert check_loader(write(tmp_path / "good.jsonl", [full, *many])) == []


def test_rows_without_calls_may_come_first(tmp_path: Path) -> None:
    rows = clean_rows(tmp_path)
    quiet = rows[5]
    quiet["messages"] = [*quiet["messages"][:2], quiet["messages"][8]]
    quiet["images"] = quiet["images"][:1]
    assert check_loader(write(tmp_path / "rows.jsonl", [quiet] * 40 + rows[:3])) == []
