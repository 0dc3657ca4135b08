"""Each source's layout, and that no row of any shape can raise anything but BadRow."""

from __future__ import annotations

import base64
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sources_helpers import encoded, picture
from tir_distill.records import BadRow, TirError, UsageError, dumps
from tir_distill.sources import EVALUATION_READERS, QUESTION_READERS, Candidate, evaluation_reader, question_reader
from tir_distill.sources.keystream import encrypt_canary, encrypt_keystream
from tir_distill.sources.readers import NOT_OURS, Reader
from tir_distill.sources.readers.livevqa import level_of, open_question, option_texts, right_option
from tir_distill.sources.readers.tabmwp import is_numeric

PNG = encoded(picture(8, 8))


def make(name: str, folder: Path, **options: Any) -> Any:
    """A reader on a folder that holds at least one table."""
    if not any(folder.iterdir()):
        (folder / "t.jsonl").write_bytes(b"{}\n")
    if name in QUESTION_READERS:
        return question_reader(name)(folder, **options)
    return evaluation_reader(name)(folder, **options)


def reason(reader: Reader, row: dict[str, Any], index: int = 0) -> str:
    with pytest.raises(BadRow) as error:
        reader.parse(row, index)  # type: ignore[attr-defined]
    return error.value.reason


# ---- FVQA ----------------------------------------------------------------------------------------------------------


def fvqa_row(**over: Any) -> dict[str, Any]:
    return {
        "prompt": [{"content": "What is it?", "role": "user"}],
        "images": [{"bytes": PNG, "path": None}],
        "reward_model": {
            "candidate_answers": '["ES", "Spain", "", "\\ud83c\\uddea\\ud83c\\uddf8"]',
            "ground_truth": "Spain",
            "style": "rule",
        },
        "data_source": "mmsearch_r1/fvqa_train",
        "data_id": "fvqa_train_12",
        "category": "search_required",
        **over,
    }  # fmt: skip


def test_fvqa_row(tmp_path: Path) -> None:
    found = make("fvqa", tmp_path).parse(fvqa_row(), 3)
    assert found == Candidate(
        id="fvqa_train_12",
        question="What is it?",
        answer="Spain",
        candidates=("ES", "🇪🇸"),
        pictures=(PNG,),
        meta={"category": "search_required"},
    )


