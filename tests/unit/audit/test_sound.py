"""Rows that are unusual and sound: each passes, by the profile of its file."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from PIL import Image

from audit_helpers import Row, audit, clean_rows, four_columns
from tir_distill.audit.cells import SAID
from tir_distill.records.behaviour import has_image_code

EXIF_TURNED = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"

Plant = Callable[[list[Row]], object]


def text(index: int, old: str, new: str) -> Plant:
    def plant(rows: list[Row]) -> None:
        message = rows[1]["messages"][index]
        assert old in message["content"]
        message["content"] = message["content"].replace(old, new, 1)

    return plant


def thought(words: str) -> Plant:
    return text(6, "<think>\n", f"<think>\n{words} ")


def page(words: str) -> Plant:
    return lambda rows: rows[1]["messages"][3].__setitem__("content", f"Page. {words}")


def answer(words: str) -> Plant:
    return text(8, "<answer>Mumbai</answer>", words)


def arguments(position: int, **values: Any) -> Plant:
    def plant(rows: list[Row]) -> None:
        rows[1]["messages"][2]["tool_calls"][position]["function"]["arguments"] = orjson.dumps(values).decode()

    return plant


def code(cell: str, result: str = "(9, 9)") -> Plant:
    """What python is given, and what it answers in front of its picture."""

    def plant(rows: list[Row]) -> None:
        arguments(2, code=cell)(rows)
        if "has_image_code" in rows[1]:
            rows[1]["has_image_code"] = has_image_code(cell)
        rows[1]["messages"][5]["content"] = f"{result}\n<image>"

    return plant


def schema(value: Any) -> Plant:
    """Every row declares its first tool's argument so."""

    def plant(rows: list[Row]) -> None:
        for row in rows:
            tools = orjson.loads(row["tools"])
            tools[0]["function"]["parameters"]["properties"]["query"] = value
            row["tools"] = orjson.dumps(tools).decode()

    return plant


def every_message(key: str, value: Any) -> Plant:
    def plant(rows: list[Row]) -> None:
        for row in rows:
            for message in row["messages"]:
                message[key] = value

    return plant


OURS: dict[str, Plant] = {
    "loss true": every_message("loss", True),
    "loss 1": every_message("loss", 1),
    "loss null": every_message("loss", None),
    "a name": every_message("name", "reader"),
    "a type or null": schema({"type": ["string", "null"]}),
    "a choice of schemas": schema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    "a schema that takes anything": schema(True),
    "an unknown type": schema({"type": "text"}),
    "a list for a list": lambda rows: (
        schema({"type": ["array", "string"]})(rows),
        arguments(0, query=["a", "b"])(rows),
    ),
    "no stated task": lambda rows: rows[1].__setitem__("task_type", ""),
    "a full stop after the answer": answer("<answer>Mumbai</answer>."),
    "bold around the answer": answer("**<answer>Mumbai</answer>**\n"),
    "another name than the reference": answer("<answer>Bombay</answer>"),
    "an answer of one Chinese character": answer("<answer>王</answer>"),
    "an answer of signs": answer("<answer>π ≈ 3.14…</answer>"),
    "an answer that is a sign": answer("<answer>∞</answer>"),
    "an answer with joiners": answer("<answer>👩‍🔬</answer>"),
    "a thought that speaks of <answer>": thought("I could write <answer>Delhi</answer> now, but no."),
    "a thought that speaks of calls": thought("A tool call to search, then tool_calls again: function call | 2."),
    "a thought with a call in JSON": thought('{"name": "search", "arguments": {"query": "x"}}'),
    "a thought with full-width bars": thought("路线｜地图｜tool 一号 <｜> | <a|b>"),
    "a thought with full stops": thought("........................"),
    "a page with calls of other makers": page("<invoke name='a'> [TOOL_CALLS] {'action': 'search'}"),
    "a cell whose error is shown": code("print((1", "  File cell, line 1\nSyntaxError: '(' was never closed"),
    "a cell that was not run": code("look at it", "The call of 'python' was not run: no code."),
    "a cell in Chinese that fails": code("看图", "执行失败"),
    "a command of a notebook": code("%matplotlib inline\nimage_1.crop((0, 0, 9, 9))"),
    "a cell that awaits": code("await image_1.crop((0, 0, 9, 9))"),
    "a cell with an odd escape": code("import re\nre.sub('\\d', '', 'a')\nimage_1.crop((0, 0, 9, 9))"),
    "a cell with a later f-string": code("x = {'a': 1}\nimage_1.crop((0, 0, 9, 9))\nprint(f'{x['a']}')"),
    "a placeholder in an address": page("https://x.org/a?access_token=YOUR_ACCESS_TOKEN_GOES_HERE2"),
    "a place for a password": page("https://user:password1@host.org ftp://me:<secret>@x.org amqp://u:${PASS1}@h"),
    "ports and handles": page("http://localhost:8080/a@b https://medium.com/@reader9 http://[::1]:80 10:30@noon"),
    "half a web token": page("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 and data.eyJ"),
}


