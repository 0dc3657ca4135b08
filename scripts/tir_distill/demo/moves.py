"""One reply of the teacher, before it is put into the protocol's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Call:
    """A tool call: ``search`` (query), ``open`` (url) or ``python`` (code)."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Move:
    """What the teacher does in one turn."""

    thinking: str
    content: str = ""
    calls: tuple[Call, ...] = ()
    finish: Literal["", "length"] = ""
    """``length``: the text is cut here although it was not done."""
    swallowed: bool = False
    """The calls are written as text without a closing tag, as when a server's parser fails."""


def search(query: str) -> Call:
    return Call("search", {"query": query})


def open_page(url: str) -> Call:
    return Call("open", {"url": url})


def python(code: str) -> Call:
    return Call("python", {"code": code})


def answer(text: str) -> str:
    return f"<answer>{text}</answer>"
