"""Rows as public sets really hold them, damaged in every way met: each becomes the row written here, or is dropped
with the reason written here."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import orjson
import pytest

from legacy_cases import BLUE, RED, Case, check, said, tool, user
from legacy_helpers import data_uri
from tir_distill.legacy import LegacySettings, convert_file
from tir_distill.legacy.protocol import pieces, usual
from tir_distill.records import read_jsonl

DONE = ("assistant", "<think>t</think><answer>5</answer>")
ANSWERS = {"role": DONE[0], "content": DONE[1]}
END = said("t", "<answer>5</answer>")


def talk(*texts: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": text} for role, text in (("user", "q"), *texts)], **more}


def ran(code: str, result: str = "ok", role: str = "tool") -> dict[str, Any]:
    """One turn with this code as it is written, its result, the answer."""
    return talk(("assistant", f"<think>a</think>{code}"), (role, result), DONE)


def picture(value: Any) -> dict[str, Any]:
    row = talk(DONE, images=[value])
    row["messages"][0]["content"] = "<image>q"
    return row


CELL = [user("q"), said("a", "", "print(1)"), tool("ok"), END]
SEEN = [user("<image>q"), END]
BASE64 = base64.b64encode(RED).decode()

CASES = [
    Case("fence ends beside the tag", ran("<code>```python\nprint(1)```</code>"), CELL, answer="5"),
    Case("other names of the language", ran("<code>\n```py \nprint(1)\n```\n</code>"), CELL, answer="5"),
    Case("line ends of Windows", ran("\r\n<code>\r\n```python\r\nprint(1)\r\n```\r\n</code>\r\n"), CELL, answer="5"),
    Case("no end of the tag", ran("<code>\n```python\nprint(1)\n```"), CELL, answer="5"),
    Case("no end of anything", ran("<code>\n```python\nprint(1)"), CELL, answer="5"),
    Case("a fence in the code's own string",
         ran("<code>\n```python\ns = '''\n```\nx\n```\n'''\n```\n</code>"),
         [user("q"), said("a", "", "s = '''\n```\nx\n```\n'''"), tool("ok"), END], answer="5"),
    Case("the closing tag in a string of fenced code",
         ran("<code>\n```python\nprint('</code>')\n```\n</code>"),
         [user("q"), said("a", "", "print('</code>')"), tool("ok"), END], answer="5"),
    Case("the closing tag in a string of bare code", ran("<code>print('</code>')</code>"), dropped="stray_code_end"),
    Case("an empty cell", ran("<code>\n```python\n```\n</code>"),
         [user("q"), said("a", "", ""), tool("ok"), END], answer="5"),
    Case("the tag named in a thought", talk(("assistant", "<think>`<code>` runs it.</think><answer>5</answer>")),
         [user("q"), said("`<code>` runs it.", "<answer>5</answer>")], answer="5"),
    Case("both tags named in the text", talk(("assistant", "<think>t</think>`<code>` to `</code>` <answer>5</answer>")),
         [user("q"), said("t", "`<code>` to `</code>` <answer>5</answer>")], answer="5"),
    Case("an empty result", ran("<code>print(1)</code>", "<tool_response></tool_response>", "user"),
         [user("q"), said("a", "", "print(1)"), tool(""), END], answer="5"),
    Case("an empty tool message", ran("<code>print(1)</code>", ""),
         [user("q"), said("a", "", "print(1)"), tool(""), END], answer="5"),
    Case("a result that nobody asked for", talk(("assistant", "hm"), ("user", "<output>5</output>"), DONE),
         dropped="result_without_call"),
    Case("a result before any code", talk(("assistant", "<output>5</output><answer>5</answer>")),
         dropped="result_without_call"),
    Case("ends in code", talk(("assistant", "<think>t</think><code>print(1)")), dropped="code_without_result"),
    Case("a picture tag in the code", ran("<code>print('<image>')</code>"), dropped="markup_in_text"),
    Case("a picture tag in a printed text", ran("<code>print(1)</code>", "an <image> tag"), dropped="picture_count"),
    Case("control tokens in the question",
         {"messages": [{"role": "user", "content": "q <|im_end|> </think>"}, ANSWERS]},
         [user("q < |im_end|> < /think>"), END], answer="5"),
    Case("roles in capitals", {"messages": [{"role": "User", "content": "q"}, ANSWERS | {"role": "GPT"}]},
         [user("q"), END], answer="5"),
    Case("messages as JSON text", {"messages": orjson.dumps(talk(DONE)["messages"]).decode()},
         [user("q"), END], answer="5"),
    Case("messages as some text", {"messages": "hello"}, dropped="unknown_shape"),
    Case("a second question", talk(DONE, ("user", "and?"), DONE), dropped="second_question"),
    Case("two answers: the last counts",
         talk(("assistant", "<think>t</think><answer>4</answer> no <answer>5</answer>")),
         [user("q"), said("t", "<answer>4</answer> no <answer>5</answer>")], answer="5"),
    Case("base64 on many lines", picture("\n".join(BASE64[at : at + 40] for at in range(0, len(BASE64), 40))),
         SEEN, [RED], answer="5"),
    Case("base64 for addresses, unpadded", picture(BASE64.replace("+", "-").replace("/", "_").rstrip("=")),
         SEEN, [RED], answer="5"),
    Case("base64 in a struct", picture({"bytes": BASE64, "path": None}), SEEN, [RED], answer="5"),
    Case("one picture, no list", picture(RED) | {"images": data_uri(RED)}, SEEN, [RED], answer="5"),
    Case("a picture the text does not name", talk(DONE, images=[data_uri(RED)]), SEEN, [RED], answer="5"),
    Case("two pictures in one result",
         {"messages": [{"role": "user", "content": "<image>q"},
                       {"role": "assistant", "content": "<think>a</think><code>print(1)</code>"},
                       {"role": "user", "content": "<tool_response>Output image: <image>\n<image></tool_response>"},
                       ANSWERS],
          "images": [data_uri(RED), data_uri(BLUE), data_uri(RED)]},
         [user("<image>q"), said("a", "", "print(1)"), tool("Output image: <image><image>"), END], [RED, BLUE, RED],
         answer="5"),
    Case("no picture at all", picture(None), dropped="missing_picture"),
    Case("text that is no picture", picture("data:image/png,abc"), dropped="bad_picture"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_row(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("<think>a</think>\n<code>\n```python\nprint(1)\n```\n</code>", True),
        ("<think>a</think><answer>5</answer>", True),
        ("  so <answer>5</answer> it is ", True),
        ("<code>\n```python\n\n\tx = 1\n\n```\n</code>\n", True),
        ("<code>\n```python\n```\n</code>", True),
        ("", True),
        ("plain", True),
        ("<think>a<b</think>x", False),
        ("<code>x</code>", False),
        ("<code>\n```python\nx\n ```\n</code>", False),
        ("<code>\n```python\nx\n```\n</code>y", False),
        ("<think>a", False),
    ],
)
def test_the_short_way_says_what_the_long_way_says(text: str, taken: bool) -> None:
    found = usual(text)
    assert (found is not None) is taken
    if found is None:
        return
    parts, still_open = pieces(text)
    assert not still_open
    said_by = {kind: "".join(p.text for p in parts if p.kind == kind) for kind in ("think", "text")}
    assert (said_by["think"].strip(), said_by["text"].strip()) == (found[0].strip(), found[1].strip())
    assert [p.text for p in parts if p.kind == "code"] == ([] if found[2] is None else [found[2]])


def converted(folder: Path, name: str, content: bytes) -> tuple[Any, list[dict[str, Any]]]:
    (folder / name).write_bytes(content)
    chosen = LegacySettings(
        name="old",
        system="S",
        tools=[{"type": "function", "function": {"name": "python"}}],
        pictures=folder,
        row_root=folder,
    )
    out = folder / "out.jsonl"
    report = convert_file(folder / name, out, folder / "bad.jsonl", settings=chosen, images_out=folder / "images")
    return report, list(read_jsonl(out))


def test_files_of_every_make(tmp_path: Path) -> None:
    row = orjson.dumps(talk(DONE))
    bad = row.replace(b'"q"', b'"\xff"')
    for name, content, kept, dropped in (
        ("mark.jsonl", b"\xef\xbb\xbf" + row + b"\n", 1, {}),
        ("lines.json", row + b"\n" + row + b"\n", 2, {}),
        ("mark.json", b"\xef\xbb\xbf [" + row + b"]", 1, {}),
        ("bytes.json", b"[" + bad + b"," + row + b"]", 1, {"bad_json": 1}),
        ("bytes.jsonl", bad + b"\n\n" + row, 1, {"bad_json": 1}),
        ("nothing.jsonl", b"", 0, {}),
        ("nothing.json", b"[]", 0, {}),
        ("图 é.jsonl", row + b"\n[1]\n", 1, {"bad_json": 1}),
    ):
        report, rows = converted(tmp_path, name, content)
        assert (report.rows_written, dict(report.dropped)) == (kept, dropped), name
        assert len(rows) == kept


def test_ids_that_come_again_are_told_apart(tmp_path: Path) -> None:
    lines = [talk(DONE, id=name) for name in ("a", "a_2", "a", "a", "b")]
    report, rows = converted(tmp_path, "in.jsonl", b"\n".join(map(orjson.dumps, lines)))
    assert [row["id"] for row in rows] == ["old_a", "old_a_2", "old_a_3", "old_a_4", "old_b"]
    assert [row["lineage"]["sample"] for row in rows][2] == "old/a_3#0"
    assert report.ids_repeated == 2


def test_parquet_with_nested_and_large_columns(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    message = pa.struct([("role", pa.large_string()), ("content", pa.large_string()), ("tool_calls", pa.null())])
    cell = pa.struct([("bytes", pa.large_binary()), ("path", pa.string())])
    schema = pa.schema([("messages", pa.large_list(message)), ("images", pa.list_(cell)), ("answer", pa.string())])
    row = picture({"bytes": RED, "path": None}) | {"answer": None}
    pq.write_table(pa.Table.from_pylist([row, {"messages": None, "images": None, "answer": "5"}], schema),
                   tmp_path / "in.parquet")  # fmt: skip
    report, rows = converted(tmp_path, "in.parquet", (tmp_path / "in.parquet").read_bytes())
    assert (report.rows_written, dict(report.dropped)) == (1, {"unknown_shape": 1})
    assert (tmp_path / rows[0]["images"][0]).read_bytes() == RED
    pq.write_table(pa.Table.from_pylist([], schema), tmp_path / "none.parquet")
    assert converted(tmp_path, "none.parquet", (tmp_path / "none.parquet").read_bytes())[0].rows_read == 0
