"""The exact borders of each rule, tables of other versions, and selections of which nothing is left."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import build_handover as build_handover_script
import decontaminate as decontaminate_script
from questions_helpers import (
    cell,
    drawn,
    encoded,
    evaluation_row,
    picture_cell,
    question_row,
    read_lines,
    small_world,
    write_evaluation,
    write_questions,
)
from tir_distill import cli
from tir_distill.config import load
from tir_distill.questions import (
    DecontaminationSettings,
    Fingerprints,
    Item,
    Matcher,
    SelectionSettings,
    Subject,
    hashed_by,
    select,
    write_index,
)
from tir_distill.questions.image_files import safe_name
from tir_distill.records import TirError, write_json

WORDS = [f"word{i}" for i in range(40)]
HASH = 0xF0F0_F0F0_1234_5678
FAR = (f"{HASH ^ 0xFFFF_FFFF:016x}", False)


def rules(subject: Subject, *items: dict[str, Any]) -> list[tuple[str, float]]:
    matcher = Matcher(Fingerprints.of([Item.from_row(row) for row in items]), DecontaminationSettings())
    return [(match.rule, match.value) for match in matcher.matches([subject])[0]]


@pytest.mark.parametrize(("bits", "found"), [(0, True), (1, True), (5, True), (6, True), (7, False), (8, False)])
def test_pictures_match_up_to_six_bits(bits: int, found: bool) -> None:
    """The bits lie in different bands of the join, so that no band is like another."""
    flipped = sum(1 << (9 * i) for i in range(bits))
    subject = Subject(text="Which one?", pictures=((f"{HASH ^ flipped:016x}", False),))
    expected = [("phash", float(bits))] if found else []
    assert rules(subject, evaluation_row("set", "a", "Another text", [picture_cell(HASH)])) == expected


@pytest.mark.parametrize(
    ("mine", "theirs", "value"),
    [
        (15, 12, 0.8),  # 12 shared of 15
        (12, 15, 0.8),
        (16, 12, None),  # 12 of 16
        (20, 16, 0.8),
        (21, 16, None),
        (12, 12, 1.0),
        (11, 11, None),  # short on both sides
        (12, 11, None),  # 11 of 12 = 0.917, but one of them is short
    ],
)
def test_texts_match_from_exactly_four_fifths_and_twelve_units(mine: int, theirs: int, value: float | None) -> None:
    item = evaluation_row("set", "a", " ".join(WORDS[:theirs]), [picture_cell(HASH)])
    subject = Subject(text=" ".join(reversed(WORDS[:mine])), pictures=(FAR,))
    assert rules(subject, item) == ([] if value is None else [("jaccard", value)])


@pytest.mark.parametrize(("characters", "found"), [(12, False), (13, True)])
def test_thirteen_han_characters_are_twelve_units(characters: int, found: bool) -> None:
    text = "天地玄黄宇宙洪荒日月盈昃辰"[:characters]
    assert len(text) == characters
    item = evaluation_row("set", "a", text + "？", [picture_cell(HASH)])
    assert rules(Subject(text="「" + text + "」", pictures=(FAR,)), item) == ([("jaccard", 1.0)] if found else [])


# ---- tables of other versions --------------------------------------------------------------------------------------


def with_metadata(path: Path, **changed: str | None) -> Path:
    """The table again with other marks; None takes one away."""
    table = pq.read_table(path)
    marks = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    marks |= {key: value for key, value in changed.items() if value is not None}
    kept = {key: value for key, value in marks.items() if changed.get(key, "") is not None}
    pq.write_table(table.replace_schema_metadata(kept), path)
    return path


def command(script: Any, *words: Any) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.run(script.main, script.parser, list(map(str, words)))
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize("mark", [None, "1", "3"])
def test_fingerprints_of_another_format_say_rebuild(
    mark: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their hashes would match nothing: silence would let evaluation items through."""
    questions = write_questions(tmp_path / "q.parquet", [question_row("q", "text")])
    old = with_metadata(write_evaluation(tmp_path / "gaia.parquet", [evaluation_row("gaia", "g", "text")]), format=mark)
    write_json(tmp_path / "config.json", load())
    code = command(decontaminate_script, "run", "--config", tmp_path / "config.json", "--questions", questions,
                   "--evaluation", old, "--out", tmp_path / "kept.parquet",
                   "--drops", tmp_path / "d.parquet")  # fmt: skip
    said = capsys.readouterr().err
    assert code == 1
    assert "gaia.parquet: fingerprints of format" in said
    assert "rebuild it: run read_evaluation.py again" in said
    assert "Traceback" not in said
    assert not (tmp_path / "kept.parquet").exists()
    with pytest.raises(TirError, match="rebuild"):
        write_index([old], DecontaminationSettings(), tmp_path / "index.json")


