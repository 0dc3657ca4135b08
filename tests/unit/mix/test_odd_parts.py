"""Parts of other origin: what lacks keys, has other ones, or is no row at all; and mixes in which nothing is left."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from questions_helpers import evaluation_row, write_evaluation
from tir_distill.config import ROOT
from tir_distill.export.mix import Drops, Part, conform, read_part
from tir_distill.export.mix.write import messages_text
from tir_distill.mixing import Pictures
from tir_distill.questions import DecontaminationSettings, write_index
from tir_distill.records import write_json, write_jsonl
from tir_distill.sources import TextPrint

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "<think>\nt\n</think>\n\nx"}]


def outcome(folder: Path, line: bytes) -> str:
    """``kept``, or the reason a part's only line is left out for."""
    (folder / "part.jsonl").write_bytes(line + b"\n")
    drops = Drops()
    entries = list(
        read_part(
            0,
            Part("part", folder / "part.jsonl", folder, 1.0),
            drops,
            text_print=TextPrint.of,
            count_tokens=lambda row, _: (
                2000 if "long" in row["messages"][0]["content"] else len(orjson.loads(row["tools"]))
            ),
            evaluation_match=lambda text, _: "gaia g0" if "forbidden" in text else None,
            look=Pictures(4.0).look,
            check=lambda row: None,
            max_length=1000,
        )
    )
    reasons = list(drops.counts.get("part", {}))
    assert len(entries) + len(reasons) == 1
    return "kept" if entries else reasons[0]


def with_messages(*changes: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{**message, **change} for message, change in zip(TALK, changes, strict=True)]}


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ({"messages": TALK}, "kept"),
        ({"messages": TALK, "tools": None, "images": None, "label": 2, "channel": "x"}, "kept"),
        ({"messages": TALK, "tools": ""}, "kept"),
        ({"messages": TALK, "tools": "[not json"}, "bad_json"),
        (with_messages({}, {"loss": False, "loss_scale": None}), "kept"),
        (with_messages({"role": "developer"}, {}), "unknown_role"),
        ({"messages": [{"content": "hi"}]}, "unknown_role"),
        ({"messages": TALK, "n_samples": "many"}, "unreadable_row"),
        ({"messages": TALK, "images": "p.png"}, "images_not_paths"),
        ({"messages": TALK, "images": ["p.png"]}, "picture_count"),
        (with_messages({"content": None}, {}), "content_not_text"),
        (with_messages({}, {"tool_calls": ["x"]}), "bad_json"),
        (with_messages({}, {"tool_calls": [{"function": {"name": "f", "arguments": {}}}]}), "arguments_not_text"),
        ({"query": "q", "response": "r"}, "no_messages"),
        ({"messages": "[]"}, "no_messages"),
        (with_messages({"content": "long"}, {}), "too_long"),
        (with_messages({"content": "a forbidden one"}, {}), "evaluation_item"),
        ({"messages": [*TALK, {"role": "user", "content": "forbidden later"}, TALK[1]]}, "evaluation_item"),
        ([1, 2], "bad_json"),
        (None, "bad_json"),
    ],
)
def test_every_line_is_kept_or_left_out_with_a_reason(tmp_path: Path, row: Any, wanted: str) -> None:
    assert outcome(tmp_path, orjson.dumps(row)) == wanted


def test_lines_that_are_no_json(tmp_path: Path) -> None:
    assert outcome(tmp_path, b'{"messages": [') == "bad_json"
    assert outcome(tmp_path, b"\xff\xfe{}") == "bad_json"


def test_messages_in_parquet_are_json_and_a_python_literal() -> None:
    """ms-swift reads the column with ``ast.literal_eval``."""
    import ast

    messages = [{"role": "user", "content": 'it\'s "so" \\ \n\t\u2028\x00图'}, {**TALK[1], "loss": False, "turn": 0}]
    text = messages_text(messages)
    assert ast.literal_eval(text) == json.loads(text) == [messages[0], {**messages[1], "loss": 0}]


def test_rows_without_a_licence_are_not_stated() -> None:
    assert conform({"messages": TALK}, "p")["licence"] == "not stated"


def test_a_mix_with_nothing_left_says_what_left_it(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "results" / "full" / "accepted.jsonl", [])
    write_jsonl(tmp_path / "old.jsonl", [{"messages": TALK, "licence": "CC-BY-NC-4.0"}, {"text": "no row"}])
    items = [evaluation_row("gaia", "g1", "In which year did the builder leave his last post on the northern cape")]
    write_index([write_evaluation(tmp_path / "e.parquet", items)], DecontaminationSettings(), tmp_path / "index.json")
    mix = {
        "parts": [{"run": "full", "weight": 1}, {"name": "old", "file": str(tmp_path / "old.jsonl"), "weight": 1}],
        "validation_share": 0.0, "cap_per_source": None, "cap_per_bucket": None, "non_commercial": False,
    }  # fmt: skip
    write_json(tmp_path / "c.json", {"paths": {"results": str(tmp_path / "results")}, "mixes": {"m": mix}})
    done = subprocess.run(
        [
            sys.executable, ROOT / "scripts" / "build_mix.py", "--config", tmp_path / "c.json", "--mix", "m",
            "--eval-index", tmp_path / "index.json", "--out", tmp_path / "mix",
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "mixes.m: no row is left to train on (full: no rows; old: 1 no_messages, 1 non_commercial)" in done.stderr
    assert not (tmp_path / "mix" / "train.jsonl").exists()
