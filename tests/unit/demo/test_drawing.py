"""Drawn sources: the layouts of upstream, the same bytes each time, planted pairs and nothing else alike."""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import json
import re
import zipfile
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import imagehash
import pyarrow.parquet as pq
import pytest
from PIL import Image, UnidentifiedImageError

from demo_helpers import RESOURCES, rows_of, stored, xor
from tir_distill.demo import draw
from tir_distill.demo.ciphers import canary_cipher
from tir_distill.demo.upstream import numpy_text

FVQA = "mzhang1766/huawei_benchmark/fvqa_train.parquet"
LIVEVQA = "ONE-Lab/LiveVQA-2025/Dataset.parquet"
NEWS = "ONE-Lab/LiveVQA-2025/news.zip"
EVOBROWSECOMP = "Krystalan/EvoBrowseComp/data/train-00000-of-00001.parquet"
CHARTQA = "HuggingFaceM4/ChartQA/data/train-00000-of-00001.parquet"
TABMWP = "JiaerX/TabMWP/data/train-00000-of-00001.parquet"
SIMPLEVQA = "m-a-p/SimpleVQA/data/test-00000-of-00001.parquet"
FVQA_TEST = "lmms-lab/FVQA/fvqa_test.parquet"
GAIA = "gaia-benchmark/GAIA/2023/validation/metadata.parquet"
MMBROWSECOMP = "mmbrowsecomp/MMBrowseComp/data/MMBrowseComp.jsonl"


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirror")
    counts = draw(folder)
    assert counts["fvqa"] == len(rows_of(folder / FVQA))
    assert set(counts) == {
        *("fvqa", "livevqa", "evobrowsecomp", "chartqa", "tabmwp"),
        *("simplevqa", "fvqa_test", "gaia", "mmbrowsecomp"),
    }
    return folder


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_drawn_twice_is_the_same_bytes_and_another_seed_is_not(mirror: Path, tmp_path: Path) -> None:
    draw(tmp_path / "again")
    draw(tmp_path / "other", seed=5)
    first, other = files(mirror), files(tmp_path / "other")
    assert files(tmp_path / "again") == first
    assert set(other) == set(first)
    assert all(other[name] != first[name] for name in (FVQA, CHARTQA, TABMWP, NEWS))


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        (
            FVQA,
            {
                "prompt": "list<element: struct<content: string, role: string>>",
                "images": "list<element: struct<bytes: binary, path: null>>",
                "reward_model": "struct<candidate_answers: string, ground_truth: string, style: string>",
                "data_source": "string",
                "image_urls": "null",
                "data_id": "string",
                "category": "string",
            },
        ),
        (
            LIVEVQA,
            {
                **{"id": "string", "level": "int64", "question": "string", "options": "list<element: string>"},
                **dict.fromkeys(("Ground_Truth", "Ground_Truth_List", "img_path", "topic", "source"), "string"),
            },
        ),
        (EVOBROWSECOMP, dict.fromkeys(("question", "question_key", "answer", "answer_key"), "string")),
        (
            CHARTQA,
            {
                "image": "struct<bytes: binary, path: string>",
                "query": "string",
                "label": "list<element: string>",
                "human_or_machine": "int64",
            },
        ),
        (
            TABMWP,
            {
                "image": "struct<bytes: binary, path: string>",
                **{"id": "string", "question": "string", "options": "list<element: string>", "answer": "string"},
            },
        ),
    ],
)
def test_columns_are_those_of_upstream(mirror: Path, path: str, columns: dict[str, str]) -> None:
    schema = pq.read_schema(mirror / path)
    assert {field.name: str(field.type) for field in schema} == columns


def test_evaluation_sets_have_the_columns_of_upstream(mirror: Path) -> None:
    assert "category" not in pq.read_schema(mirror / FVQA_TEST).names
    simplevqa = pq.read_schema(mirror / SIMPLEVQA)
    assert str(simplevqa.field("data_id").type) == "int64"
    assert str(simplevqa.field("image").type) == "string"
    gaia = pq.read_schema(mirror / GAIA)
    assert gaia.names[:6] == ["task_id", "Question", "Level", "Final answer", "file_name", "file_path"]
    rows = [json.loads(line) for line in (mirror / MMBROWSECOMP).read_text().splitlines()]
    assert set(rows[0]) == {
        *("id", "images", "question", "answer", "checklist", "checklist_property"),
        *("source", "category", "subtask", "level", "canary"),
    }
    images = {path.name for path in (mirror / "mmbrowsecomp/MMBrowseComp/MMBC_images").iterdir()}
    assert images == {url.rpartition("/")[2] for row in rows for url in row["images"]}


