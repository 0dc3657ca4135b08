"""The two reading stages: tables, rejects, counts, pictures stored once, the same bytes every time."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import read_evaluation as read_evaluation_script
import read_questions as read_questions_script
from sources_helpers import encoded, parquet, picture
from tir_distill import cli
from tir_distill.records import TirError, UsageError, dumps, read_jsonl
from tir_distill.sources import EVALUATION_READERS, QUESTION_READERS, ReadSettings, read_evaluation, read_questions
from tir_distill.sources.candidate import other_forms
from tir_distill.sources.keystream import encrypt_canary
from tir_distill.sources.lock import Lock, LockedFile
from tir_distill.sources.parquet_out import EVALUATION, QUESTIONS
from tir_distill.sources.text_units import TextPrint

CHART = ReadSettings(name="chartqa_human", reader="chartqa", task_type="image_reasoning")


def charts(number: int, shared: int = 2) -> list[dict[str, Any]]:
    """Rows of which ``shared`` in a row carry the same chart."""
    return [
        {
            "image": {"bytes": encoded(picture(32, 24, i // shared)), "path": None},
            "query": f"Question {i}?",
            "label": [str(i)],
            "human_or_machine": 0,
        }
        for i in range(number)
    ]


def source(folder: Path, rows: list[dict[str, Any]], name: str = "data/train-0.parquet") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(parquet(rows))
    return folder


def run(folder: Path, out: Path, settings_: ReadSettings = CHART, **options: Any) -> tuple[Any, list[dict[str, Any]]]:
    path = out / "questions" / f"{settings_.name}.parquet"
    counts = read_questions(settings_, folder, images=out / "images", out=path, **options)
    return counts, pq.read_table(path).to_pylist()


def test_a_bucket(tmp_path: Path) -> None:
    rows = charts(6)
    rows[1]["label"] = ["Yes"]
    rows[2]["image"] = {"bytes": b"", "path": None}
    rows[3]["human_or_machine"] = 1
    rows[4]["image"] = {"bytes": encoded(picture(200, 100, 9), "WEBP"), "path": None}
    counts, kept = run(source(tmp_path / "s", rows), tmp_path)
    assert counts.to_dict() == {
        "read": 5,
        "kept": 3,
        "rejects": {"picture_empty": 1, "yes_no_answer": 1},
        "elsewhere": 1,
        "notes": {},
    }
    assert json.loads((tmp_path / "questions/chartqa_human.counts.json").read_bytes()) == counts.to_dict()
    assert list(read_jsonl(tmp_path / "questions/chartqa_human.rejects.jsonl")) == [
        {"id": "chartqa_train_1", "reason": "yes_no_answer", "detail": "Yes"},
        {"id": "chartqa_train_2", "reason": "picture_empty", "detail": "the picture file has 0 bytes"},
    ]
    assert [row["id"] for row in kept] == ["chartqa_train_0", "chartqa_train_4", "chartqa_train_5"]
    first, webp, last = kept
    assert pq.read_schema(tmp_path / "questions/chartqa_human.parquet").equals(QUESTIONS)
    assert (first["source"], first["bucket"], first["task_type"]) == ("chartqa", "chartqa_human", "image_reasoning")
    assert (first["question"], first["answer"], first["candidate_answers"]) == ("Question 0?", "0", "[]")
    assert first["group"] == first["images"][0]["sha256"]
    assert json.loads(first["meta"]) == {"split": "train", "row": 0}
    assert (webp["images"][0]["ext"], webp["images"][0]["width"], webp["images"][0]["height"]) == ("png", 200, 100)
    for row in kept:
        cell = row["images"][0]
        stored = tmp_path / "images" / cell["sha256"][:2] / f"{cell['sha256']}.{cell['ext']}"
        assert stored.is_file()
        assert len(cell["phash"]) == 16
    assert last["images"] != first["images"]


def test_pictures_are_stored_once_and_grouped(tmp_path: Path) -> None:
    _, kept = run(source(tmp_path / "s", charts(8, shared=4)), tmp_path)
    assert len({row["group"] for row in kept}) == 2
    assert len(list((tmp_path / "images").rglob("*.png"))) == 2


def test_a_known_picture_is_not_decoded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tir_distill.sources import bucket_table as module
    from tir_distill.sources import print_cache

    decoded: list[int] = []
    really = module.prepare
    monkeypatch.setattr(module, "prepare", lambda data: decoded.append(len(data)) or really(data))
    folder = source(tmp_path / "s", charts(4, shared=1))
    run(folder, tmp_path)
    first = (tmp_path / "questions/chartqa_human.parquet").read_bytes()
    assert len(decoded) == 4
    run(folder, tmp_path)
    assert len(decoded) == 4
    assert (tmp_path / "questions/chartqa_human.parquet").read_bytes() == first
    stored = sorted((tmp_path / "images").rglob("*.png"))
    stored[0].unlink()
    stored[1].write_bytes(b"cut")
    entries = sorted((tmp_path / "images" / ".prints").rglob("*.json"))
    run(folder, tmp_path)
    assert len(decoded) == 6
    entries[0].write_bytes(b"{")
    run(folder, tmp_path)
    assert len(decoded) == 7
    assert (tmp_path / "questions/chartqa_human.parquet").read_bytes() == first
    monkeypatch.setattr(print_cache, "POLICY_VERSION", 99)
    run(folder, tmp_path)
    assert len(decoded) == 11
    made_by = pq.read_schema(tmp_path / "questions/chartqa_human.parquet").metadata[b"made_by"]
    assert made_by.startswith(b"policy 99, Pillow ")


def test_the_same_bytes_for_any_number_of_workers_and_places(tmp_path: Path) -> None:
    folder = source(tmp_path / "s", charts(40))
    first = tmp_path / "a"
    second = tmp_path / "other place"
    run(folder, first, workers=1)
    run(folder, second, workers=4)
    names = sorted(p.relative_to(first) for p in first.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(second) for p in second.rglob("*") if p.is_file())
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


def test_rows_are_numbered_over_all_tables_of_the_lock(tmp_path: Path) -> None:
    folder = source(tmp_path / "s", charts(2), "data/train-0.parquet")
    source(folder, charts(2), "data/train-1.parquet")
    source(folder, charts(2), "data/train-9-left-behind.parquet")
    files = [folder / "data/train-0.parquet", folder / "data/train-1.parquet"]
    Lock(
        source="chartqa",
        repo="o/n",
        hub="mirror",
        revision="r",
        requested_revision="r",
        licence="x",
        licence_upstream="",
        rows=4,
        files=tuple(LockedFile(p.relative_to(folder).as_posix(), p.stat().st_size, "0" * 64) for p in files),
    ).write(folder)
    _, kept = run(folder, tmp_path)
    assert [row["id"] for row in kept] == [f"chartqa_train_{i}" for i in range(4)]
    files[1].write_bytes(b"cut")
    with pytest.raises(TirError, match="not as locked"):
        run(folder, tmp_path)


def test_an_id_counts_once(tmp_path: Path) -> None:
    row = {"image": {"bytes": encoded(picture())}, "id": "5", "question": "Q?", "options": None, "answer": "1"}
    (tmp_path / "s").mkdir()
    table = pa.Table.from_pylist([row, row, {**row, "id": "6"}])
    pq.write_table(table, tmp_path / "s" / "t.parquet")
    counts, kept = run(tmp_path / "s", tmp_path, ReadSettings(name="b", reader="tabmwp", task_type="image_reasoning"))
    assert [row["id"] for row in kept] == ["tabmwp_5", "tabmwp_6"]
    assert counts.rejects == {"duplicate_id": 1}


def test_references_that_the_scorer_cannot_take_are_set_aside(tmp_path: Path) -> None:
    """GAIA's scorer accepts any word for a reference of infinity, and an empty answer for bare punctuation."""
    rows = charts(7)
    for row, label in zip(rows, ["inf", "-Infinity", "NaN", "1e400", "--", "1e3", "C#"], strict=True):
        row["label"] = [label]
    counts, kept = run(source(tmp_path / "s", rows), tmp_path)
    assert [row["answer"] for row in kept] == ["1e3", "C#"]
    assert counts.rejects == {"answer_not_finite": 4, "answer_only_punctuation": 1}
    assert other_forms("Spain", ["ES", "inf", "?!", " 🇪🇸 ", "ES", "Spain", ""]) == ("ES", "🇪🇸")