@pytest.mark.parametrize(
    "images",
    [
        [PNG],
        PNG,
        {"bytes": PNG},
        [{"bytes": base64.b64encode(PNG).decode(), "path": None}],
        base64.b64encode(PNG).decode(),
        base64.encodebytes(PNG).decode(),
        base64.urlsafe_b64encode(PNG).decode().rstrip("="),
        "data:image/png;base64," + base64.b64encode(PNG).decode(),
        [{"bytes": None, "path": "图片 folder/a b.png"}],
        ["图片 folder/a b.png"],
    ],
)
def test_fvqa_takes_pictures_in_any_container(images: Any, tmp_path: Path) -> None:
    (tmp_path / "图片 folder").mkdir()
    (tmp_path / "图片 folder" / "a b.png").write_bytes(PNG)
    (tmp_path / "t.jsonl").write_bytes(b"{}\n")
    assert make("fvqa", tmp_path).parse(fvqa_row(images=images), 0).pictures == (PNG,)


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"images": []}, "picture_missing"),
        ({"images": None}, "picture_missing"),
        ({"images": [{"bytes": None, "path": None}]}, "picture_missing"),
        ({"images": ["gone.png"]}, "picture_missing"),
        ({"images": ["../../etc/passwd"]}, "path_outside_source"),
        ({"images": ["/etc/passwd"]}, "path_outside_source"),
        ({"images": ["C:\\\\x.png"]}, "path_outside_source"),
        ({"images": [7]}, "picture_unknown_container"),
        ({"images": ["half \ud83c.png"]}, "undecodable_text"),
        ({"images": ["x" * 300 + ".png"]}, "picture_missing"),
        ({"reward_model": None}, "missing_reward_model"),
        ({"reward_model": {"ground_truth": " "}}, "missing_ground_truth"),
        ({"reward_model": {"ground_truth": "x", "candidate_answers": "['a', 'b"}}, "unreadable_list"),
        ({"prompt": []}, "missing_question"),
        ({"data_source": "mmsearch_r1/fvqa_test"}, "evaluation_row"),
        ({"prompt": [{"content": "half \ud83c"}]}, "undecodable_text"),
    ],
)
def test_fvqa_rows_that_cannot_be_used(over: dict[str, Any], expected: str, tmp_path: Path) -> None:
    assert reason(make("fvqa", tmp_path), fvqa_row(**over)) == expected


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ('[{"content": "What is it? <image>", "role": "user"}]', "What is it?"),
        ("[{'content': 'What is it?', 'role': 'user'}]", "What is it?"),
        ('{"content": "What is it?", "role": "user"}', "What is it?"),
        ({"content": "What is it?", "role": "user"}, "What is it?"),
        ("[Photo] What is it?", "[Photo] What is it?"),
        ("{x} is what?", "{x} is what?"),
        ('[{"content": "What', None),
        ('{"role": "user"}', None),
        (float("nan"), None),
    ],
)  # fmt: skip
def test_fvqa_messages_as_text(prompt: Any, question: str | None, tmp_path: Path) -> None:
    reader = make("fvqa", tmp_path)
    if question is None:
        assert reason(reader, fvqa_row(prompt=prompt)) in ("unreadable_prompt", "missing_question")
    else:
        assert reader.parse(fvqa_row(prompt=prompt), 0).question == question


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_no_text(value: float, tmp_path: Path) -> None:
    row = {"image": {"bytes": PNG}, "id": "5", "question": value, "options": None, "answer": "7"}
    assert reason(make("tabmwp", tmp_path), row) == "missing_question"
    chart = {"image": {"bytes": PNG}, "query": "Q?", "label": [value], "human_or_machine": 0}
    assert reason(make("chartqa", tmp_path), chart) == "missing_label"


def test_a_link_that_leaves_the_source_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(PNG)
    inner = tmp_path / "source"
    inner.mkdir()
    (inner / "t.jsonl").write_bytes(b"{}\n")
    (inner / "link.png").symlink_to(outside)
    assert reason(make("fvqa", inner), fvqa_row(images=["link.png"])) == "path_outside_source"


# ---- LiveVQA -------------------------------------------------------------------------------------------------------

ARTICLE = "0_20250513131530612901"


def live_row(**over: Any) -> dict[str, Any]:
    return {
        "id": f"{ARTICLE}_l2_0",
        "level": 2,
        "question": "Who sings?",
        "options": ["A. Morgan Wallen", "B. Other"],
        "Ground_Truth": "A",
        "Ground_Truth_List": "['Morgan Wallen' 'Wallen'\n 'country singer Morgan Wallen']",
        "img_path": "news_images/a.png",
        "topic": "news",
        "source": "CNN",
        **over,
    }


@pytest.fixture
def live(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "news.zip", "w") as archive:
        archive.writestr("news_images/a.png", PNG)
        archive.writestr("news_images/图 b.png", PNG + b"b")
        archive.writestr("x/same.png", PNG)
        archive.writestr("y/same.png", PNG)
    (tmp_path / "Dataset.jsonl").write_bytes(b"{}\n")
    return tmp_path


def test_livevqa_row(live: Path) -> None:
    found = make("livevqa_l2", live).parse(live_row(), 0)
    assert found.id == f"livevqa_{ARTICLE}_l2_0"
    assert (found.question, found.answer) == ("Who sings?", "Morgan Wallen")
    assert found.candidates == ("Wallen", "country singer Morgan Wallen")
    assert found.group == ARTICLE
    assert found.pictures == (PNG,)
    assert found.meta == {
        "level": 2,
        "article": ARTICLE,
        "answer_fixed": True,
        "category": "news",
        "publisher": "CNN",
    }


