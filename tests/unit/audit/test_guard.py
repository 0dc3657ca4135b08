"""What no check foresaw becomes a finding of its row, and the other rows are read on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_helpers import Row, audit, clean_rows
from tir_distill.audit import behaviour, conversation, pictures, rendering, shape
from tir_distill.audit.findings import Book, Finding, guarded

PLACES: dict[str, tuple[Any, str]] = {
    "shape": (shape, "_fields"),
    "conversation": (conversation, "_roles"),
    "figures": (behaviour, "is_letter"),
    "rendering": (rendering, "row_messages"),
    "pictures": (pictures, "image_tokens"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_check_that_breaks_off_is_a_finding_of_every_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rows = copy.deepcopy(clean_rows(tmp_path))

    def broken(*_: object) -> object:
        raise KeyError("nobody thought of this")

    monkeypatch.setattr(*PLACES[name], broken)
    report = audit(tmp_path, rows)
    said = {
        (item["line"], item["reason"]): item["detail"]
        for item in report.failures
        if item["reason"] in ("unreadable_row", "damaged")
    }
    hit = range(1, 7) if name != "pictures" else (1, 2, 3, 6)  # rows 4 and 5 have no pictures
    reason = "damaged" if name == "pictures" else "unreadable_row"
    assert set(said) == {(line, reason) for line in hit}
    assert all("KeyError" in detail and "nobody thought of this" in detail for detail in said.values())
    assert report.rows == 6


def test_findings_before_the_break_are_kept() -> None:
    def check() -> Iterator[Finding]:
        yield Finding(check="x", reason="r")
        raise TypeError("unhashable")

    book = Book()
    assert book.add("a", 1, check()) == 2
    assert [item["reason"] for item in book.failures] == ["r", "unreadable_row"]
    assert book.failures[1]["detail"] == "TypeError: unhashable"


@pytest.mark.parametrize("error", [RecursionError, MemoryError, KeyboardInterrupt])
def test_what_is_no_matter_of_a_row_goes_on_up(error: type[BaseException]) -> None:
    def check() -> Iterator[Finding]:
        raise error
        yield

    with pytest.raises(error):
        list(guarded(check()))


def many(base: list[Row], answers: list[str]) -> list[Row]:
    """Sixty rows whose replies answer in turn what is given."""
    rows = []
    for number in range(60):
        row = copy.deepcopy(base[number % len(base)])
        row["id"] = f"q{number}"
        row["lineage"].update(sample=f"q{number}#1", fingerprint=f"{number:064x}")
        row["messages"][1]["content"] += f" {number}"
        said = row["messages"][8]["content"]
        row["messages"][8]["content"] = said.replace("Mumbai", answers[number % len(answers)])
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    ("answers", "share", "passed"),
    [
        (["Mumbai", "the city of Ｍｕｍｂａｉ", "Bombay"], 2 / 3, True),
        (["Bombay", "孟买", "Mumbai."], 1 / 3, True),
        (["Delhi", "1932", "a stone bridge"], 0.0, False),
    ],
)
def test_answers_that_slipped_against_their_references(
    tmp_path: Path, answers: list[str], share: float, passed: bool
) -> None:
    report = audit(tmp_path, many(clean_rows(tmp_path), answers), tokens=None)
    figures = {item["name"]: item for item in report.thresholds}
    assert figures["answers_as_reference"]["value"] == pytest.approx(share)
    slipped = [item for item in report.failures if item["reason"] == "threshold_answers_as_reference"]
    assert [item["check"] for item in slipped] == ([] if passed else ["4_behaviour"])


def test_few_answers_say_nothing_of_their_references(tmp_path: Path) -> None:
    rows = copy.deepcopy(clean_rows(tmp_path))
    for row in rows:
        row["answer"] = "Delhi"
    assert audit(tmp_path, rows).passed
