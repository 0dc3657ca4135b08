"""The shipped index: same answers as the tables, no readable text, versions named."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from questions_helpers import evaluation_row, picture_cell, write_evaluation
from tir_distill.questions import DecontaminationSettings, EvaluationIndex, write_index
from tir_distill.questions.evaluation_index import picture_versions
from tir_distill.records import TirError

LONG = "In which year did the builder of the third lighthouse on the northern cape leave his last post there"
CJK = "北方海角上的第三座灯塔的建造者在哪一年离开了他最后的岗位"
HASH = 0xF0F0_F0F0_1234_5678

ROWS = [
    evaluation_row("gaia", "g10", LONG),
    evaluation_row("gaia", "g2", CJK),
    evaluation_row("simplevqa", "0", "What is this?", [picture_cell(HASH), picture_cell(0x8000 << 48, flat=True)]),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = write_evaluation(tmp_path / "e.parquet", ROWS)
    assert write_index([table], DecontaminationSettings(), tmp_path / "index.json") == 3
    return tmp_path / "index.json"


def test_texts(path: Path) -> None:
    index = EvaluationIndex.load(path)
    assert len(index) == 3
    assert [str(m) for m in index.match_text(LONG.upper() + " ?!")] == ["jaccard: gaia g10 (1.000)"]
    assert [m.evaluation_id for m in index.match_text(CJK)] == ["g2"]
    assert index.match_text("What is this?") == []  # short: no evidence by itself
    assert (
        index.match_text("Something else altogether, of a length that would be enough for the rule to look at it") == []
    )


def test_pictures(path: Path) -> None:
    index = EvaluationIndex.load(path)
    assert [(m.rule, m.evaluation_id, m.value) for m in index.match_phash(f"{HASH ^ 0b11:016x}", False)] == [
        ("phash", "0", 2)
    ]
    assert index.match_phash(f"{HASH:016x}", True) == []
    assert index.match_phash("8000000000000000", False) == []


def test_a_short_text_with_its_pictures(path: Path) -> None:
    index = EvaluationIndex.load(path)
    assert [m.rule for m in index.match_text("what is this", [("8000000000000000", True)])] == ["same_picture_text"]
    assert index.match_text("what is this", []) == []


def test_grams_inside_a_long_text(path: Path) -> None:
    index = EvaluationIndex.load(path)
    page = "Words before. " * 50 + LONG[: LONG.index("leave")] + "and so on. " * 50
    [match] = index.match_grams(page)
    assert (match.rule, match.evaluation_set, match.evaluation_id) == ("grams", "gaia", "g10")
    assert match.value == pytest.approx(2 / 7)  # 19 words make 7 grams of 13; the first 14 were quoted
    assert str(match) == "grams: gaia g10 (0.286)"
    assert [m.evaluation_id for m in index.match_grams("网页文字" + CJK + "更多文字")] == ["g2"]
    assert index.match_grams("Words before. " * 200) == []


def test_no_text_can_be_read(path: Path) -> None:
    text = path.read_text()
    for word in ("lighthouse", "builder", "What", "灯塔", "\\u706f"):
        assert word not in text
    assert set(json.loads(text)["items"][0]) == {
        "set", "id", "units", "script", "text_key", "shingles", "grams", "pictures",
    }  # fmt: skip


def test_same_bytes_for_any_order(path: Path, tmp_path: Path) -> None:
    first = write_evaluation(tmp_path / "b.parquet", ROWS[:1:-1])
    second = write_evaluation(tmp_path / "a.parquet", ROWS[1::-1])
    write_index([first, second], DecontaminationSettings(), tmp_path / "other.json")
    assert (tmp_path / "other.json").read_bytes() == path.read_bytes()
    assert [item["id"] for item in json.loads(path.read_text())["items"]] == ["g2", "g10", "0"]


def test_hashes_of_another_pillow_have_slack(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Case 80: the same file may hash 2 bits differently under another version."""
    eight = f"{HASH ^ 0xFF:016x}"
    assert EvaluationIndex.load(path).match_phash(eight, False) == []
    document = json.loads(path.read_text())
    assert document["versions"] == picture_versions()
    document["versions"]["pillow"] = "9.0.0"
    path.write_text(json.dumps(document))
    with caplog.at_level(logging.WARNING):
        index = EvaluationIndex.load(path)
    assert [m.value for m in index.match_phash(eight, False)] == [8]
    assert "9.0.0" in caplog.text


@pytest.mark.parametrize("damage", ["{}", "[]", '{"format": 99, "gram_tokens": 13}', "no json"])
def test_a_file_that_is_no_index(path: Path, damage: str) -> None:
    path.write_text(damage)
    with pytest.raises(TirError, match=r"index\.json"):
        EvaluationIndex.load(path)


def test_damaged_numbers(path: Path) -> None:
    document = json.loads(path.read_text())
    document["items"][0]["shingles"] = "not base64!"
    path.write_text(json.dumps(document))
    with pytest.raises(TirError, match="not an evaluation index"):
        EvaluationIndex.load(path)


def test_an_empty_index(tmp_path: Path) -> None:
    write_index([write_evaluation(tmp_path / "e.parquet", [])], DecontaminationSettings(), tmp_path / "i.json")
    index = EvaluationIndex.load(tmp_path / "i.json")
    assert (index.match_text(LONG), index.match_phash("f" * 16, False), index.match_grams(LONG)) == ([], [], [])
