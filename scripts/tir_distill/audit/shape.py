"""Check 2, first half: the row's own form, what readers and trainer take for granted or for something special."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from ..export import LINEAGE_KEYS, ROW_KEYS, Row
from ..records import TASK_TYPES
from .findings import Finding, unreadable
from .repeated import repeated_key
from .schemas import problems
from .settings import Profile
from .view import View, reply_of

CHECK = "2_shape"

SPECIAL_NAMES = frozenset(
    {
        "label",
        "channel",
        "margin",
        "solution",
        "system",
        "system_prompt",
        "image",
        "video",
        "videos",
        "audio",
        "audios",
        "conversation",
        "conversations",
        "objects",
        "query",
        "response",
        "history",
        "rejected_response",
        "chat_template_kwargs",
        "mm_processor_kwargs",
        "teacher_prompt",
        "teacher_images",
        "ref_audios",
        "audio_codes",
    }
)
"""Top-level names that ms-swift 4.5 gives a meaning (dataset/preprocessor/core.py, template/template_inputs.py)."""
SPECIAL_PREFIXES = ("rejected_", "positive_", "negative_", "__@", "__#")

TYPES: Mapping[str, type] = {
    "messages": list,
    "images": list,
    "n_samples": int,
    "has_self_search": bool,
    "has_image_code": bool,
    "lineage": dict,
}
"""Types of a row's fields; every other one is a string."""

ROLES = ("system", "user", "assistant", "tool")
MESSAGE_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id", "turn", "loss", "name"})


def check_shape(row: Row, profile: Profile, first: Mapping[str, type]) -> tuple[list[Finding], View | None]:
    """Findings, and the row taken apart when its messages allow that.

    ``first``: name -> type of the file's first row, for files that are not ours.
    """
    try:
        return _check_shape(row, profile, first)
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        return [unreadable(error)], None


def _check_shape(row: Row, profile: Profile, first: Mapping[str, type]) -> tuple[list[Finding], View | None]:
    found = list(_fields(row, profile, first))
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*found, _finding("no_messages", detail="messages must be a list with at least one message")], None
    bad = list(_messages(messages))
    tools = _tools(row, profile)
    found += [*bad, *(item for item in tools if isinstance(item, Finding))]
    if bad:
        return found, None
    found += _extras(messages, profile)
    replies = [reply_of(i, message) for i, message in enumerate(messages) if message["role"] == "assistant"]
    declared = [item for item in tools if not isinstance(item, Finding)]
    stated = row.get("images")
    images = [path for path in stated if isinstance(path, str)] if isinstance(stated, list) else []
    return found, View(row, messages, tuple(replies), declared, images, profile)


def _finding(reason: str, message: int | None = None, detail: str = "", excerpt: str = "") -> Finding:
    return Finding(check=CHECK, reason=reason, message=message, detail=detail, excerpt=excerpt)


def _fields(row: Row, profile: Profile, first: Mapping[str, type]) -> Iterator[Finding]:
    for name in row:
        if name.lower() in SPECIAL_NAMES or name.lower().startswith(SPECIAL_PREFIXES):
            yield _finding("special_name", detail=f"the trainer reads {name!r} as something else")
    wanted = {name: TYPES.get(name, str) for name in ROW_KEYS} if profile.our_keys else first
    for name, kind in wanted.items():
        if name == "tools":
            continue
        if name not in row:
            yield _finding("missing_key", detail=name)
        elif type(row[name]) is not kind:
            yield _finding("wrong_type", detail=f"{name}: {type(row[name]).__name__}, expected {kind.__name__}")
    for name in row.keys() - wanted.keys():
        yield _finding("unexpected_key", detail=name)
    if profile.our_keys and tuple(row) != ROW_KEYS and row.keys() == wanted.keys():
        yield _finding("key_order", detail=f"expected {', '.join(ROW_KEYS)}")
    images = row.get("images")
    if isinstance(images, list) and not all(isinstance(path, str) for path in images):
        yield _finding("wrong_type", detail="images: every entry must be a path")
    if profile.our_keys:
        yield from _our_values(row)
    lineage = row.get("lineage")
    if profile.our_keys and isinstance(lineage, dict) and tuple(lineage) != LINEAGE_KEYS and lineage:
        for name in lineage.keys() - set(LINEAGE_KEYS):
            yield _finding("unexpected_key", detail=f"lineage.{name}")


