"""Sources as a careless or hostile hand leaves them, through the commands: a count with a reason, or one message."""

from __future__ import annotations

import base64
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import read_evaluation as read_evaluation_script
import read_questions as read_questions_script
from sources_helpers import encoded, parquet, picture
from tir_distill import cli
from tir_distill.config import load
from tir_distill.questions.fingerprints import Fingerprints
from tir_distill.questions.matcher import Matcher, Subject
from tir_distill.questions.settings import DecontaminationSettings
from tir_distill.records import BadRow, TirError, read_jsonl, write_json
from tir_distill.sources import ReadSettings, parse_list, read_evaluation
from tir_distill.sources.gaia_tasks import gaia_tasks
from tir_distill.sources.keystream import encrypt_canary, encrypt_keystream
from tir_distill.sources.readers.livevqa import option_texts, right_option, without_letter
from tir_distill.sources.zip_pictures import ZipPictures

PNG = encoded(picture())


@pytest.fixture
def config(tmp_path: Path) -> Path:
    write_json(tmp_path / "config.json", load())
    return tmp_path / "config.json"


def read(bucket: str, folder: Path, config: Path) -> tuple[int, dict[str, Any], list[dict[str, Any]]]:
    """(exit code, counts, rows) of the command."""
    out = folder.parent / "questions" / f"{bucket}.parquet"
    with pytest.raises(SystemExit) as ended:
        cli.run(
            read_questions_script.main,
            read_questions_script.parser,
            ["--config", str(config), "--bucket", bucket, "--source-dir", str(folder),
             "--images", str(folder.parent / "images"), "--out", str(out)],
        )  # fmt: skip
    code = ended.value.code
    assert isinstance(code, int)
    if code:
        assert not out.exists()
        return code, {}, []
    counts = json.loads(out.with_suffix(".counts.json").read_bytes())
    rows = pq.read_table(out).to_pylist()
    rejects = list(read_jsonl(out.with_suffix(".rejects.jsonl")))
    assert counts["read"] == counts["kept"] + sum(counts["rejects"].values())
    assert counts["kept"] == len(rows)
    assert len(rejects) == sum(counts["rejects"].values())
    return 0, counts, rows


def put(folder: Path, rows: list[dict[str, Any]], name: str = "data/train-0.parquet", schema: Any = None) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(parquet(rows, schema))
    return folder


def chart(**over: Any) -> dict[str, Any]:
    return {"image": {"bytes": PNG, "path": None}, "query": "How many?", "label": ["14"], "human_or_machine": 0, **over}


# ---- tables --------------------------------------------------------------------------------------------------------


def test_a_table_without_rows_gives_a_bucket_without_rows(tmp_path: Path, config: Path) -> None:
    schema = pa.Table.from_pylist([chart()]).schema
    assert read("chartqa_human", put(tmp_path / "s", [], schema=schema), config) == (
        0,
        {"read": 0, "kept": 0, "rejects": {}, "elsewhere": 0, "notes": {}},
        [],
    )


def test_a_missing_column_names_file_and_column(
    tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{key: value for key, value in chart().items() if key != "label"}]
    code, _, _ = read("chartqa_human", put(tmp_path / "s", rows), config)
    assert code == 1
    said = capsys.readouterr().err
    assert "data/train-0.parquet" in said
    assert "['label']" in said
    assert "Traceback" not in said


def test_a_tolerant_source_of_quite_other_columns_rejects_every_row(tmp_path: Path, config: Path) -> None:
    """No column of the reader's is there at all: rows are still counted."""
    _, counts, _ = read("tabmwp_numeric", put(tmp_path / "s", [{"x": 1}, {"x": 2}]), config)
    assert (counts["read"], counts["rejects"]) == (2, {"missing_answer": 2})