def test_no_encrypted_text_lies_in_the_open(mirror: Path) -> None:
    row = rows_of(mirror / EVOBROWSECOMP)[0]
    question = xor(row["question"], row["question_key"])
    assert question.startswith("The engineer of the structure")
    bench = json.loads((mirror / MMBROWSECOMP).read_text().splitlines()[0])
    key = hashlib.sha256(bench["canary"].encode()).digest()
    plain = bytes(b ^ key[i % 32] for i, b in enumerate(base64.b64decode(bench["question"]))).decode()
    assert plain.startswith("Which miller worked last")
    assert base64.b64decode(canary_cipher("A" * 33, "c"))[0] == base64.b64decode(canary_cipher("A" * 33, "c"))[32]
    for path in mirror.rglob("*"):
        if path.is_file() and path.name != "planted.json":
            data = path.read_bytes()
            assert question.encode() not in data
            assert plain.encode() not in data


def test_lists_are_written_as_numpy_prints_them() -> None:
    import numpy as np

    for items in (["a", "b", "c"], ["King's Indian", 'a "b"'], ["one"], ["石虹桥", "x y"]):
        printed = str(np.array(items, dtype=object))
        assert " ".join(numpy_text(items).split()) == " ".join(printed.split())
    assert ast.literal_eval(numpy_text(["Morgan", "Wallen"])) == ["MorganWallen"]  # the trap that readers must avoid