@pytest.mark.parametrize(
    ("raw", "fixed"),
    [
        ("['Morgan Wallen']", False),
        ("['Morgan Wallen', 'Wallen']", False),
        ("array(['Morgan Wallen', 'Wallen'], dtype=object)", False),
        (["Morgan Wallen", "Wallen"], False),
        ("['Morgan Wallen' 'Wallen']", True),
    ],
)
def test_answer_fixed_only_where_the_naive_reading_gives_another_list(raw: Any, fixed: bool, live: Path) -> None:
    found = make("livevqa_l2", live).parse(live_row(Ground_Truth_List=raw), 0)
    assert found.meta["answer_fixed"] is fixed
    assert found.answer == "Morgan Wallen"


def test_the_right_options_text_is_kept_as_a_candidate(live: Path) -> None:
    row = live_row(options="['A. M. Wallen' 'B. Other']", Ground_Truth_List="['Morgan Wallen']")
    assert make("livevqa_l2", live).parse(row, 0).candidates == ("M. Wallen",)
    row = live_row(Ground_Truth_List="[]")
    assert make("livevqa_l2", live).parse(row, 0).answer == "Morgan Wallen"


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({"Ground_Truth_List": "['5']"}, "answer_too_short"),
        ({"Ground_Truth_List": ["x" * 61]}, "answer_too_long"),
        ({"Ground_Truth_List": "['a' ... 'z']"}, "elided_list"),
        ({"Ground_Truth_List": "['Mumbai', 'Bomb"}, "unreadable_list"),
        ({"Ground_Truth_List": None, "Ground_Truth": None}, "missing_answer"),
        ({"img_path": "news_images/gone.png"}, "picture_missing"),
        ({"img_path": "same.png"}, "picture_ambiguous"),
        ({"img_path": None}, "picture_missing"),
        ({"question": " "}, "missing_question"),
        ({"id": "article", "level": None}, "missing_level"),
        ({"id": None}, "missing_id"),
    ],
)
def test_livevqa_rows_that_cannot_be_used(over: dict[str, Any], expected: str, live: Path) -> None:
    assert reason(make("livevqa_l2", live), live_row(**over)) == expected


@pytest.mark.parametrize(
    "path",
    ["news_images/a.png", "./news_images/a.png", "news/news_images/a.png", "a.png", "LiveVQA\\news_images\\a.png",
     "/data/news_images/a.png"],
)  # fmt: skip
def test_livevqa_finds_photos_by_path_or_unique_name(path: str, live: Path) -> None:
    assert make("livevqa_l2", live).parse(live_row(img_path=path), 0).pictures == (PNG,)


def test_livevqa_answer_length_is_a_setting(live: Path) -> None:
    row = live_row(Ground_Truth_List="['5']")
    assert make("livevqa_l2", live, answer_chars=(1, 60)).parse(row, 0).answer == "5"


def test_livevqa_other_levels_and_parts_are_not_ours(live: Path) -> None:
    reader = make("livevqa_l2", live)
    assert reader.parse(live_row(id=f"{ARTICLE}_l1_0", level=1), 0) is NOT_OURS
    assert reader.parse(live_row(img_path="paper_images/p.png"), 0) is NOT_OURS
    assert reader.parse(live_row(img_path="youtube_images/p.png"), 0) is NOT_OURS


def test_livevqa_flat_rows_whose_id_is_the_article_are_numbered(live: Path) -> None:
    reader = make("livevqa_l2", live)
    rows = [live_row(id=ARTICLE, level="level2"), live_row(id="other", level="L2"), live_row(id=ARTICLE, level=2.0)]
    assert [reader.parse(row, i).id for i, row in enumerate(rows)] == [
        f"livevqa_{ARTICLE}_l2_0",
        "livevqa_other_l2_0",
        f"livevqa_{ARTICLE}_l2_1",
    ]


