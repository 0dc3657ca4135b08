"""Calls as the server sent them, made into calls that can be run or named as malformed. Nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..records import TirError, dumps

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call of a reply. ``malformed`` names why it cannot be run; then ``arguments`` is what the model wrote."""

    name: str
    arguments: str
    recovered: bool = False
    malformed: str | None = None


def structured(raw: Any, tools: Sequence[Mapping[str, Any]]) -> list[AskedCall]:
    """The reply's ``tool_calls``: absent, null and empty are the same."""
    calls = []
    for item in raw if isinstance(raw, list) else ():
        function = item.get("function") if isinstance(item, Mapping) else None
        if not isinstance(function, Mapping):
            calls.append(AskedCall(name="", arguments=_as_text(item), malformed="bad_call"))
            continue
        name = function.get("name")
        calls.append(checked(name if isinstance(name, str) else "", function.get("arguments"), tools))
    return calls


def checked(name: str, arguments: Any, tools: Sequence[Mapping[str, Any]], *, recovered: bool = False) -> AskedCall:
    """One call held against the tool schemas.

    Two things are put right because they are the server's doing, not the model's: arguments encoded twice, and an
    integer where the schema says string (its parser turned ``1984`` into a number).
    """
    name = scrub(name).strip()
    text = scrub(arguments) if isinstance(arguments, str) else _as_text(arguments)
    value, problem = _object(text)
    schema = next((tool["function"]["parameters"] for tool in tools if tool["function"]["name"] == name), None)
    if schema is None:
        return AskedCall(name, text, recovered, "unknown_tool")
    if problem or value is None:
        return AskedCall(name, text, recovered, problem)
    for key, content in value.items():
        expected = schema["properties"].get(key)
        if expected is None:
            return AskedCall(name, text, recovered, "unknown_parameter")
        if expected.get("type") == "string" and not isinstance(content, str):
            if content is None and key in schema.get("required", ()):
                return AskedCall(name, text, recovered, "missing_parameter")
            if isinstance(content, bool) or not isinstance(content, int):
                return AskedCall(name, text, recovered, "wrong_type")
            value[key] = str(content)
    if any(not str(value.get(key, "")).strip() for key in schema.get("required", ())):
        return AskedCall(name, text, recovered, "missing_parameter")
    try:
        return AskedCall(name, dumps(value).decode(), recovered)
    except TirError:  # nested deeper than can be written
        return AskedCall(name, text, recovered, "bad_json")


def scrub(value: Any) -> Any:
    """The value with every lone surrogate in it as U+FFFD: half an emoji is text that UTF-8 cannot hold."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [scrub(item) for item in value]
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in value.items()}
    return value


def _object(text: str) -> tuple[dict[str, Any] | None, str | None]:
    value: Any = text
    for _ in range(2):  # the second round reads arguments that were encoded twice
        if not isinstance(value, str):
            break
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return None, "bad_json"
    if not isinstance(value, dict):
        return None, "not_an_object"
    return dict(value), None


def _as_text(value: Any) -> str:
    """JSON text of what a server sent in place of it; empty when it cannot be written at all."""
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:  # an integer beyond 64 bits, text that UTF-8 cannot hold, or too deep
        pass
    try:
        return json.dumps(scrub(value), default=str, ensure_ascii=False)
    except (RecursionError, ValueError):
        return ""