@pytest.mark.parametrize("name", OURS)
def test_passes_as_ours(tmp_path: Path, name: str) -> None:
    rows = copy.deepcopy(clean_rows(tmp_path))
    OURS[name](rows)
    assert audit(tmp_path, rows).failures == []


def several(rows: list[Row]) -> None:
    """Three trajectories of one question that end alike."""
    for number in range(2):
        again = copy.deepcopy(rows[1])
        again["id"] += f"_{number}"
        again["messages"][6]["content"] = again["messages"][6]["content"].replace(
            "<think>\n", f"<think>\nTry {number}. "
        )
        rows.append(again)


def some_replies(rows: list[Row]) -> None:
    for row in rows:
        row["messages"][2]["loss"] = False


def listed_task(rows: list[Row]) -> None:
    for row in rows:
        row["task_type"] = ["image_search"]


def numbered(rows: list[Row]) -> None:
    for number, row in enumerate(rows):
        row["id"] = number


OTHERS: dict[str, Plant] = {
    "several trajectories of a question": several,
    "loss false on some replies": some_replies,
    "a list for a task": listed_task,
    "numbers for ids": numbered,
    "text after the answer": answer("<answer>Mumbai</answer> That is all I know."),
    "an empty system text": lambda rows: [row["messages"][0].__setitem__("content", "") for row in rows],
    "another language for code": code("SELECT name FROM cities"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_passes_as_another_makers(tmp_path: Path, name: str) -> None:
    rows = four_columns(copy.deepcopy(clean_rows(tmp_path)))
    OTHERS[name](rows)
    assert audit(tmp_path, rows, profile="any").failures == []


def stored(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def noise(mode: str) -> Image.Image:
    return Image.effect_noise((40, 30), 60).convert("RGB").convert(mode)


PICTURES: dict[str, Callable[[], bytes]] = {
    "with an alpha channel": lambda: stored(noise("RGBA"), "PNG"),
    "palette": lambda: stored(noise("P"), "PNG"),
    "CMYK": lambda: stored(noise("CMYK"), "JPEG"),
    "black and white": lambda: stored(noise("1"), "PNG"),
    "16 bits, none above 255": lambda: stored(noise("L").convert("I;16"), "PNG"),
    "turned by EXIF": lambda: stored(noise("RGB"), "JPEG", exif=EXIF_TURNED),
    "animated": lambda: stored(noise("P"), "GIF", save_all=True, append_images=[noise("P")]),
}


@pytest.mark.parametrize("profile", ["any", "distilled"])
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_that_a_trainer_converts(tmp_path: Path, name: str, profile: str) -> None:
    """Sound in files that are not ours; rows of ours hold what the sources store."""
    rows = copy.deepcopy(clean_rows(tmp_path))
    (tmp_path / rows[1]["images"][0]).write_bytes(PICTURES[name]())
    report = audit(tmp_path, rows if profile == "distilled" else four_columns(rows), profile=profile)
    reasons = {(item["check"], item["reason"]) for item in report.failures}
    form = "rotated" if "EXIF" in name else "not_plain"
    assert reasons == ({("pictures", form)} if profile == "distilled" else set())


def test_results_that_say_that_a_cell_did_not_run() -> None:
    for said in ("NameError: x", "Execution timed out.", "执行失败", "Invalid code", "The call was not run: no code."):
        assert SAID.search(said), said
    for said in ("", "(9, 9)", "(no output)", "Total 42"):
        assert not SAID.search(said), said