def test_livevqa_nested_articles(live: Path) -> None:
    question = {
        "question": "Q?",
        "options": ["A. right", "B. wrong"],
        "Ground_Truth": "A",
        "Ground_Truth_List": ["right"],
        "question_type": "person",
    }
    row = {
        "id": ARTICLE,
        "topic": "sports",
        "img_paths": ["news_images/a.png", "news_images/图 b.png"],
        "level1_qas": [question, {**question, "Ground_Truth_List": ["x"]}],
        "level2_qas_img1": [question, question],
        "level2_qas_img2": [{**question, "img_path": None}],
        "level2_qas_img10": None,
    }
    first = make("livevqa_l1", live).parse(row, 0)
    assert [getattr(item, "id", None) or item.reason for item in first] == [
        f"livevqa_{ARTICLE}_l1_0",
        "answer_too_short",
    ]
    second = make("livevqa_l2", live).parse(row, 0)
    assert [item.id for item in second] == [f"livevqa_{ARTICLE}_l2_{k}" for k in range(3)]
    assert [item.pictures[0] for item in second] == [PNG, PNG, PNG + b"b"]
    assert second[0].meta["question_type"] == "person"
    assert reason(make("livevqa_l2", live), {**row, "discarded": True}) == "discarded_upstream"


def test_livevqa_nested_columns_as_text_and_damaged_questions(live: Path) -> None:
    right = {"question": "Q?", "options": ["A. right", "B. wrong"], "Ground_Truth": "A", "Ground_Truth_List": ["right"]}
    row = {"id": ARTICLE, "img_paths": '["news_images/a.png", "news_images/图 b.png"]'}
    reader = make("livevqa_l2", live)

    def told(value: Any, **more: Any) -> list[str]:
        items = reader.parse({**row, "level1_qas": None, "level2_qas_img1": value, **more}, 0)
        return [getattr(item, "id", "").rpartition("_")[2] or item.reason for item in items]

    for value in ([right, right], json.dumps([right, right]), repr([right, right]), [json.dumps(right), right]):
        assert told(value) == ["0", "1"]
    assert told([right, 5, "no question", right]) == ["0", "damaged_question", "damaged_question", "3"]
    assert told([None, {}, right, ""]) == ["0"]
    assert told("[{cut") == ["unreadable_questions"]
    assert told({"question": "Q?"}) == ["unreadable_questions"]
    assert told(None, level2_qas_img2=json.dumps([right])) == ["0"]
    second = reader.parse({**row, "level2_qas_img2": json.dumps([right])}, 0)
    assert second[0].pictures == (PNG + b"b",)
    assert told(None) == told([]) == told("") == told("null") == []


def test_livevqa_a_flat_row_beside_empty_nested_columns_is_read(live: Path) -> None:
    reader = make("livevqa_l2", live)
    for empty in (None, [], ""):
        assert reader.parse({**live_row(), "level1_qas": None, "level2_qas_img1": empty}, 0) == reader.parse(
            live_row(), 0
        )


def test_livevqa_options_as_the_text_of_a_mapping() -> None:
    for text in ("{'A': 'x', 'b': 'y'}", '{"A": "x", "b": "y"}', " {'A': 'x', 'b': 'y'} "):
        assert option_texts(text) == {"A": "x", "B": "y"}
    for text in ("{'A': 'x', 'B'", "{x}", "{'A', 'B'}"):
        with pytest.raises(BadRow, match="unreadable_options"):
            option_texts(text)


