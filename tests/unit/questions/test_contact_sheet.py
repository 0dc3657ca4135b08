"""The page of image matches: what is on it, and what is not."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

import contact_sheet as contact_sheet_script
from questions_helpers import cell, drawn, encoded, evaluation_row, question_row, write_evaluation, write_questions
from sources_helpers import parquet
from tir_distill import cli
from tir_distill.config import load
from tir_distill.questions import DecontaminationSettings, Fingerprints, Matcher, decontaminate
from tir_distill.questions.contact_sheet import picture_pairs, write_sheet
from tir_distill.records import write_json
from tir_distill.sources import ReadSettings, read_evaluation

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


def run(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.run(contact_sheet_script.main, contact_sheet_script.parser, list(map(str, words)))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_command_reads_evaluation_pictures_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With ``--sources`` both pictures are there, the page says that it is private; without, ours only."""
    config, photo = load(), encoded(drawn(1))
    write_json(tmp_path / "config.json", config)
    table = tmp_path / "sources" / "simplevqa" / "data" / "test-0.parquet"
    table.parent.mkdir(parents=True)
    rows = [{"data_id": i, "image": base64.b64encode(encoded(drawn(i))).decode(), "question": f"Secret {i}?"}
            for i in range(3)]  # fmt: skip
    table.write_bytes(parquet(rows))
    sets, questions = tmp_path / "simplevqa.parquet", tmp_path / "fvqa_train.parquet"
    read_evaluation(ReadSettings.for_evaluation(config, "simplevqa"), tmp_path / "sources" / "simplevqa", out=sets)
    store = tmp_path / "图 images"
    write_questions(questions, [question_row("fvqa_train_7", "Where is it?", [cell(photo, store)])])
    drops = tmp_path / "fvqa_train.drops.parquet"
    decontaminate(questions, Matcher(Fingerprints.read([sets]), DecontaminationSettings()),
                  out=tmp_path / "kept.parquet", drops=drops)  # fmt: skip
    common = ["--config", tmp_path / "config.json", "--drops", drops, "--questions", questions, "--images", store]
    assert run(*common, "--sources", tmp_path / "sources", "--out", tmp_path / "both.html") == 0
    assert "1 pairs, 1 evaluation items with pictures" in capsys.readouterr().out
    page = (tmp_path / "both.html").read_text()
    assert page.count("<img") == 2
    assert "keep it to yourself" in page
    assert "fvqa_train_7" in page
    assert "simplevqa 1</b><br>phash, 0 bits" in page
    assert "Secret" not in page
    assert run(*common, "--out", tmp_path / "ours.html") == 0
    page = (tmp_path / "ours.html").read_text()
    assert (page.count("<img"), page.count("not shown"), "keep it" in page) == (1, 1, False)
    assert run(*common, "--sources", tmp_path / "nowhere", "--out", tmp_path / "none.html") == 1
    assert "simplevqa: no such folder; fetch the source first" in capsys.readouterr().err
