"""Hand-written legacy rows with the native rows that they must become, and how the two are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from legacy_helpers import png
from tir_distill.config import ROOT
from tir_distill.legacy import LegacySettings, convert, read_row
from tir_distill.legacy.pictures import PictureStore
from tir_distill.records import BadRow, read_json

RED, BLUE, GREEN = png(), png((10, 20, 200)), png((10, 200, 20))

Expected = tuple[str, str] | tuple[str, str, str] | tuple[str, str, str, list[Any]]
"""``("user", text)``, ``("tool", text)`` or ``("assistant", thinking, text, calls)``; a call is its code, or
(name, arguments)."""


@dataclass(frozen=True)
class Case:
    """One row: its messages after the system prompt, or the reason it is dropped for."""

    name: str
    row: dict[str, Any]
    messages: list[Expected] = field(default_factory=list)
    images: list[bytes] = field(default_factory=list)
    answer: str = ""
    dropped: str = ""


def user(text: str) -> tuple[str, str]:
    return ("user", text)


def tool(text: str) -> tuple[str, str]:
    return ("tool", text)


def said(thinking: str, text: str = "", *calls: Any) -> tuple[str, str, str, list[Any]]:
    return ("assistant", thinking, text, list(calls))


def check(case: Case, folder: Path, tools: tuple[str, ...] = ("python",)) -> None:
    """Convert the case's row and compare it as a whole, pictures by their bytes."""
    settings = LegacySettings(
        name="old",
        system="Unified prompt.",
        tools=[read_json(ROOT / "resources" / "tools" / f"{name}.json") for name in tools],
        pictures=folder,
        row_root=folder,
    )
    store = PictureStore(folder / "stored")
    if case.dropped:
        with pytest.raises(BadRow) as caught:
            convert(read_row(case.row, default_id="7", default_source="set"), settings, store)
        assert caught.value.reason == case.dropped, caught.value.detail
        return
    row = convert(read_row(case.row, default_id="7", default_source="set"), settings, store).row
    assert row["messages"][0] == {"role": "system", "content": "Unified prompt."}
    assert [_short(message) for message in row["messages"][1:]] == case.messages
    assert [(folder / path).read_bytes() for path in row["images"]] == case.images
    assert row["answer"] == case.answer
    called = [call["id"] for message in row["messages"] for call in message.get("tool_calls", ())]
    assert called == [message["tool_call_id"] for message in row["messages"] if message["role"] == "tool"]
    assert len(set(called)) == len(called)


def _short(message: dict[str, Any]) -> Expected:
    if message["role"] != "assistant":
        return (message["role"], message["content"])
    head, _, text = message["content"].partition("</think>\n\n")
    calls = []
    for call in message.get("tool_calls", ()):
        function = call["function"]
        arguments = orjson.loads(function["arguments"])
        calls.append(arguments["code"] if function["name"] == "python" else (function["name"], arguments))
    return ("assistant", head.removeprefix("<think>").strip("\n"), text, calls)