def test_options_letters_and_levels() -> None:
    assert option_texts(["A. x", "(b) y", "C：z", "plain"]) == {"A": "x", "B": "y", "C": "z", "D": "plain"}
    assert right_option("b", {"A": "x", "B": "y"}) == "y"
    assert right_option("B. y", {"A": "x", "B": "y"}) == "y"
    assert right_option("Y", {"A": "x", "B": "y"}) == "y"
    assert right_option("E", {"A": "x"}) == ""
    assert right_option(None, {"A": "x"}) == ""
    assert [level_of(v) for v in (1, "2", "level2", "L1", 2.0, None, True, "x", [])] == [
        1,
        2,
        2,
        1,
        2,
        None,
        None,
        None,
        None,
    ]
    assert open_question("Who?\nA. x\nB. y") == "Who?"
    assert open_question("Who?\nA. Smith wrote it.") == "Who?\nA. Smith wrote it."


def test_a_damaged_member_costs_its_rows_only(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "news.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", bytes(2000))
        archive.writestr("b.png", PNG)
    data = bytearray((tmp_path / "news.zip").read_bytes())
    data[40] ^= 0xFF
    (tmp_path / "news.zip").write_bytes(data)
    reader = make("livevqa_l2", tmp_path / ".")
    assert reason(reader, live_row(img_path="a.png")) == "picture_unreadable"
    assert reader.parse(live_row(img_path="b.png"), 0).pictures == (PNG,)


def test_a_zip_that_is_none_is_an_error_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "news.zip").write_bytes(b"PK but no zip")
    with pytest.raises(TirError, match="fetch the source again"):
        make("livevqa_l2", tmp_path)


# ---- EvoBrowseComp -------------------------------------------------------------------------------------------------


def evo_row(question: str, answer: str, key: bytes = b"\x07secret") -> dict[str, Any]:
    (q, qk), (a, ak) = encrypt_keystream(question, key), encrypt_keystream(answer, key[::-1])
    return {"question": q, "question_key": qk, "answer": a, "answer_key": ak}


def test_evobrowsecomp_ids_count_within_the_language(tmp_path: Path) -> None:
    reader = make("evobrowsecomp", tmp_path)
    rows = [evo_row("Who?", "A"), evo_row("谁？", "乙"), evo_row("When?", "1999"), evo_row("かな", "あ")]
    found = [reader.parse(row, i) for i, row in enumerate(rows)]
    assert [item.id for item in found] == ["evobc_EN_0", "evobc_ZH_0", "evobc_EN_1", "evobc_ZH_1"]
    assert [(item.question, item.answer) for item in found][1] == ("谁？", "乙")
    assert found[0].pictures == ()


def test_evobrowsecomp_canary_and_errors(tmp_path: Path) -> None:
    reader = make("evobrowsecomp", tmp_path)
    canary = {"question": encrypt_canary("Who?", "c"), "answer": encrypt_canary("Me", "c"), "canary": "c"}
    assert reader.parse(canary, 0).answer == "Me"
    good = evo_row("Second?", "B")
    assert reason(reader, {**good, "question_key": "AAAA"}) == "undecryptable"
    assert reason(reader, {"question": "plain text", "answer": "x"}) == "undecryptable"
    assert reason(reader, {**good, "answer": None}) == "missing_answer"
    assert reader.parse(evo_row("Third?", "C"), 2).id == "evobc_EN_2"  # the row without an answer keeps its number


# ---- ChartQA, TabMWP, HotpotQA -------------------------------------------------------------------------------------


def test_chartqa(tmp_path: Path) -> None:
    reader = make("chartqa", tmp_path)
    row = {"image": {"bytes": PNG, "path": None}, "query": "How many?", "label": ["14"], "human_or_machine": 0}
    found = reader.parse(row, 7)
    assert (found.id, found.answer, found.pictures, found.group) == ("chartqa_train_7", "14", (PNG,), "")
    assert reader.parse({**row, "human_or_machine": 1}, 0) is NOT_OURS
    assert reader.parse({**row, "human_or_machine": "machine"}, 0) is NOT_OURS
    assert reader.parse({**row, "human_or_machine": "human", "label": 0.39}, 0).answer == "0.39"
    for label in (["Yes"], "no", ["NO."]):
        assert reason(reader, {**row, "label": label}) == "yes_no_answer"
    assert reason(reader, {**row, "label": []}) == "missing_label"
    assert reason(reader, {**row, "human_or_machine": None}) == "missing_human_or_machine"
    assert reader.parse({**row, "label": ["Norway"]}, 0).answer == "Norway"