def test_text_that_is_no_utf8_costs_its_row_only(tmp_path: Path) -> None:
    rows = charts(3)
    table = pa.Table.from_pylist(rows)
    bad = pa.array([b"Q0?", b"\xff\xfe", b"Q2?"], pa.binary()).view(pa.string())
    table = table.set_column(table.schema.get_field_index("query"), "query", bad)
    (tmp_path / "s").mkdir()
    pq.write_table(table, tmp_path / "s" / "train.parquet")
    counts, kept = run(tmp_path / "s", tmp_path)
    assert [row["question"] for row in kept] == ["Q0?", "Q2?"]
    assert counts.rejects == {"undecodable_text": 1}


def test_other_columns_stop_a_strict_source_and_warn_for_a_tolerant_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{"picture": row["image"], "query": row["query"], "label": row["label"]} for row in charts(2)]
    folder = source(tmp_path / "s", rows)
    with pytest.raises(TirError, match=r"train-0\.parquet.*expects columns \['image', 'human_or_machine'\]"):
        run(folder, tmp_path)
    assert not (tmp_path / "questions" / "chartqa_human.parquet").exists()
    tolerant = ReadSettings(name="chartqa_human", reader="chartqa", task_type="image_reasoning", tolerant=True)
    counts, kept = run(folder, tmp_path, tolerant)
    assert (counts.read, kept) == (2, [])
    assert "expects columns" in caplog.text