def _our_values(row: Row) -> Iterator[Finding]:
    """Values of the right type that no row of ours has."""
    task, samples = row.get("task_type"), row.get("n_samples")
    if isinstance(task, str) and task and task not in TASK_TYPES:
        yield _finding("unknown_task", detail=f"{task!r}: the figures of searching would pass it over")
    if type(samples) is int and samples < 1:
        yield _finding("bad_count", detail=f"n_samples {samples}: the row is a sample itself")


def _messages(messages: list[Any]) -> Iterator[Finding]:
    """What would stop every other check of this row."""
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            yield _finding("wrong_type", index, "a message must be an object")
            continue
        if message.get("role") not in ROLES:
            yield _finding("unknown_role", index, repr(message.get("role")))
        if not isinstance(message.get("content"), str):
            kind = type(message.get("content")).__name__
            yield _finding("content_not_text", index, f"{kind}; the trainer writes lists as JSON and drops null")
        for name in message.keys() - MESSAGE_KEYS:
            reason = "reasoning_field" if name.startswith("reasoning") else "unexpected_key"
            yield _finding(reason, index, f"{name}: dropped by the trainer")
        calls = message.get("tool_calls")
        if "tool_calls" in message and not (isinstance(calls, list) and calls):
            yield _finding("wrong_type", index, "tool_calls must be absent or a list with a call in it")
        elif calls is not None and not all(_is_call(item) for item in calls):
            yield _finding("bad_call", index, 'expected {"id", "type": "function", "function": {"name", "arguments"}}')


def _extras(messages: Sequence[Mapping[str, Any]], profile: Profile) -> Iterator[Finding]:
    """Fields of messages that the other checks pass over."""
    for index, message in enumerate(messages):
        if "loss" in message:
            loss = message["loss"]
            if not (loss is None or (isinstance(loss, bool | int | float) and loss in (0, 1))):
                yield _finding("bad_loss", index, f"{loss!r}: true or false is expected")
            elif profile.our_keys and message["role"] == "assistant" and loss is not None and not loss:
                yield _finding("not_learned", index, "every reply of these rows is trained on")
        if "tool_calls" in message and message["role"] != "assistant":
            yield _finding("call_by_other_role", index, f"a {message['role']} message cannot call: the calls are lost")
        if not isinstance(message.get("name", ""), str | None):
            yield _finding("wrong_type", index, f"name: {type(message['name']).__name__}, expected str")


def _is_call(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("type") != "function" or not isinstance(item.get("id"), str):
        return False
    function = item.get("function")
    return isinstance(function, dict) and function.keys() == {"name", "arguments"} and isinstance(function["name"], str)


def _tools(row: Row, profile: Profile) -> Sequence[Finding | Mapping[str, Any]]:
    """The declared tools, or what is wrong with the field."""
    value = row.get("tools")
    if not isinstance(value, str):
        reason = "tools_null" if value is None else "tools_not_text"
        return [_finding(reason, detail="tools must be one JSON string, also when there are none")]
    return _declared(value, profile.only_tools)


@functools.lru_cache(maxsize=32)
def _declared(value: str, only: frozenset[str] | None) -> Sequence[Finding | Mapping[str, Any]]:
    """Rows of a file declare the same tools as a rule, so they are taken apart once."""
    return tuple(_read_tools(value, only))


def _read_tools(value: str, only: frozenset[str] | None) -> Iterator[Finding | Mapping[str, Any]]:
    try:
        tools = orjson.loads(value or "[]")
    except orjson.JSONDecodeError as error:
        yield _finding("bad_tools", detail=f"not JSON: {error}")
        return
    if not isinstance(tools, list):
        yield _finding("bad_tools", detail="a JSON list was expected")
        return
    if again := repeated_key(value):
        yield _finding("repeated_key", detail=f"{again!r} stands twice in an object of tools")
    names = []
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if (
            not isinstance(function, dict)
            or tool.get("type") != "function"
            or not isinstance(function.get("name"), str)
        ):
            yield _finding("bad_tools", detail='a tool must be {"type": "function", "function": {"name", ...}}')
            continue
        names.append(function["name"])
        for problem in problems(function):
            yield _finding("bad_tools", detail=problem)
        yield tool
    if len(set(names)) != len(names):
        yield _finding("bad_tools", detail="a tool is declared twice")
    if only is not None and set(names) - only:
        yield _finding("other_tools", detail=f"only {sorted(only)} may be declared here")