@pytest.mark.parametrize("text", ["5", "-5", "+5", "−5", "6,830", "1,234,567.8", "0.39", ".5", "1/12", "47/88"])
def test_numbers(text: str) -> None:
    assert is_numeric(text)


@pytest.mark.parametrize(
    "text", ["", "5 m", "$5", "1,23", "12:30", "1/0", "1 hour", "5%", "five", "1e3", "٣", "1.2.3", "-", ","]
)
def test_not_numbers(text: str) -> None:
    assert not is_numeric(text)


def test_tabmwp(tmp_path: Path) -> None:
    reader = make("tabmwp", tmp_path)
    row = {"image": {"bytes": PNG}, "id": "533", "question": "How many?", "options": None, "answer": "6,830"}
    assert reader.parse(row, 0).id == "tabmwp_533"
    assert reader.parse({**row, "options": []}, 0).answer == "6,830"
    assert reason(reader, {**row, "options": ["a", "b"]}) == "multiple_choice"
    assert reason(reader, {**row, "answer": "1 hour and 15 minutes"}) == "not_numeric"


def test_hotpotqa_in_both_layouts(tmp_path: Path) -> None:
    reader = make("hotpotqa", tmp_path)
    hub = {
        "id": "5a",
        "question": "Q?",
        "answer": "yes",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": {"title": ["T"], "sent_id": [1]},
        "context": {"title": ["T", "U"], "sentences": [["a.", " b."], ["c."]]},
    }
    original = {
        **{key: hub[key] for key in ("question", "answer", "type", "level")},
        "_id": "5a",
        "supporting_facts": [["T", 1]],
        "context": [["T", ["a.", " b."]], ["U", ["c."]]],
    }
    assert reader.parse(hub, 0) == reader.parse(original, 0)
    assert reader.parse(hub, 0).id == "hotpotqa_5a"
    assert reader.parse(hub, 0).meta["supporting_facts"] == [["T", 1]]
    for facts in ([["T", 2]], [["V", 0]], [["T", None]]):
        assert reason(reader, {**original, "supporting_facts": facts}) == "missing_supporting_fact"
    assert reason(reader, {**original, "context": "x"}) == "bad_context"


# ---- evaluation sets -----------------------------------------------------------------------------------------------


def test_simplevqa(tmp_path: Path) -> None:
    reader = make("simplevqa", tmp_path)
    row = {"data_id": 9, "image": base64.b64encode(PNG).decode(), "question": "这是什么？", "language": "CN"}
    assert reader.parse(row, 0).pictures == (PNG,)
    assert reader.parse(row, 0).id == "9"
    assert reader.parse({**row, "image": {"bytes": PNG}}, 0).pictures == (PNG,)
    lost = reader.parse({**row, "image": "x"}, 0)
    assert (lost.pictures, lost.problems, lost.text) == ((), ("picture_missing",), "这是什么？")


def test_gaia(tmp_path: Path) -> None:
    place = tmp_path / "2023" / "validation"
    place.mkdir(parents=True)
    (place / "p.png").write_bytes(PNG)
    rows = [
        {"task_id": "a", "Question": "Q?", "file_name": "p.png", "file_path": "2023/validation/p.png"},
        {"task_id": "a", "Question": "Q?", "file_name": "p.png"},
        {"task_id": "b", "Question": "R?", "file_name": "p.png", "file_path": ""},
        {"task_id": "c", "Question": "S?", "file_name": "t.xlsx", "file_path": "2023/validation/t.xlsx"},
        {"task_id": "d", "Question": "T?", "file_name": "../../../etc/x.png"},
    ]
    (place / "metadata.jsonl").write_bytes(b"".join(dumps(row) + b"\n" for row in rows))
    reader = make("gaia", tmp_path)
    found = [reader.parse(row, i) for i, row in enumerate(reader.raw_rows())]
    assert [(item.id, item.pictures, item.problems) for item in found] == [
        ("a", (PNG,), ()),
        ("b", (PNG,), ()),
        ("c", (), ()),
        ("d", (), ("picture_missing",)),
    ]


