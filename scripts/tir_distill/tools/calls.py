"""Reads the arguments of a call, and says in plain words what is wrong with a call that cannot be run."""

from __future__ import annotations

from typing import Any

import orjson

from ..records.trajectory import ToolCall, ToolResult
from .schemas import ORDER, PARAMETER
from .text import for_model

_WORDS = {
    "bad_json": "its arguments are not valid JSON",
    "not_an_object": "its arguments are not a JSON object",
    "unknown_tool": f"there is no such tool; the tools are {', '.join(ORDER)}",
    "missing_parameter": "a required parameter is missing",
    "bad_parameter": "a parameter has the wrong type",
}


class BadCall(Exception):
    """The call cannot be run. ``reason`` is one of the keys used in ``ToolCall.malformed``."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason, self.detail = reason, detail


def argument(call: ToolCall) -> str:
    """The value of the tool's one parameter. Raises BadCall."""
    if call.malformed is not None:
        raise BadCall(call.malformed)
    if call.name not in PARAMETER:
        raise BadCall("unknown_tool")
    name = PARAMETER[call.name]
    try:
        arguments: Any = orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        raise BadCall("bad_json") from None
    if not isinstance(arguments, dict):
        raise BadCall("not_an_object")
    value = arguments.get(name)
    if value is None:
        raise BadCall("missing_parameter", f"the parameter '{name}' is missing")
    if not isinstance(value, str):
        raise BadCall("bad_parameter", f"the parameter '{name}' must be a string")
    if not value.strip():
        raise BadCall("missing_parameter", f"the parameter '{name}' is empty")
    return value


def refusal(call: ToolCall, bad: BadCall) -> ToolResult:
    """What the model is told about a call that was not run."""
    words = bad.detail or _WORDS.get(bad.reason, bad.reason.replace("_", " "))
    text, _ = for_model(f"The call of '{call.name[:64]}' was not run: {words}.", 1000)
    return ToolResult(
        call_id=call.id, name=call.name, status="model_error", content=text, meta={"malformed": bad.reason}
    )
