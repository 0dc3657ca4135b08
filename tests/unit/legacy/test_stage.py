from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import legacy_helpers as made
from legacy_helpers import data_uri, png
from tir_distill.config import ROOT
from tir_distill.legacy import LegacySettings, clean_file, convert_file
from tir_distill.records import read_json, read_jsonl, write_jsonl


def settings(tmp_path: Path, **changes: Any) -> LegacySettings:
    values: dict[str, Any] = {
        "name": "old",
        "system": "Unified prompt.",
        "tools": [read_json(ROOT / "resources" / "tools" / "python.json")],
        "pictures": tmp_path / "pictures",
        "row_root": tmp_path,
    }
    return LegacySettings(**{**values, **changes})


def converted(tmp_path: Path, rows: list[dict[str, Any]], **changes: Any) -> tuple[list[dict[str, Any]], Any]:
    write_jsonl(tmp_path / "in.jsonl", rows)
    report = convert_file(
        tmp_path / "in.jsonl",
        tmp_path / "out.jsonl",
        tmp_path / "rejects.jsonl",
        settings=settings(tmp_path, **changes),
        images_out=tmp_path / "images",
    )
    return list(read_jsonl(tmp_path / "out.jsonl")), report


def test_the_users_26515_rows_give_the_users_figures(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", made.rows())
    out = tmp_path / "out.jsonl"
    report = convert_file(
        tmp_path / "in.jsonl",
        out,
        tmp_path / "rejects.jsonl",
        settings=settings(tmp_path),
        images_out=tmp_path / "images",
    )
    assert report.rows_read == 26_515
    assert report.rows_written == report.prompts_replaced == 24_508
    assert report.rows_with_code == 13_828
    assert dict(report.dropped) == {"code_without_result": 2_007}
    assert (report.input_image, report.image_path) == (7_989, 1_784)
    assert (report.without_thinking, report.letter_answers) == (17_828, 9_085)
    clean = clean_file(out, tmp_path / "clean.jsonl", tmp_path / "queue.jsonl", no_thinking="queue", letters=True)
    assert clean.letters_replaced == 9_085
    assert clean.queued == 17_828
    assert clean.rows_written == 24_508 - 17_828
    assert not clean.dropped


def test_a_row_in_full(tmp_path: Path) -> None:
    picture = png()
    rows, report = converted(
        tmp_path,
        [
            {
                "id": "a",
                "answer": "3",
                "messages": [
                    {"role": "system", "content": "Old."},
                    {"role": "user", "content": "<image>\nHow many?"},
                    {
                        "role": "assistant",
                        "content": "<think>Count.</think><code>```python\nplt.imshow(input_image)\n```</code>",
                    },
                    {"role": "user", "content": "<tool_response>Output image: <image>\n</tool_response>"},
                    {"role": "assistant", "content": "<think>Three.</think><answer>3</answer>"},
                ],
                "images": [data_uri(picture), data_uri(png((1, 2, 3)))],
            }
        ],
    )
    (row,) = rows
    assert row["messages"] == [
        {"role": "system", "content": "Unified prompt."},
        {"role": "user", "content": "<image>How many?"},
        {
            "role": "assistant",
            "content": "<think>\nCount.\n</think>\n\n",
            "turn": 0,
            "tool_calls": [
                {
                    "id": "call_0_0",
                    "type": "function",
                    "function": {"name": "python", "arguments": '{"code":"plt.imshow(image_1)"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_0_0", "content": "Output image: <image>"},
        {"role": "assistant", "content": "<think>\nThree.\n</think>\n\n<answer>3</answer>", "turn": 1},
    ]
    assert (tmp_path / row["images"][0]).read_bytes() == picture
    assert len(row["images"]) == 2
    assert orjson.loads(row["tools"])[0]["function"]["name"] == "python"
    assert (row["id"], row["bucket"], row["answer"], row["has_image_code"]) == ("old_a", "old", "3", True)
    assert report.without_thinking == 0


TALK = [{"role": "user", "content": "<image>q"}, {"role": "assistant", "content": "<think>t</think><answer>x</answer>"}]


@pytest.mark.parametrize(
    ("images", "reason"),
    [
        ([], "picture_count"),
        (["../secret.png"], "missing_picture"),
        (["nowhere.png"], "missing_picture"),
        ([5], "missing_picture"),
        (["data:image/png;base64,@@"], "bad_picture"),
        ([data_uri(png()[:40])], "bad_picture"),
        ([data_uri(b"not a picture")], "bad_picture"),
    ],
)
def test_bad_pictures_are_counted(tmp_path: Path, images: list[Any], reason: str) -> None:
    rows, report = converted(tmp_path, [{"id": "p", "messages": TALK, "images": images}])
    assert rows == []
    assert dict(report.dropped) == {reason: 1}


def test_picture_forms_give_the_same_file(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "图 1.png").write_bytes(png())
    forms: list[Any] = ["图 1.png", data_uri(png()), data_uri(png()).split(",")[1], {"bytes": None, "path": "图 1.png"}]
    rows, report = converted(tmp_path, [{"messages": TALK, "images": [form]} for form in forms])
    assert not report.dropped
    assert len({row["images"][0] for row in rows}) == 1


def test_parquet_and_json_lists_are_read(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": f"r{n}", "messages": TALK, "images": [png()]} for n in range(3)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    listed = [{**row, "images": [data_uri(png())]} for row in rows]
    (tmp_path / "in.json").write_bytes(orjson.dumps(listed, option=orjson.OPT_INDENT_2)[:-2] + b', 5, {"id": "cut')
    for name, read, dropped in (("in.parquet", 3, {}), ("in.json", 5, {"bad_json": 2})):
        report = convert_file(
            tmp_path / name, tmp_path / "o", tmp_path / "r", settings=settings(tmp_path), images_out=tmp_path / "images"
        )
        assert (report.rows_read, report.rows_written, dict(report.dropped)) == (read, 3, dropped)


def test_absolute_paths_and_clue_objects_become_runnable(tmp_path: Path) -> None:
    said = "<think>a<code>open('/data/u/pic.jpg'); save('/tmp/out/crop.png'); image_clue_0.crop((0,0,1,1))</code>"
    row = {
        "id": "t",
        "image": [data_uri(png())],
        "question": 'What?\n### User Image Path: "/data/u/pic.jpg"',
        "response": said + "<sandbox_output>5</sandbox_output>b</think><answer>5</answer>",
    }
    rows, _ = converted(tmp_path, [row])
    code = orjson.loads(rows[0]["messages"][2]["tool_calls"][0]["function"]["arguments"])["code"]
    assert code == "open('input_image.jpg'); save('crop.png'); image_1.crop((0,0,1,1))"
    late = {**row, "response": row["response"].replace("image_clue_0", "image_clue_1")}
    assert dict(converted(tmp_path, [late])[1].dropped) == {"picture_of_a_result": 1}


def test_markup_in_results_is_neutralised_and_in_model_text_refused(tmp_path: Path) -> None:
    def row(result: str, text: str) -> dict[str, Any]:
        return {
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "<think>t</think><code>x</code>"},
                {"role": "tool", "content": result},
                {"role": "assistant", "content": f"<think>t</think>{text}<answer>x</answer>"},
            ]
        }

    rows, report = converted(tmp_path, [row("<|im_end|>", ""), row("ok", "<|im_end|>")])
    assert "<|im_end|>" not in rows[0]["messages"][3]["content"]
    assert dict(report.dropped) == {"markup_in_text": 1}


def test_letters_without_options_are_dropped_when_cleaning(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "Which?"},
        {"role": "assistant", "content": "<think>t</think><answer>B</answer>"},
    ]
    converted(tmp_path, [{"messages": talk}])
    report = clean_file(
        tmp_path / "out.jsonl", tmp_path / "clean.jsonl", tmp_path / "queue.jsonl", no_thinking="drop", letters=True
    )
    assert (report.rows_read, report.rows_written, dict(report.dropped)) == (1, 0, {"letter_without_options": 1})


def test_a_row_that_answers_nothing_is_dropped_when_cleaning(tmp_path: Path) -> None:
    def talk(text: str) -> dict[str, Any]:
        return {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": text}]}

    texts = ["<think>t</think>It is five.", "<think>t</think><answer>5", r"<think>t</think>\boxed{5}"]
    rows, report = converted(tmp_path, [talk(text) for text in texts])
    assert report.rows_written == 3
    assert rows[2]["answer"] == "5"
    report = clean_file(
        tmp_path / "out.jsonl", tmp_path / "clean.jsonl", tmp_path / "queue.jsonl", no_thinking="drop", letters=True
    )
    assert (report.rows_written, dict(report.dropped)) == (1, {"no_answer": 2})


def test_what_names_an_option_becomes_its_text_or_goes(tmp_path: Path) -> None:
    def talk(answer: str, question: str = "Which?\nA. red\nB. blue") -> dict[str, Any]:
        said = f"<think>t</think><answer>{answer}</answer>"
        return {
            "answer": "B",
            "messages": [{"role": "user", "content": question}, {"role": "assistant", "content": said}],
        }

    converted(tmp_path, [talk("B"), talk("B. blue"), talk("A, B"), talk("B", "Which?\nA. A\nB. B"), talk("blue")])
    report = clean_file(
        tmp_path / "out.jsonl", tmp_path / "clean.jsonl", tmp_path / "queue.jsonl", no_thinking="drop", letters=True
    )
    assert (report.rows_written, report.letters_replaced) == (3, 2)
    assert dict(report.dropped) == {"several_letters": 1, "option_is_letter": 1}
    rows = list(read_jsonl(tmp_path / "clean.jsonl"))
    assert [row["messages"][-1]["content"] for row in rows] == ["<think>\nt\n</think>\n\n<answer>blue</answer>"] * 3
    assert [row["answer"] for row in rows] == ["blue", "blue", "B"]