def test_mmbrowsecomp(tmp_path: Path) -> None:
    (tmp_path / "MMBC_images").mkdir()
    (tmp_path / "MMBC_images" / "1 b.png").write_bytes(PNG)
    base = "https://raw.githubusercontent.com/x/main/MMBC_images"
    row = {
        "id": 1,
        "question": encrypt_canary("Which?", "canary:1"),
        "images": [f"{base}/1%20b.png", f"{base}/2.png", "http://[bad", 3],
        "canary": "canary:1",
    }
    (tmp_path / "t.jsonl").write_bytes(b"{}\n")
    found = make("mmbrowsecomp", tmp_path).parse(row, 0)
    assert (found.id, found.text, found.pictures) == ("1", "Which?", (PNG,))
    assert found.problems == ("picture_missing",) * 3
    row["question"] = encrypt_canary("Which of these was the first of its kind?", "canary:1")
    textless = make("mmbrowsecomp", tmp_path).parse({**row, "canary": "other"}, 0)
    assert (textless.text, textless.pictures, textless.problems[-1]) == ("", (PNG,), "undecryptable")
    assert reason(make("mmbrowsecomp", tmp_path), {**row, "images": [], "canary": "other"}) == "undecryptable"
    for images, problems in (
        (None, ()),
        ("", ()),
        ("[]", ()),
        ('["a/9.png"]', ("picture_missing",)),
        (5, ("picture_missing",)),
    ):
        assert make("mmbrowsecomp", tmp_path).parse({**row, "images": images}, 0).problems == problems
    assert make("mmbrowsecomp", tmp_path).parse({**row, "images": f"{base}/1%20b.png"}, 0).pictures == (PNG,)


# ---- rows of any shape ---------------------------------------------------------------------------------------------

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=True) | st.text(max_size=8)
SCALARS |= st.sampled_from(
    ["A", "['a' 'b']", "[", "0_1_l2_0", "human", "image.png", "../x", "\ud83c", "AAAA", "http://[", "data:a/b;base64,x",
     "x" * 300 + ".png", "http://h/" + "y" * 300 + ".png", "\ud83c/a.png", "nul\0.png"]
) | st.sampled_from([PNG, b"", b"\xff"])  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["bytes", "path", "content", "role", "ground_truth", "candidate_answers", "title", "sent_id",
                         "sentences", "question", "options", "Ground_Truth", "Ground_Truth_List"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
NAMES = sorted(
    {name for readers in (QUESTION_READERS, EVALUATION_READERS) for cls in readers.values() for name in cls.columns}
    | {"id", "level", "question", "options", "Ground_Truth", "Ground_Truth_List", "img_path", "img_paths", "level1_qas",
       "level2_qas_img1", "topic", "source"}
)  # fmt: skip


@pytest.mark.parametrize("name", [*QUESTION_READERS, *EVALUATION_READERS])
@given(row=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=10))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_row_of_any_shape_is_read_or_is_a_bad_row(name: str, row: dict[str, Any], tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.getbasetemp() / f"any-{name}"
    folder.mkdir(exist_ok=True)
    reader = make(name, folder)
    assert isinstance(reader.row_id(row, 3), str)
    try:
        found = reader.parse(row, 3)
    except BadRow:
        return
    for item in found if isinstance(found, list) else [found]:
        assert item is NOT_OURS or isinstance(item, BadRow) or item.id


def test_unknown_reader_names() -> None:
    with pytest.raises(UsageError, match="expected one of"):
        question_reader("nothing")
    with pytest.raises(UsageError, match="expected one of"):
        evaluation_reader("nothing")