def test_columns_of_unexpected_types_cost_their_rows_only(tmp_path: Path, config: Path) -> None:
    """Numbers where text is usual are read; lists, structs and dates are not taken for text."""
    rows = [{**chart(), "query": 7}, {**chart(), "query": 8}]
    _, counts, kept = read("chartqa_human", put(tmp_path / "s", rows), config)
    assert [row["question"] for row in kept] == ["7", "8"]
    rows = [{**chart(), "query": ["How many?"]}, {**chart(), "query": None}]
    _, counts, kept = read("chartqa_human", put(tmp_path / "t", rows), config)
    assert (kept, counts["rejects"]) == ([], {"missing_query": 2})
    table = pa.Table.from_pylist([chart(), chart(), chart()])
    beyond = pa.array([2**62, 0, None], pa.timestamp("ms"))  # a year that no calendar has
    (tmp_path / "u").mkdir()
    pq.write_table(table.set_column(table.schema.get_field_index("query"), "query", beyond), tmp_path / "u/t.parquet")
    _, counts, kept = read("chartqa_human", tmp_path / "u", config)
    assert (kept, counts["rejects"]) == ([], {"undecodable_text": 1, "missing_query": 2})


def test_a_column_that_nobody_reads_cannot_hurt(tmp_path: Path, config: Path) -> None:
    """LiveVQA's nested layout is found by column names, so all columns are read, a broken one too."""
    rows = [live(level=2)]
    table = pa.Table.from_pylist(rows).append_column("seen", pa.array([2**62], pa.timestamp("ms", tz="Mars/Base")))
    folder = news(tmp_path / "s")
    pq.write_table(table, folder / "Dataset.parquet")
    assert read("livevqa_news_l2", folder, config)[1]["kept"] == 1


def test_null_answers_and_repeated_ids(tmp_path: Path, config: Path) -> None:
    rows = [fvqa(0), fvqa(1, ground_truth=None), fvqa(0, ground_truth="Other"), fvqa(2, ground_truth="  ")]
    _, counts, kept = read("fvqa_train", put(tmp_path / "s", rows, "fvqa_train.parquet"), config)
    assert [row["id"] for row in kept] == ["fvqa_train_0"]
    assert kept[0]["answer"] == "Mumbai"
    assert counts["rejects"] == {"missing_ground_truth": 2, "duplicate_id": 1}


# ---- FVQA ----------------------------------------------------------------------------------------------------------


def fvqa(i: int, candidates: Any = "[]", ground_truth: Any = "Mumbai", **over: Any) -> dict[str, Any]:
    return {
        "prompt": [{"content": "Which city is it?", "role": "user"}],
        "images": [{"bytes": PNG, "path": None}],
        "reward_model": {"candidate_answers": candidates, "ground_truth": ground_truth, "style": "rule"},
        "data_source": "mmsearch_r1/fvqa_train",
        "data_id": f"fvqa_train_{i}",
        "category": "search_required",
        **over,
    }


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("[]", []),
        (None, []),
        ("", []),
        ("null", []),
        ("None", []),
        ('["Bombay", "Bombay", "Mumbai", null, ""]', ["Bombay"]),
        ("['Bombay' 'B.']", ["Bombay", "B."]),
        ("Bombay", ["Bombay"]),
        (["Bombay"], ["Bombay"]),
        ([], []),
        ('["Bomb', None),
        ('[["Bombay"]]', None),
        ('["a" ... "z"]', None),
    ],
)
def test_candidate_answers_in_any_state(written: Any, kept: list[str] | None, tmp_path: Path, config: Path) -> None:
    """``kept`` None: the row is set aside as unreadable or elided, never guessed at."""
    folder = put(tmp_path / "s", [fvqa(0, written)], "fvqa_train.parquet")
    _, counts, rows = read("fvqa_train", folder, config)
    if kept is None:
        assert set(counts["rejects"]) <= {"unreadable_list", "elided_list"}
        assert not rows
    else:
        assert isinstance(rows[0]["candidate_answers"], str)
        assert json.loads(rows[0]["candidate_answers"]) == kept


def test_the_word_for_an_absent_list_is_no_answer() -> None:
    for text in ("null", "None", "nan", " NaN ", "<NA>"):
        assert parse_list(text) == []
    assert parse_list("Nancy") == ["Nancy"]


