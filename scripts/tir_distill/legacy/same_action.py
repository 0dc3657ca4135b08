"""Whether a reply takes the step that a row took: the same calls with the same arguments, or the same answer."""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from .answers import ANSWER, boxed

Action = tuple[tuple[str, str], ...] | str
"""Normalised calls (name, arguments), or a normalised answer; an empty text when there is neither."""


def action_of(text: str, calls: Sequence[tuple[str, str]]) -> Action:
    """The step of a message with this visible text and these (name, JSON arguments)."""
    if calls:
        return tuple((name, _arguments(name, arguments)) for name, arguments in calls)
    found = ANSWER.findall(text)
    return plain_answer(found[-1]) if found else ""


def calls_of(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, arguments) of a row's message."""
    return [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls") or ()]


def plain_answer(text: str) -> str:
    """An answer without case, outer punctuation, thousands commas and the width of its characters."""
    value = unicodedata.normalize("NFKC", boxed(text) or text).casefold()
    words = " ".join(value.split()).strip(" .。!！\"'`*")
    try:
        return repr(float(words.replace(",", "")))
    except ValueError:
        return words


def _arguments(name: str, arguments: str) -> str:
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments
    if not isinstance(value, dict):
        return arguments
    if name == "python":
        return _code(str(value.get("code", "")))
    plain = {key: " ".join(item.split()).casefold() if isinstance(item, str) else item for key, item in value.items()}
    return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode()


def _code(source: str) -> str:
    """Code without comments and layout: its syntax tree; unparsable code by its words."""
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return " ".join(source.split())