def test_hashes_of_different_libraries_are_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fault class 80: another Pillow gives the same file another bit or two."""
    questions = write_questions(tmp_path / "q.parquet", [question_row("q", "text")])
    sets = write_evaluation(tmp_path / "gaia.parquet", [evaluation_row("gaia", "g", "text")])
    same = hashed_by([questions, sets])
    assert same.startswith("policy ")
    with_metadata(sets, made_by="policy 1, Pillow 9.0.0, ImageHash 4.3.1")
    write_json(tmp_path / "config.json", load())
    code = command(decontaminate_script, "run", "--config", tmp_path / "config.json", "--questions", questions,
                   "--evaluation", sets, "--out", tmp_path / "kept.parquet",
                   "--drops", tmp_path / "d.parquet")  # fmt: skip
    assert code == 1
    assert "gaia.parquet: policy 1, Pillow 9.0.0" in capsys.readouterr().err
    write_index([sets], DecontaminationSettings(), tmp_path / "index.json")
    assert json.loads((tmp_path / "index.json").read_bytes())["versions"] == {"pillow": "9.0.0", "imagehash": "4.3.1"}
    with_metadata(sets, made_by=None)
    assert hashed_by([questions, sets]) == same  # a table without a mark is taken on trust


# ---- selections ----------------------------------------------------------------------------------------------------


def settings_of(config: dict[str, Any], **counts: Any) -> SelectionSettings:
    for name, entry in config["buckets"].items():
        entry.update(count=counts.get(name, 0), pilot=0)
    config["selection"]["total"] = None
    return SelectionSettings.from_config(config)


def test_nothing_left_is_an_error_that_says_where_to_look(tmp_path: Path) -> None:
    table = write_questions(tmp_path / "fvqa_train.parquet", [])
    index = write_evaluation(tmp_path / "e.parquet", [])
    with pytest.raises(TirError, match=r"no question is left.*rejects\.jsonl"):
        select([table], [index], settings_of(load(), fvqa_train="all"), DecontaminationSettings(),
               images=tmp_path, out=tmp_path / "out")  # fmt: skip
    assert not (tmp_path / "out").exists()


def test_an_empty_bucket_beside_a_full_one_is_no_error(tmp_path: Path) -> None:
    empty = write_questions(tmp_path / "fvqa_train.parquet", [])
    full = write_questions(tmp_path / "e.parquet", [question_row("evobc_EN_0", "Who?", bucket="evobrowsecomp")])
    done = select([empty, full], [], settings_of(load(), fvqa_train="all", evobrowsecomp="all"),
                  DecontaminationSettings(), images=tmp_path, out=tmp_path / "out")  # fmt: skip
    assert (done.questions, done.pilot, done.pictures) == (1, 0, 0)


def test_ids_too_long_for_a_file_name_stay_apart(tmp_path: Path) -> None:
    """A Han character takes nine characters percent-encoded; file systems take 255 bytes."""
    names = ["图" * 60 + str(i) for i in range(2)] + ["x" * 300]
    rows = [
        question_row(name, "Who?", [cell(encoded(drawn(i)), tmp_path / "images")], bucket="fvqa_train")
        for i, name in enumerate(names)
    ]
    table = write_questions(tmp_path / "fvqa_train.parquet", rows)
    done = select([table], [], settings_of(load(), fvqa_train="all"), DecontaminationSettings(),
                  images=tmp_path / "images", out=tmp_path / "out")  # fmt: skip
    assert done.pictures == 3
    for row in read_lines(tmp_path / "out" / "phase_10k.jsonl"):
        assert row["id"] in names
        assert (tmp_path / "out" / row["images"][0]).is_file()
    assert len({safe_name(name) for name in names}) == 3
    assert safe_name("x" * 200) == "x" * 200
    assert safe_name("x" * 201).endswith("~" + hashlib.sha256(b"x" * 201).hexdigest()[:16])


def test_packing_before_selecting_is_told_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(build_handover_script, "pictures", "--out", tmp_path, "--hashes", tmp_path / "h.json") == 1
    said = capsys.readouterr().err
    assert "phase_10k.jsonl: no such file; select first" in said
    assert "Traceback" not in said
    world = small_world(tmp_path / "world")
    code = command(build_handover_script, "pack", "--config", world.config_file, "--hashes", tmp_path / "h.json",
                   "--kept", *world.questions, "--drops", *world.drops(), "--counts", *world.counts(),
                   "--evaluation", *world.set_counts(), "--locks", *world.locks, "--out", tmp_path)  # fmt: skip
    said = capsys.readouterr().err
    assert code == 1
    assert "h.json: no such file" in said
    assert "Traceback" not in said
