"""Recorded and real outputs: what counts as the same, and cells that really run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from legacy_helpers import png
from tir_distill.legacy.outputs_alike import alike, error_name, plain
from tir_distill.legacy.turns import python_call
from tir_distill.legacy.verify import VerifyReport, verify_file
from tir_distill.records import read_jsonl, write_jsonl
from tir_distill.sandbox import Sandbox, SandboxSettings


@pytest.mark.parametrize(
    ("recorded", "real", "same"),
    [
        ("Output: 3", "3\n", True),
        ("Text Result:\n(8, 6)", "(8, 6)", True),
        ("Output:  a   b\n c", "a b c", True),
        ("0.30000000000000004", "0.3", True),
        ("mean 1.0000001 of 3", "mean 1.0 of 3", True),
        ("mean 1.01", "mean 1.0", False),
        ("3", "30", False),
        ("v1.2.3", "v1.2.4", False),
        ("-5", "5", False),
        ("1e3", "1000.0", True),
        ("Output: done\nStderr output: UserWarning: old\nOutput image: <image>", "done", True),
        ("Text Result:\nNone\nImage Result:\n<image>", "", True),
        ("(no output)", "", True),
        ("a long text that was...", "a long text that was cut by the set", True),
        ("a long text that was...", "another", False),
        ("[1, 2]", "[1, 2, 3]", False),
        ("", "5", False),
    ],
)
def test_alike(recorded: str, real: str, same: bool) -> None:
    assert alike(recorded, real) is same


def test_names_of_errors_and_plain_text() -> None:
    assert error_name("--- Execution Error (NameError) ---\nname 'y'") == "NameError"
    assert error_name("UserWarning: x") is None
    assert plain("Stderr output: x\ny") == ""


def row(name: str, *cells: tuple[str, str], images: tuple[str, ...] = ()) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "<image>" * len(images) + "q"}]
    for number, (code, result) in enumerate(cells):
        call = {"id": f"c{number}", "function": {"name": "python", "arguments": python_call(code).arguments}}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
    return {"id": name, "messages": messages, "images": list(images)}


ROWS = [
    row("plain", ("x = 2\nprint(x)", "Output: 2"), ("print(x + 1)", "Output: 3")),
    row("lie", ("print(2)", "Output: 3"), ("print(1)", "1")),
    row("talk"),
    row(
        "picture",
        ("from PIL import Image\nprint(Image.open('input_image.jpg').size)", "(8, 6)"),
        ("print(Image.open(IMAGE_PATH).size, image_1.size)", "(8, 6) (8, 6)"),
        ("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()", "Output image: <image>"),
        images=("a/p.png",),
    ),
    row("promised picture", ("print(1)", "1 <image>")),
    row("no picture", ("print(image_1.size)", "(8, 6)")),
    row("same error", ("print(nothing)", "--- Execution Error (NameError) ---\nname 'nothing' is not defined")),
    row("error", ("import not_there", "Output: 5")),
    row("should fail", ("print(4)", "ValueError: bad")),
]


def test_cells_run_and_are_judged(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "p.png").write_bytes(png())
    write_jsonl(tmp_path / "rows.jsonl", ROWS)

    async def work() -> VerifyReport:
        sandbox = await Sandbox.start(SandboxSettings())
        try:
            return await verify_file(
                tmp_path / "rows.jsonl",
                tmp_path / "side.jsonl",
                sandbox=sandbox,
                img_root=tmp_path,
                kept=tmp_path / "kept.jsonl",
            )
        finally:
            await sandbox.close()

    report = asyncio.run(work())
    side = {entry["id"]: entry for entry in read_jsonl(tmp_path / "side.jsonl")}
    assert list(side) == [item["id"] for item in ROWS]
    assert {name: entry["verdict"] for name, entry in side.items()} == {
        "plain": "match",
        "lie": "mismatch",
        "talk": "no_code",
        "picture": "match",
        "promised picture": "mismatch",
        "no picture": "no_picture",
        "same error": "match",
        "error": "error",
        "should fail": "mismatch",
    }
    assert [cell["verdict"] for cell in side["lie"]["cells"]] == ["mismatch", "match"]
    assert side["lie"]["cells"][0]["real"] == "2"
    assert report.to_dict() == {
        "rows": 9,
        "rows_without_code": 1,
        "cells": {"error": 1, "mismatch": 3, "no_picture": 1, "match": 7},
        "row_verdicts": {"error": 1, "mismatch": 3, "no_picture": 1, "match": 3},
    }
    assert [item["id"] for item in read_jsonl(tmp_path / "kept.jsonl")] == ["plain", "talk", "picture", "same error"]