# ---- LiveVQA -------------------------------------------------------------------------------------------------------


def live(k: int = 0, **over: Any) -> dict[str, Any]:
    return {
        "id": f"0_20250513131530612901_l2_{k}",
        "question": "Who sings?",
        "options": ["A. Morgan Wallen", "B. Other", "C. Third", "D. Fourth", "E. Fifth"],
        "Ground_Truth": "A",
        "Ground_Truth_List": "['Morgan Wallen' 'Wallen']",
        "img_path": "news_images/a.png",
        **over,
    }


def news(folder: Path, **members: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "news.zip", "w") as archive:
        archive.writestr("news_images/a.png", PNG)
        for name, data in members.items():
            archive.writestr(name, data)
    return folder


@pytest.mark.parametrize(
    ("length", "reason"), [(1, "answer_too_short"), (2, None), (60, None), (61, "answer_too_long")]
)
def test_an_answer_has_2_to_60_characters(length: int, reason: str | None, tmp_path: Path, config: Path) -> None:
    """Seed section 3; characters, not bytes."""
    folder = news(tmp_path / "s")
    for number, letter in enumerate("x图"):
        put(folder, [live(Ground_Truth_List=[letter * length])], "Dataset.parquet")
        _, counts, _ = read("livevqa_news_l2", folder, config)
        assert counts["rejects"] == ({} if reason is None else {reason: 1}), number


def test_photos_that_the_archive_does_not_give(tmp_path: Path, config: Path) -> None:
    """Missing, cut, emptied, named outside: each row under its reason, the good one kept, nothing unpacked anywhere."""
    folder = tmp_path / "s"
    news(folder, **{"news_images/cut.jpg": encoded(picture(200, 160), "JPEG")[:900], "news_images/empty.png": b"",
                    "../../outside.png": PNG, "/etc/absolute.png": PNG, "news_images/page.jpg": b"<html>404</html>",
                    "news_images/图 片.png": encoded(picture(seed=4))})  # fmt: skip
    paths = ["news_images/a.png", "news_images/gone.png", "news_images/cut.jpg", "news_images/empty.png",
             "../../../../etc/passwd", "/etc/passwd", "news_images/page.jpg", "news_images/图 片.png",
             "", None]  # fmt: skip
    put(folder, [live(k, img_path=path) for k, path in enumerate(paths)], "Dataset.parquet")
    _, counts, rows = read("livevqa_news_l2", folder, config)
    assert [row["id"][-1] for row in rows] == ["0", "7"]
    assert counts["rejects"] == {
        "picture_missing": 5, "picture_truncated": 1, "picture_empty": 1, "picture_unknown_format": 1,
    }  # fmt: skip
    put(folder, [live(k, img_path=path) for k, path in enumerate(["../../outside.png", "/etc/absolute.png"])],
        "Dataset.parquet")  # fmt: skip
    assert read("livevqa_news_l2", folder, config)[1]["kept"] == 2  # read in place: a member's name leads nowhere
    assert not list(tmp_path.rglob("outside.png"))
    assert not list(tmp_path.rglob("absolute.png"))


def test_no_archive_at_all(tmp_path: Path, config: Path) -> None:
    folder = put(tmp_path / "s", [live()], "Dataset.parquet")
    assert read("livevqa_news_l2", folder, config)[1]["rejects"] == {"picture_missing": 1}


