"""The whole command: what is planted in three parts is found, and the order of lines in the parts changes nothing."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from questions_helpers import evaluation_row, picture_cell, write_evaluation
from tir_distill.config import ROOT
from tir_distill.questions import DecontaminationSettings, write_index
from tir_distill.records import read_json, read_jsonl, write_json, write_jsonl
from tir_distill.sources import picture_print

EVALUATION = "In which year did the builder of the third lighthouse on the northern cape leave his last post there"
LONG = "Which harbour town on the northern coast built the first iron bridge after the great storm of that century"


def noise(seed: int) -> Image.Image:
    """A picture unlike any other."""
    small = np.random.default_rng(seed).integers(0, 255, (12, 16, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((160, 120), Image.Resampling.BICUBIC)


def row(name: str, question: str, images: tuple[str, ...] = (), licence: str = "MIT") -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "python", "arguments": '{"code":"print(1)"}'}}
    python = {
        "type": "function",
        "function": {
            "name": "python",
            "description": "Run code.",
            "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        },
    }
    return {
        "id": name,
        "messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": "<image>" * len(images) + question},
            {
                "role": "assistant",
                "content": "<think>\nThe code will tell what it is.\n</think>\n\n",
                "tool_calls": [call],
            },
            {"role": "tool", "tool_call_id": "c", "content": "1"},
            {
                "role": "assistant",
                "content": f"<think>\nIt printed 1, so this is of {name}.\n</think>\n\n<answer>one</answer>",
            },
        ],
        "images": list(images),
        "tools": json.dumps([python]),
        "licence": licence,
    }


def without_thinking(line: dict[str, Any]) -> dict[str, Any]:
    for message in line["messages"]:
        if message["role"] == "assistant":
            message["content"] = message["content"].rpartition("</think>\n\n")[2]
    return line


def shown_by_tool(line: dict[str, Any], picture: str) -> dict[str, Any]:
    line["messages"][3]["content"] += "<image>"
    return line | {"images": [picture]}


def build(folder: Path, parts: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Write the parts as the configuration names them and run the command."""
    results = folder / "results"
    write_jsonl(results / "full" / "accepted.jsonl", parts["full"])
    write_jsonl(results / "legacy" / "old_clean.jsonl", parts["old"])
    write_jsonl(folder / "elsewhere" / "other.jsonl", parts["other"])
    mix = {
        "parts": [
            {"run": "full", "weight": 1},
            {"legacy": "old", "weight": 1},
            {"name": "other", "file": str(folder / "elsewhere" / "other.jsonl"), "images": str(folder), "weight": 2},
        ],
        "validation_share": 0.2, "cap_per_source": None, "cap_per_bucket": None, "non_commercial": False,
    }  # fmt: skip
    write_json(folder / "c.json", {"paths": {"results": str(results)}, "mixes": {"m": mix}})
    command = [
        sys.executable, ROOT / "scripts" / "build_mix.py", "--config", folder / "c.json", "--mix", "m",
        "--eval-index", folder / "index.json", "--out", folder / "mix",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = read_json(folder / "mix" / "MIX.json")
    return document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures under the results and beside them, and an index of two evaluation items."""
    (tmp_path / "results").mkdir()
    for number in range(4):
        noise(number).save(tmp_path / "results" / f"{number}.png")
    noise(0).save(tmp_path / "same.png")
    again = io.BytesIO()
    noise(9).save(again, "JPEG", quality=60)  # the evaluation picture in another file type
    (tmp_path / "results" / "evaluation.jpg").write_bytes(again.getvalue())
    shown = picture_cell(picture_print(noise(9), "", 4.0).phash)
    items = [evaluation_row("gaia", "g1", EVALUATION), evaluation_row("simplevqa", "s1", "What is it?", [shown])]
    write_index([write_evaluation(tmp_path / "e.parquet", items)], DecontaminationSettings(), tmp_path / "index.json")
    return tmp_path


def test_what_is_planted_is_found_and_order_changes_nothing(folder: Path) -> None:
    parts = {
        "full": [
            *(row(f"f{n}", f"question {n} of the run") for n in range(20)),
            *(row(f"p{n}", f"What is shown in {n}?", (f"{n}.png",)) for n in range(3)),
            row("long", LONG),
            row("leak text", EVALUATION.replace("third", "fourth")),
            row("leak picture", "Quite another question?", ("evaluation.jpg",)),
        ],
        "old": [
            *(row(f"o{n}", f"question {n} of the old data") for n in range(20)),
            row("same", "question 3 OF the run"),
            row("near", LONG.replace("iron", "stone")),
            row("same words, other picture", "What is shown in 1?", ("3.png",)),
            without_thinking(row("no thinking", "a question without a thought")),
            shown_by_tool(row("evaluation picture from a tool", "a question with a drawing"), "evaluation.jpg"),
            row("no file", "a question about a picture in the row itself", ("data:image/png;base64," + "A" * 3000,)),
        ],
        "other": [
            *(row(f"x{n}", f"question {n} of others") for n in range(5)),
            row("same picture and words", "what is shown in 0", ("same.png",)),
            row("closed", "a question that is closed", licence="CC-BY-NC-4.0"),
            without_thinking(row("of other make", "a question that others train without thoughts")),
            row("f1", "a question whose row calls itself as another does"),
        ],
    }
    # "same.png" is the picture of "p0" byte for byte
    document = build(folder, parts)
    dropped = {name: part["dropped"] for name, part in document["parts"].items()}
    assert dropped == {
        "full": {"evaluation_item": 2},
        "old": {
            "audit_missing_think": 1,
            "duplicate": 1,
            "evaluation_item": 1,
            "near_duplicate": 1,
            "picture_path": 1,
        },
        "other": {"duplicate": 1, "non_commercial": 1},
    }
    assert {(d["id"], d["detail"].split(":")[0]) for d in document["dropped_examples"] if d["detail"]} == {
        ("leak text", "jaccard"),
        ("leak picture", "phash"),
        ("evaluation picture from a tool", "phash"),
        ("no thinking", "message 2"),
        ("no file", "'data"),
    }
    everyone = [line["id"] for name in ("train", "validation") for line in read_jsonl(folder / "mix" / f"{name}.jsonl")]
    assert len(everyone) == len(set(everyone))
    assert sum(name.startswith("f1+") for name in everyone) in (1, 2), "once, or twice by its weight"
    first = (folder / "mix" / "train.jsonl").read_bytes()
    rows = list(read_jsonl(folder / "mix" / "train.jsonl"))
    held = list(read_jsonl(folder / "mix" / "validation.jsonl"))
    assert len(rows) + len(held) == document["rows"]["train"] + document["rows"]["validation"]
    assert {json.dumps(list(line)) for line in rows} == {json.dumps(list(rows[0]))}
    assert rows[0]["images"]
    assert not {line["messages"][1]["content"] for line in rows} & {line["messages"][1]["content"] for line in held}

    for lines in parts.values():
        random.Random(5).shuffle(lines)
    build(folder, parts)
    assert (folder / "mix" / "train.jsonl").read_bytes() == first
