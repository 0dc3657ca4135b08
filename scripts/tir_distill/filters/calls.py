"""Reading the calls of a trajectory: arguments as values, code of python calls."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import orjson

from ..records import ToolCall, ToolResult, Turn


@functools.lru_cache(maxsize=4096)
def _decoded(arguments: str) -> Any:
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments


def texts(call: ToolCall) -> list[str]:
    """All text inside a call's arguments, decoded (``\\/`` and ``\\u002f`` hide nothing)."""
    found: list[str] = []
    pending = [_decoded(call.arguments)]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            pending.extend(value.keys())
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    return found


def code_of(call: ToolCall) -> str:
    """Source of a python call, empty for any other call."""
    if call.name != "python":
        return ""
    value = _decoded(call.arguments)
    code = value.get("code") if isinstance(value, dict) else value
    return code if isinstance(code, str) else ""


def paired(turn: Turn) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    """Each call with its result, matched by id; None where there is none."""
    results = {result.call_id: result for result in turn.results}
    for call in turn.calls:
        yield call, results.get(call.id)