@pytest.mark.parametrize("damage", ["noise", "cut", "empty"])
def test_a_damaged_archive_names_itself(
    damage: str, tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = put(news(tmp_path / "s"), [live()], "Dataset.parquet")
    data = (folder / "news.zip").read_bytes()
    damaged = {"noise": os.urandom(500), "cut": data[: len(data) // 2], "empty": b""}[damage]
    (folder / "news.zip").write_bytes(damaged)
    assert read("livevqa_news_l2", folder, config)[0] == 1
    said = capsys.readouterr().err
    assert "news.zip" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_of_any_compression_costs_its_row(method: int, tmp_path: Path, config: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    with zipfile.ZipFile(folder / "news.zip", "w", method) as archive:
        archive.writestr("a.png", bytes(range(256)) * 40)
    data = bytearray((folder / "news.zip").read_bytes())
    name, extra = struct.unpack_from("<HH", data, 26)
    start = 30 + name + extra
    for at in range(start, start + 30):
        data[at] ^= 0x5A
    (folder / "news.zip").write_bytes(data)
    put(folder, [live(img_path="a.png")], "Dataset.parquet")
    assert read("livevqa_news_l2", folder, config)[1]["rejects"] == {"picture_unreadable": 1}


def test_an_encrypted_member_costs_its_row(tmp_path: Path, config: Path) -> None:
    folder = put(news(tmp_path / "s"), [live()], "Dataset.parquet")
    data = bytearray((folder / "news.zip").read_bytes())
    data[6] |= 1  # the flag in the member's own header and in the directory
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (folder / "news.zip").write_bytes(data)
    assert read("livevqa_news_l2", folder, config)[1]["rejects"] == {"picture_unreadable": 1}


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (["A. x", "B. y"], {"A": "x", "B": "y"}),
        (["(b) y", "A) x"], {"B": "y", "A": "x"}),
        (["A. x", "C. z", "D. w"], {"A": "x", "C": "z", "D": "w"}),  # one is lost: the others keep their letters
        (["C. Ronaldo", "L. Messi"], {"A": "C. Ronaldo", "B": "L. Messi"}),  # initials, not letters
        (["C. Ronaldo", "D. Beckham"], {"A": "C. Ronaldo", "B": "D. Beckham"}),
        (["A. A. Milne", "B. B. King"], {"A": "A. Milne", "B": "B. King"}),
        (["Paris", "Rome"], {"A": "Paris", "B": "Rome"}),
        ({"A": "x", "b": " y ", "C": None}, {"A": "x", "B": "y"}),
        ("['A. x' 'B. y'\n 'C. z']", {"A": "x", "B": "y", "C": "z"}),
        ("A. x\nB. y\nC. z", {"A": "x", "B": "y", "C": "z"}),
        ("A. Smith, John; B. y", {"A": "Smith, John", "B": "y"}),
        (None, {}),
        ("[]", {}),
    ],
)
def test_options_of_odd_shapes(options: Any, texts: dict[str, str]) -> None:
    assert option_texts(options) == texts


def test_an_answer_is_never_an_options_letter_or_bears_one(tmp_path: Path, config: Path) -> None:
    assert without_letter("A. Morgan Wallen", {"A": "Morgan Wallen"}) == "Morgan Wallen"
    assert without_letter("C. Ronaldo", {"A": "C. Ronaldo"}) == "C. Ronaldo"
    assert right_option("E", {"A": "x", "B": "y"}) == ""
    rows = [live(0, Ground_Truth_List="['A. Morgan Wallen']"), live(1, Ground_Truth_List="['A']"),
            live(2, Ground_Truth_List="[]", Ground_Truth="F"),
            live(3, Ground_Truth_List="[]", Ground_Truth="b")]  # fmt: skip
    _, counts, kept = read("livevqa_news_l2", put(news(tmp_path / "s"), rows, "Dataset.parquet"), config)
    assert [(row["id"][-1], row["answer"]) for row in kept] == [("0", "Morgan Wallen"), ("3", "Other")]
    assert counts["rejects"] == {"answer_too_short": 1, "missing_answer": 1}
    assert json.loads(kept[0]["meta"])["answer_fixed"] is False  # it was read right; its letter was taken off


# ---- EvoBrowseComp -------------------------------------------------------------------------------------------------


def test_a_wrong_key_or_canary_is_never_taken_for_text(tmp_path: Path, config: Path) -> None:
    (question, key), (answer, answer_key) = encrypt_keystream("Who wrote the second book of the three?", b"k1x"), (
        encrypt_keystream("Nobody in particular", b"other")
    )  # fmt: skip
    good = {"question": question, "question_key": key, "answer": answer, "answer_key": answer_key, "canary": None}
    wrong = "".join("B" if letter == "A" else "A" for letter in key[:-4]) + key[-4:]
    canary = {"question_key": None, "answer_key": None, "canary": "a canary"}
    hidden = {name: encrypt_canary("A question that was hidden under another canary", "the right one")
              for name in ("question", "answer")}  # fmt: skip
    rows = [good, {**good, "question_key": wrong}, {**good, "answer_key": key[:-4]}, {**good, **canary, **hidden},
            {**good, "question": "not base64!"}, {**good, "answer": None}]  # fmt: skip
    _, counts, kept = read("evobrowsecomp", put(tmp_path / "s", rows), config)
    assert [row["id"] for row in kept] == ["evobc_EN_0"]
    assert counts["rejects"] == {"undecryptable": 4, "missing_answer": 1}


@pytest.mark.parametrize(
    ("path", "members", "taken"),
    [
        ("news/2025/a.jpg", ["news/2024/a.jpg"], None),
        ("zz/a.jpg", ["n1/a.jpg", "n2/a.jpg"], None),
        ("news/2025/a.jpg", ["news/2024/a.jpg", "2025/a.jpg"], "2025/a.jpg"),
        ("a.jpg", ["news/2024/a.jpg"], "news/2024/a.jpg"),
        ("news/a.jpg", ["root/news/images/a.jpg"], "root/news/images/a.jpg"),
        ("news/a.jpg", ["root/other/a.jpg", "root/news/images/a.jpg"], "root/news/images/a.jpg"),
        ("data/news/2025/a.jpg", ["news/a.jpg"], "news/a.jpg"),
        ("data/news/2025/a.jpg", ["a.jpg"], "a.jpg"),
    ],
)
def test_a_photo_of_the_same_name_in_a_contradicting_folder_is_another_photo(
    path: str, members: list[str], taken: str | None, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "news.zip", "w") as archive:
        for name in members:
            archive.writestr(name, name)
    pictures = ZipPictures([tmp_path / "news.zip"])
    if taken is None:
        with pytest.raises(BadRow, match=r"picture_missing: .*lies in another folder"):
            pictures.read(path)
    else:
        assert pictures.read(path) == taken.encode()


@pytest.mark.parametrize("encoding", ["utf-8", "gbk"])
def test_member_names_that_do_not_say_how_they_are_written(encoding: str, tmp_path: Path) -> None:
    name = "news/照片.jpg".encode(encoding)
    with zipfile.ZipFile(tmp_path / "news.zip", "w") as archive:
        archive.writestr("x" * len(name), "the photo")
    data = (tmp_path / "news.zip").read_bytes().replace(b"x" * len(name), name)
    (tmp_path / "news.zip").write_bytes(data)
    pictures = ZipPictures([tmp_path / "news.zip"])
    assert [pictures.read(path) for path in ("news/照片.jpg", "照片.jpg")] == [b"the photo"] * 2


# ---- evaluation sets, other encodings of the file system ------------------------------------------------------------


def test_an_evaluation_set_without_items_or_columns(
    tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(folder: Path, out: Path) -> int:
        with pytest.raises(SystemExit) as ended:
            cli.run(read_evaluation_script.main, read_evaluation_script.parser,
                    ["--config", str(config), "--set", "fvqa_test", "--source-dir", str(folder),
                     "--out", str(out)])  # fmt: skip
        assert isinstance(ended.value.code, int)
        return ended.value.code

    row = {key: value for key, value in fvqa(0).items() if key != "category"}
    schema = pa.Table.from_pylist([row]).schema
    assert run(put(tmp_path / "a", [], "fvqa_test.parquet", schema), tmp_path / "a.parquet") == 1
    assert "none of 0 rows of fvqa_test.parquet gives an item" in capsys.readouterr().err
    assert not (tmp_path / "a.parquet").exists()
    assert run(put(tmp_path / "b", [{"x": 1}], "fvqa_test.parquet"), tmp_path / "b.parquet") == 1
    assert "fvqa_test.parquet" in capsys.readouterr().err
    assert not (tmp_path / "b.parquet").exists()


def evaluated(reader: str, folder: Path, rows: list[dict[str, Any]], name: str = "test.parquet") -> Any:
    """(counts, items) of a tolerant evaluation set."""
    out = folder.with_suffix(".parquet")
    settings = ReadSettings(name="x", reader=reader, tolerant=True)
    counts = read_evaluation(settings, put(folder, rows, name), out=out)
    return counts.to_dict(), pq.read_table(out).to_pylist()


@pytest.mark.parametrize(
    ("reader", "row", "said"),
    [
        ("simplevqa", {"data_id": 1, "image": "x", "prompt": "Q?"}, "a column question; found data_id, image, prompt"),
        ("simplevqa", {"data_id": 1, "picture": "x", "question": "Q?"}, "a column image; found data_id, picture, q"),
        ("fvqa_test", {"data_id": "1", "images": ["x"], "text": "Q?"}, "a column prompt or question; found data_id"),
        ("gaia", {"task_id": "1", "Ask": "Q?"}, "a column Question or question; found task_id, Ask"),
        ("simplevqa", {"data_id": 1, "image": None, "question": None}, r"none of 1 rows of test\.parquet .*question 1"),
    ],
)
def test_a_tolerant_evaluation_set_must_still_give_items(
    reader: str, row: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(TirError, match=said) as caught:
        evaluated(reader, tmp_path / "s", [row])
    assert caught.value.exit_code == 1
    assert "test.parquet" in str(caught.value)
    assert not (tmp_path / "s.parquet").exists()


def test_a_json_evaluation_set_must_have_its_columns_too(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "t.jsonl").write_text('{"id": 1, "canary": "c", "text": "x"}\n')
    with pytest.raises(TirError, match=r"t\.jsonl: .* needs a column question; found id, canary, text"):
        read_evaluation(ReadSettings(name="x", reader="mmbrowsecomp"), tmp_path / "s", out=tmp_path / "o.parquet")


def test_lost_pictures_are_noted_and_a_picture_without_text_still_counts(tmp_path: Path) -> None:
    data = base64.b64encode(PNG).decode()
    rows = [{"data_id": 1, "image": None, "question": "Which town is this?"},
            {"data_id": 2, "image": data, "question": None},
            {"data_id": 3, "image": None, "question": None},
            {"data_id": 4, "image": data, "question": "Who?"}]  # fmt: skip
    counts, items = evaluated("simplevqa", tmp_path / "s", rows)
    assert counts == {"read": 4, "kept": 3, "rejects": {"missing_question": 1}, "elsewhere": 0,
                      "notes": {"missing_question": 1, "picture_missing": 1}}  # fmt: skip
    assert [(item["id"], len(item["images"]), item["units"]) for item in items] == [
        ("1", 0, 4),
        ("2", 1, 0),
        ("4", 1, 1),
    ]
    message = [{"role": "user", "content": "Who?"}]
    rows = [
        {"data_id": str(i), "prompt": message, "images": given} for i, given in enumerate([None, [], [None], [PNG]])
    ]
    counts, items = evaluated("fvqa_test", tmp_path / "f", rows)
    assert counts["notes"] == {"picture_missing": 3}
    assert [len(item["images"]) for item in items] == [0, 0, 0, 1]


def test_a_picture_without_text_is_kept_out_of_training(tmp_path: Path) -> None:
    """A damaged question must not let its picture into training."""
    rows = [{"data_id": 2, "image": base64.b64encode(PNG).decode(), "question": None}]
    evaluated("simplevqa", tmp_path / "s", rows)
    images = [{"phash": item["phash"], "flat": item["flat"]} for item in
              pq.read_table(tmp_path / "s.parquet").to_pylist()[0]["images"]]  # fmt: skip
    matcher = Matcher(Fingerprints.read([tmp_path / "s.parquet"]), DecontaminationSettings())
    found = matcher.matches([Subject("Another text?", ((images[0]["phash"], images[0]["flat"]),)), Subject("?!", ())])
    assert [[(match.rule, match.evaluation_id, match.value) for match in one] for one in found] == [
        [("phash", "2", 0.0)],
        [],
    ]


def test_two_questions_under_one_gaia_id_are_both_indexed(tmp_path: Path) -> None:
    asked = ["First question?", "First question?", "Quite another one?"]
    rows = [{"task_id": "a", "Question": text, "file_name": ""} for text in asked]
    counts, items = evaluated("gaia", tmp_path / "s", rows)
    assert (counts["read"], counts["kept"], counts["notes"]) == (2, 2, {"repeated_id": 1})
    assert [(item["id"], item["units"]) for item in items] == [("a", 2), ("a", 3)]
    rows = [{**row, "Level": "1", "Final answer": "x"} for row in rows]
    tasks = list(gaia_tasks(put(tmp_path / "t", rows)))
    assert [(task.id, task.question, task.reject) for task in tasks] == [
        ("a", "First question?", ""),
        ("a#1", "", "repeated_id"),
    ]


READ_ANYWHERE = """
import sys
from pathlib import Path
from tir_distill.questions.parquet_in import batches, mark_of, schema_of
from tir_distill.sources.parquet_out import EVALUATION, table_writer
from tir_distill.sources.tables import columns_of, count_rows, rows
folder = Path(sys.argv[1])
table = folder / "source.parquet"
assert (columns_of(table), count_rows(table), list(rows(table))) == (["a"], 2, [{"a": 1}, {"a": 2}])
written = folder / "deeper" / "out.parquet"
with table_writer(written, EVALUATION) as out:
    pass
assert (list(batches(written, ["id"])), schema_of(written).names[1], mark_of(written, "format")) == ([], "id", "2")
print(sys.getfilesystemencoding())
"""


def test_paths_outside_ascii_under_the_c_locale(tmp_path: Path) -> None:
    """Arrow opens a path as UTF-8 text; where file names are not UTF-8 for Python, only Python can open them."""
    folder = tmp_path / "数据 ünd"
    folder.mkdir()
    (folder / "source.parquet").write_bytes(parquet([{"a": 1}, {"a": 2}]))
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(cli.__file__).parents[1]),
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
    }
    done = subprocess.run([sys.executable, "-c", READ_ANYWHERE, folder], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "ascii"  # else the test would show nothing


def test_a_picture_of_every_kind_in_one_bucket(tmp_path: Path, config: Path) -> None:
    """Fault classes H: what can be shown is stored upright, 8-bit and opaque; the rest is counted under its reason."""
    rotated = encoded(
        picture(24, 16), "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    )
    bomb = bytearray(PNG)
    bomb[16:24] = struct.pack(">II", 20_000, 20_000)
    bomb[29:33] = struct.pack(">I", zlib.crc32(bytes(bomb[12:29])))
    kinds = {
        "rotated": rotated, "cmyk": encoded(picture(seed=2).convert("CMYK"), "JPEG"),
        "palette": encoded(picture(seed=3).convert("P"), "GIF"), "alpha": encoded(picture(seed=4).convert("RGBA")),
        "animated": encoded(picture(seed=5), "WEBP", save_all=True, append_images=[picture(seed=6)], lossless=True),
        "cut": encoded(picture(300, 200, 7), "JPEG")[:2000], "nothing": b"", "bomb": bytes(bomb),
        "page": b"<html></html>", "dot": encoded(picture(1, 1)),
    }  # fmt: skip
    rows = [chart(image={"bytes": data, "path": f"{kind}.bmp"}) for kind, data in kinds.items()]
    _, counts, kept = read("chartqa_human", put(tmp_path / "s", rows), config)
    assert len(kept) == 5
    assert {cell["ext"] for row in kept for cell in row["images"]} == {"png"}
    assert (kept[0]["images"][0]["width"], kept[0]["images"][0]["height"]) == (16, 24)
    assert counts["rejects"] == {
        "picture_truncated": 1, "picture_empty": 1, "picture_too_many_pixels": 1, "picture_unknown_format": 1,
        "picture_too_small": 1,
    }  # fmt: skip