def pictures_of(mirror: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Training and evaluation pictures by id, those that can be decoded."""
    train: dict[str, bytes] = {row["data_id"]: row["images"][0]["bytes"] for row in rows_of(mirror / FVQA)}
    with zipfile.ZipFile(mirror / NEWS) as archive:
        for row in rows_of(mirror / LIVEVQA):
            if row["img_path"] in archive.namelist():
                train[f"livevqa_{row['id']}"] = archive.read(row["img_path"])
    for index, row in enumerate(rows_of(mirror / CHARTQA)):
        train[f"chartqa_train_{index}"] = row["image"]["bytes"]
    for row in rows_of(mirror / TABMWP):
        train[f"tabmwp_{row['id']}"] = row["image"]["bytes"]
    tests = {f"simplevqa {r['data_id']}": base64.b64decode(r["image"]) for r in rows_of(mirror / SIMPLEVQA)}
    tests |= {f"fvqa_test {r['data_id']}": r["images"][0]["bytes"] for r in rows_of(mirror / FVQA_TEST)}
    for row in map(json.loads, (mirror / MMBROWSECOMP).read_text().splitlines()):
        for url in row["images"]:
            path = mirror / "mmbrowsecomp/MMBrowseComp/MMBC_images" / url.rpartition("/")[2]
            tests[f"mmbrowsecomp {row['id']}"] = path.read_bytes()
    for row in rows_of(mirror / GAIA):
        if row["file_name"]:
            tests[f"gaia {row['task_id']}"] = (mirror / "gaia-benchmark/GAIA" / row["file_path"]).read_bytes()
    return train, tests


def hashes(pictures: dict[str, bytes]) -> dict[str, Any]:
    out = {}
    for name, data in pictures.items():
        try:
            with Image.open(io.BytesIO(stored(data))) as picture:
                if picture.convert("L").getextrema()[0] != picture.convert("L").getextrema()[1]:
                    out[name] = imagehash.phash(picture)
        except (OSError, UnidentifiedImageError):
            continue
    return out


def test_exactly_the_planted_pictures_are_near_an_evaluation_picture(mirror: Path) -> None:
    train, tests = map(hashes, pictures_of(mirror))
    near = {(a, b) for (a, x), (b, y) in product(train.items(), tests.items()) if x - y <= 6}
    planted = json.loads((mirror / "planted.json").read_text())["planted"]
    assert near == {(row["id"], f"{row['set']} {row['item']}") for row in planted if row["by"] == "image"}
    assert len(near) == 4


def test_no_two_scenes_are_alike(mirror: Path) -> None:
    train, _ = map(hashes, pictures_of(mirror))
    seen: dict[str, Any] = {}
    for name, value in train.items():
        if name.startswith(("fvqa", "livevqa")):
            article = re.sub(r"_l[12]_\d+$", "", name)
            seen.setdefault(article, value)
    names = list(seen)
    close = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if seen[a] - seen[b] <= 6]
    assert close == []


def units(text: str) -> set[str]:
    """Words, or pairs of Chinese characters, counted here by themselves."""
    chinese = re.findall(r"[\u4e00-\u9fff]", text)
    if len(chinese) > 5:
        return {"".join(pair) for pair in pairwise(chinese)}
    return set(re.findall(r"[a-z0-9']+", text.lower()))


def test_planted_texts_are_near_their_evaluation_text_and_no_other_long_text_is(mirror: Path) -> None:
    train = {row["data_id"]: row["prompt"][0]["content"] for row in rows_of(mirror / FVQA)}
    train |= {f"livevqa_{row['id']}": row["question"] for row in rows_of(mirror / LIVEVQA)}
    counters = {"EN": 0, "ZH": 0}
    for row in rows_of(mirror / EVOBROWSECOMP)[:-1]:
        text = xor(row["question"], row["question_key"])
        language = "ZH" if re.search(r"[\u4e00-\u9fff]", text) else "EN"
        train[f"evobc_{language}_{counters[language]}"] = text
        counters[language] += 1
    tests = {f"simplevqa {r['data_id']}": r["question"] for r in rows_of(mirror / SIMPLEVQA)}
    tests |= {f"fvqa_test {r['data_id']}": r["prompt"][0]["content"] for r in rows_of(mirror / FVQA_TEST)}
    tests |= {f"gaia {r['task_id']}": r["Question"] for r in rows_of(mirror / GAIA)}
    for row in map(json.loads, (mirror / MMBROWSECOMP).read_text().splitlines()):
        key = hashlib.sha256(row["canary"].encode()).digest()
        data = base64.b64decode(row["question"])
        tests[f"mmbrowsecomp {row['id']}"] = bytes(b ^ key[i % 32] for i, b in enumerate(data)).decode()
    near = set()
    for (a, x), (b, y) in product(train.items(), tests.items()):
        left, right = units(x), units(y)
        if min(len(left), len(right)) >= 12 and len(left & right) / len(left | right) >= 0.8:
            near.add((a, b))
    planted = json.loads((mirror / "planted.json").read_text())["planted"]
    assert near == {(row["id"], f"{row['set']} {row['item']}") for row in planted if row["by"] == "text"}
    assert len(near) == 4


def test_faulty_rows_are_as_they_are_said_to_be(mirror: Path) -> None:
    faults = {row["fault"]: row["id"] for row in json.loads((mirror / "planted.json").read_text())["rejects"]}
    assert set(faults) == {
        *("undecodable_picture", "no_answer", "answer_too_short", "answer_too_long", "photo_missing"),
        *("unreadable_list", "key_length_differs", "yes_no", "machine_made", "options", "not_numeric"),
    }
    fvqa = {row["data_id"]: row for row in rows_of(mirror / FVQA)}
    with (
        Image.open(io.BytesIO(fvqa[faults["undecodable_picture"]]["images"][0]["bytes"])) as opened,
        pytest.raises(OSError),
    ):
        opened.load()
    last = rows_of(mirror / EVOBROWSECOMP)[-1]
    assert len(base64.b64decode(last["question"])) != len(base64.b64decode(last["question_key"]))
    lists = {f"livevqa_{row['id']}": row["Ground_Truth_List"] for row in rows_of(mirror / LIVEVQA)}
    assert not lists[faults["unreadable_list"]].endswith("]")
    assert any("\"King's Indian" in text for text in lists.values())  # an apostrophe inside a numpy-style list


def test_the_question_files_belong_together() -> None:
    from tir_distill.demo.inventory import load_playbook, load_questions, load_yaml

    asks = load_questions(RESOURCES)
    truth = load_yaml("truth.yaml", RESOURCES)
    assert len({ask.key for ask in asks}) == len(asks)
    assert len({ask.text for ask in asks}) == len(asks)  # scripts find their question by its text
    known = {*truth["fvqa"], *truth["livevqa_answers"], *truth["evobrowsecomp"]}
    assert known == {ask.key for ask in asks if ask.group not in ("charts", "tables")}
    scripts = load_playbook(RESOURCES)
    assert {script.question for script in scripts} <= {ask.key for ask in asks}
    assert {script.expect for script in scripts if script.expect} == {f"F{n}" for n in range(1, 12)}
    for script in scripts:
        if script.expect and script.accepted:
            assert script.samples == (0,)