@pytest.mark.parametrize("damage", ["cut", "noise", "empty"])
def test_a_damaged_table_names_itself(damage: str, tmp_path: Path) -> None:
    folder = source(tmp_path / "s", charts(50))
    path = folder / "data/train-0.parquet"
    data = bytearray(path.read_bytes())
    if damage == "noise":
        data[100:4000] = os.urandom(3900)
    path.write_bytes({"cut": data[: len(data) // 2], "noise": data, "empty": b""}[damage])
    with pytest.raises(TirError, match=r"train-0\.parquet"):
        run(folder, tmp_path)
    assert not (tmp_path / "questions" / "chartqa_human.parquet").exists()


def test_no_table_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(TirError, match="no such folder"):
        run(tmp_path / "none", tmp_path)
    (tmp_path / "s").mkdir()
    with pytest.raises(TirError, match="no table found"):
        run(tmp_path / "s", tmp_path)


def test_json_tables(tmp_path: Path) -> None:
    rows = [
        {
            "_id": str(i),
            "question": f"Q{i}?",
            "answer": "x",
            "supporting_facts": [["T", 0]],
            "context": [["T", ["s]."]]],
        }
        for i in range(5)
    ]
    hotpot = ReadSettings(name="hotpotqa", reader="hotpotqa", task_type="text_search", tolerant=True)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "t.json").write_text(json.dumps([*rows, 7, "x"], indent=1))
    counts, kept = run(tmp_path / "a", tmp_path, hotpot)
    assert [row["id"] for row in kept] == [f"hotpotqa_{i}" for i in range(5)]
    assert counts.rejects == {"damaged_line": 2}
    (tmp_path / "b").mkdir()
    lines = b"".join(dumps(row) + b"\n" for row in rows[:2])
    (tmp_path / "b" / "t.jsonl").write_bytes(lines + b'{"_id": "3", "que\n[1]\n' + dumps(rows[2]))
    counts, kept = run(tmp_path / "b", tmp_path, hotpot)
    assert [row["id"] for row in kept] == ["hotpotqa_0", "hotpotqa_1", "hotpotqa_2"]
    assert counts.rejects == {"damaged_line": 2}
    (tmp_path / "a" / "t.json").write_text(json.dumps(rows)[:-20])
    with pytest.raises(TirError, match="ends in the middle"):
        run(tmp_path / "a", tmp_path, hotpot)


def test_a_json_array_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tir_distill.sources import json_table, tables

    monkeypatch.setattr(json_table, "_CHUNK", 7)
    rows = [{"a": 'x"\\' * i, "b": [1, {"c": "]},"}], "n": 10**i} for i in range(30)]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    assert list(tables.rows(tmp_path / "t.json")) == rows
    (tmp_path / "t.json").write_text(json.dumps({"info": "[{", "columns": ["a"], "data": rows}, indent=2))
    assert list(tables.rows(tmp_path / "t.json")) == rows


def test_memory_does_not_grow_with_the_source(tmp_path: Path) -> None:
    """A table of 120 MB in small row groups is read with a few batches in memory."""
    folder = tmp_path / "s"
    folder.mkdir()
    noise = os.urandom(300_000)
    first = charts(1)[0]
    schema = pa.Table.from_pylist([first]).schema
    with pq.ParquetWriter(folder / "train.parquet", schema, compression="none", use_dictionary=False) as writer:
        for i in range(8):
            rows = [{**first, "image": {"bytes": b"not a picture %d" % i + noise, "path": None}} for _ in range(50)]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema), row_group_size=50)
    assert (folder / "train.parquet").stat().st_size > 100_000_000
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    counts, _ = run(folder, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts.rejects == {"picture_unknown_format": 400}
    assert peak < 60_000_000
    assert pa.total_allocated_bytes() - before < 60_000_000


# ---- evaluation sets -----------------------------------------------------------------------------------------------

SECRET_TEXT = "Which unmistakable harbour town printed the second edition of the tide tables by the old keeper?"


def test_an_evaluation_set_becomes_hashes_only(tmp_path: Path) -> None:
    rows = [
        {"data_id": 0, "image": base64.b64encode(encoded(picture())).decode(), "question": SECRET_TEXT},
        {"data_id": 1, "image": "no picture", "question": "这是什么建筑？"},
        {"data_id": 2, "image": "", "question": ""},
        {"data_id": 3, "image": base64.b64encode(encoded(picture())[:-40]).decode(), "question": SECRET_TEXT.upper()},
    ]
    folder = source(tmp_path / "s", rows, "data/test-0.parquet")
    out = tmp_path / "evaluation" / "simplevqa.parquet"
    counts = read_evaluation(ReadSettings(name="simplevqa", reader="simplevqa"), folder, out=out)
    assert counts.to_dict() == {
        "read": 4,
        "kept": 3,
        "rejects": {"missing_question": 1},
        "elsewhere": 0,
        "notes": {"picture_missing": 1, "picture_truncated": 1},
    }
    assert pq.read_schema(out).equals(EVALUATION)
    first, chinese, upper = pq.read_table(out).to_pylist()
    mark = TextPrint.of(SECRET_TEXT)
    assert (first["set"], first["id"], first["script"], first["units"]) == ("simplevqa", "0", "latin", mark.units)
    assert first["shingles"] == list(mark.shingles)
    assert first["grams"] == list(mark.grams) != []
    assert first["text_key"] == upper["text_key"]
    assert (chinese["script"], chinese["images"]) == ("cjk", [])
    assert (len(first["images"]), upper["images"]) == (1, [])


def test_no_readable_text_of_an_evaluation_set_reaches_the_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [
        {"id": 1, "question": encrypt_canary(SECRET_TEXT, "c"), "images": [], "canary": "c"},
        {"id": 2, "question": encrypt_canary(SECRET_TEXT, "other"), "images": [], "canary": "c"},
        {"id": 3, "question": SECRET_TEXT, "images": [], "canary": "c"},
    ]
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "t.jsonl").write_bytes(b"".join(dumps(row) + b"\n" for row in rows))
    out = tmp_path / "evaluation" / "mm.parquet"
    counts = read_evaluation(ReadSettings(name="mm", reader="mmbrowsecomp"), folder, out=out)
    assert counts.rejects == {"undecryptable": 2}
    written = b"".join(path.read_bytes() for path in out.parent.iterdir()) + caplog.text.encode()
    for word in SECRET_TEXT.strip("?").split():
        if len(word) > 4:
            assert word.lower().encode() not in written.lower()


