"""The page of image matches: what is on it, and what is not."""

from __future__ import annotations

from pathlib import Path

from questions_helpers import cell, drawn, encoded, evaluation_row, question_row, write_evaluation, write_questions
from tir_distill.questions import DecontaminationSettings, Fingerprints, Matcher, decontaminate
from tir_distill.questions.contact_sheet import picture_pairs, write_sheet

LONG = "Which of the two engineers who surveyed the eastern railway line was born in the smaller town"


def test_pairs_by_picture_stand_side_by_side(tmp_path: Path) -> None:
    store, data = tmp_path / "images", encoded(drawn(1))
    picture = cell(data, store)
    rows = [
        question_row("q10", "Who is <b>this</b>?", [picture]),
        question_row("q9", "And this?", [picture]),
        question_row("q1", LONG),
    ]
    items = [evaluation_row("simplevqa", "5", "Secret words?", [picture]), evaluation_row("gaia", "g", LONG)]
    questions = write_questions(tmp_path / "q.parquet", rows)
    drops = tmp_path / "q.drops.parquet"
    matcher = Matcher(Fingerprints.read([write_evaluation(tmp_path / "e.parquet", items)]), DecontaminationSettings())
    decontaminate(questions, matcher, out=tmp_path / "kept.parquet", drops=drops)

    pairs = picture_pairs([drops], [questions])
    assert [pair.row["id"] for pair in pairs] == ["q9", "q10"]  # the match by text is not here
    write_sheet(pairs, store=store, evaluation={("simplevqa", "5"): [data, b"damaged"]}, out=tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert page.count("<img") == 4
    assert page.count("picture_not_an_image") + page.count("picture_") >= 2  # the damaged one says why
    assert "&lt;b&gt;this" in page
    assert "Secret" not in page

    write_sheet(pairs, store=tmp_path / "nowhere", evaluation={}, out=tmp_path / "b.html")
    page = (tmp_path / "b.html").read_text()
    assert page.count("<img") == 0
    assert page.count("not in the store") == 2
    assert page.count("not shown") == 2
