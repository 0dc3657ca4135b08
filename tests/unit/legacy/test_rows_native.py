"""Rows that hold their calls as ``tool_calls`` already: results by id, thoughts beside the text, parts from tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from legacy_cases import BLUE, GREEN, RED, Case, check, said, tool, user
from legacy_helpers import data_uri
from tir_distill.legacy import LegacySettings, convert_file
from tir_distill.records import read_jsonl

ASKED = {"role": "user", "content": "q"}
DONE = {"role": "assistant", "content": "<think>t</think><answer>5</answer>"}
A = "<answer>5</answer>"
END = said("t", "<answer>5</answer>")


def calls(*given: tuple[Any, str], **more: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "<think>a</think>",
        "tool_calls": [
            {"id": name, "type": "function", "function": {"name": "python", "arguments": {"code": code}}}
            for name, code in given
        ],
        **more,
    }


def told(name: Any, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": content}


def row(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [ASKED, *messages, DONE], **more}


TWO = calls(("1", "one()"), ("2", "two()"))
PAIRED = [user("q"), said("a", "", "one()", "two()"), tool("one"), tool("two"), END]
SEEN = [{"role": "user", "content": "<image>q"}, TWO, told("2", "two <image>"), told("1", "one <image>"), DONE]
URI = {"url": data_uri(RED)}

CASES = [
    Case("in order", row(TWO, told("1", "one"), told("2", "two")), PAIRED, answer="5"),
    Case("out of order", row(TWO, told("2", "two"), told("1", "one")), PAIRED, answer="5"),
    Case("no ids: the order is all there is", row(TWO, told(None, "one"), told("", "two")), PAIRED, answer="5"),
    Case("no ids of the calls", row(calls((None, "one()"), (None, "two()")), told("x", "one"), told("y", "two")),
         PAIRED, answer="5"),
    Case("the same ids in the next message", row(TWO, told("2", "two"), told("1", "one"),
                                                 calls(("1", "three()")), told("1", "three")),
         [*PAIRED[:-1], said("a", "", "three()"), tool("three"), END], answer="5"),
    Case("results in user messages", row(calls(("1", "one()")), {"role": "user", "content": "Output: one"}),
         [user("q"), said("a", "", "one()"), tool("one"), END], answer="5"),
    Case("an id of no call", row(TWO, told("2", "two"), told("3", "one")), dropped="unknown_call_id"),
    Case("an id of no call, one call", row(calls(("1", "one()")), told("9", "one")), dropped="unknown_call_id"),
    Case("one result without an id", row(TWO, told("2", "two"), told(None, "one")), dropped="unknown_call_id"),
    Case("one id twice", row(TWO, told("2", "two"), told("2", "one")), dropped="unknown_call_id"),
    Case("a result is missing", row(TWO, told("1", "one")), dropped="call_without_result"),
    Case("pictures of a list in another order", {"messages": SEEN, "images": [RED, BLUE, GREEN]},
         dropped="picture_order"),
    Case("pictures inside results go with them",
         row(TWO, told("2", [{"type": "image_url", "image_url": {"url": data_uri(BLUE)}}]),
             told("1", [{"type": "image_url", "image_url": {"url": data_uri(RED)}}])),
         [user("q"), said("a", "", "one()", "two()"), tool("<image>"), tool("<image>"), END], [RED, BLUE], "5"),
    Case("the thought beside the text",
         {"messages": [ASKED, {**calls(("1", "one()")), "content": None, "reasoning_content": "I look."},
                       told("1", "one"),
                       {"role": "assistant", "content": "<answer>5</answer>", "reasoning": "So five."}]},
         [user("q"), said("I look.", "", "one()"), tool("one"), said("So five.", "<answer>5</answer>")], answer="5"),
    Case("a thought that names tags", {"messages": [ASKED, {"role": "assistant", "content": "<answer>5</answer>",
                                                            "reasoning_content": "No <code> is needed."}]},
         [user("q"), said("No <code> is needed.", "<answer>5</answer>")], answer="5"),
    Case("the same thought in both places",
         {"messages": [ASKED, {**DONE, "reasoning_content": "t\n"}]}, [user("q"), END], answer="5"),
    Case("thoughts in both places", {"messages": [ASKED, {**DONE, "reasoning_content": "first"}]},
         [user("q"), said("first\n\nt", "<answer>5</answer>")], answer="5"),
    Case("reasoning of a user is none", {"messages": [{**ASKED, "reasoning_content": "x"}, DONE]}, [user("q"), END],
         answer="5"),
    Case("parts with empty keys",
         {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": URI, "text": None},
                                                    {"type": "text", "text": "q", "image_url": None}]},
                       {"role": "assistant", "content": [{"type": "text", "text": DONE["content"],
                                                          "image_url": {"url": None}, "image": None}]}]},
         [user("<image>q"), END], [RED], "5"),
    Case("parts that only mark the place of a picture",
         {"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "q"}]}, DONE],
          "images": [RED]},
         [user("<image>q"), END], [RED], "5"),
    Case("keys of both kinds of turns",
         {"messages": None,
          "conversations": [{"role": None, "from": "human", "content": None, "value": "q"},
                            {"role": None, "from": "gpt", "content": None, "value": f"<think>t</think>{A}"}]},
         [user("q"), END], answer="5"),
    Case("a place without its picture",
         {"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "q"}]}, DONE]},
         dropped="picture_count"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_native(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_typed_parts_in_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    inside = {"role": "user", "content": [{"type": "image_url", "image_url": URI}, {"type": "text", "text": "q"}]}
    apart = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "q"}]}
    answer = {"role": "assistant", "content": [{"type": "text", "text": DONE["content"]}]}
    rows = [
        {"messages": [inside, answer], "images": None},
        {"messages": [apart, answer], "images": [{"bytes": RED, "path": None}]},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    chosen = LegacySettings(name="old", system="S", tools=[], pictures=None, row_root=tmp_path)
    out = tmp_path / "out.jsonl"
    report = convert_file(
        tmp_path / "in.parquet", out, tmp_path / "bad.jsonl", settings=chosen, images_out=tmp_path / "images"
    )
    assert (report.rows_written, dict(report.dropped)) == (2, {})
    for written in read_jsonl(out):
        assert [m["content"] for m in written["messages"][1:]] == [
            "<image>q",
            "<think>\nt\n</think>\n\n<answer>5</answer>",
        ]
        assert (tmp_path / written["images"][0]).read_bytes() == RED


def test_arguments_as_text_or_as_object_are_one_thing(tmp_path: Path) -> None:
    given = calls(("1", "one()"))
    given["tool_calls"][0]["function"]["arguments"] = orjson.dumps({"code": "one()"}).decode()
    after = [user("q"), said("a", "", "one()"), tool("one"), END]
    check(Case("as text", row(given, told("1", "one")), after, answer="5"), tmp_path)