# ---- rows of any shape through the whole stage ---------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=6) | st.sampled_from(["['a' 'b']", "0_1_l2_0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("name", [*QUESTION_READERS, *EVALUATION_READERS])
@given(data=st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_row_of_any_table_is_counted_once(name: str, data: st.DataObject, tmp_path_factory: Any) -> None:
    cls = {**QUESTION_READERS, **EVALUATION_READERS}[name]
    names = st.sampled_from([*cls.columns, "id", "level", "question"])
    lines = data.draw(st.lists(st.dictionaries(names, VALUES, max_size=8).map(json.dumps) | st.text(max_size=5)))
    folder = tmp_path_factory.mktemp("rows")
    text = "\n".join(line.replace("\n", " ").replace("\r", " ") for line in lines)
    (folder / "s").mkdir()
    (folder / "s" / "t.jsonl").write_bytes(text.encode("utf-8", "replace"))
    settings_ = ReadSettings(name="x", reader=name, task_type="text_search", tolerant=True)
    out = folder / "x.parquet"
    if name in QUESTION_READERS:
        counts = read_questions(settings_, folder / "s", images=folder / "images", out=out, workers=1)
    else:
        try:
            counts = read_evaluation(settings_, folder / "s", out=out, workers=1)
        except TirError:  # no item at all, or a column that no row has
            event("no items")
            return
    assert counts.read == counts.kept + counts.rejects.total()
    assert pq.read_metadata(out).num_rows == counts.kept


# ---- the commands --------------------------------------------------------------------------------------------------


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(yaml.safe_dump({"seed": 1}))
    folder = source(tmp_path / "s", charts(3))
    common = ["--config", str(config), "--source-dir", str(folder)]
    out = ["--images", str(tmp_path / "images"), "--out", str(tmp_path / "q.parquet")]
    with pytest.raises(SystemExit) as ended:
        cli.run(read_questions_script.main, read_questions_script.parser, [*common, "--bucket", "chartqa_human", *out])
    assert ended.value.code == 0
    assert "3 of 3 rows kept" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        cli.run(read_questions_script.main, read_questions_script.parser, [*common, "--bucket", "nothing", *out])
    assert ended.value.code == 64
    assert "expected one of" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        cli.run(
            read_evaluation_script.main,
            read_evaluation_script.parser,
            [*common, "--set", "nothing", "--out", str(tmp_path / "e.parquet")],
        )
    assert ended.value.code == 64


def test_settings_of_an_unknown_source() -> None:
    from tir_distill.config import load
    from tir_distill.sources import SourceSettings

    with pytest.raises(UsageError, match=r"sources\.sets has no 'x'"):
        SourceSettings.from_config(load(), "x")
    assert SourceSettings.from_config(load(), "gaia").gated


def test_two_buckets_share_one_source(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    with zipfile.ZipFile(folder / "news.zip", "w") as archive:
        archive.writestr("news_images/a.png", encoded(picture()))
    row = {
        "question": "Q?",
        "options": ["A. right", "B. wrong"],
        "Ground_Truth": "A",
        "Ground_Truth_List": "['right' 'correct']",
        "img_path": "news_images/a.png",
    }
    rows = [{"id": f"0_1_l{level}_{k}", "level": level, **row} for level in (1, 2) for k in range(level)]
    (folder / "Dataset.parquet").write_bytes(parquet(rows))
    found = {}
    for level in (1, 2):
        name = f"livevqa_l{level}"
        counts, kept = run(folder, tmp_path, ReadSettings(name=name, reader=name, task_type="image_search"))
        found[level] = [item["id"] for item in kept]
        assert (counts.read, counts.elsewhere) == (level, 3 - level)
        assert {item["group"] for item in kept} == {"0_1"}
    assert found == {1: ["livevqa_0_1_l1_0"], 2: ["livevqa_0_1_l2_0", "livevqa_0_1_l2_1"]}
    assert len(list((tmp_path / "images").rglob("*.png"))) == 1


def test_importing_the_room_is_cheap() -> None:
    heavy = "datasets modelscope modelscope_hub huggingface_hub pandas scipy imagehash cv2"
    code = f"import sys, tir_distill.sources; print([m for m in '{heavy}'.split() if m in sys.modules])"
    env = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[]"
