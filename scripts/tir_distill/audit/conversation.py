"""Check 2, second half: order of roles, calls and their results, arguments, picture tags, forbidden markup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..export import IMAGE_TAG, find_markup
from ..records.behaviour import CODE_TOOLS, find_call_text, has_image_code, has_search
from .cells import check_cells
from .findings import Finding, around
from .repeated import repeated_key
from .schemas import takes
from .settings import AuditSettings
from .shape import CHECK
from .view import Reply, View

TOOL_PICTURES = "tool_images"
"""Folder of the pictures that tools made; every other picture belongs to the question."""


def _finding(reason: str, message: int | None = None, detail: str = "", excerpt: str = "") -> Finding:
    return Finding(check=CHECK, reason=reason, message=message, detail=detail, excerpt=excerpt)


def check_conversation(view: View, settings: AuditSettings) -> Iterator[Finding]:
    """Everything about the messages of a row that is taken apart."""
    yield from _roles(view)
    yield from _pairs(view)
    yield from _arguments(view)
    yield from _pictures(view, settings)
    yield from _markup(view)
    if settings.profile.python_cells:
        yield from check_cells(view)
    if settings.profile.our_keys:
        yield from _columns(view)


def _roles(view: View) -> Iterator[Finding]:
    """One question; each reply but the last one calls. The trainer glues or refuses anything else."""
    before = ""
    users = 0
    for index, message in enumerate(view.messages):
        role = message["role"]
        if role == "system" and index:
            yield _finding("system_not_first", index)
        if role == "user":
            users += 1
            if not message["content"].replace(IMAGE_TAG, "").strip():
                yield _finding("empty_question", index, "a question without words")
            if before == "tool":
                yield _finding("user_after_tool", index, "earlier thinking would be stripped; the trainer refuses it")
            elif users > 1:
                yield _finding("second_user", index, "earlier thinking would be stripped when serving")
        if role == "assistant" and before == "assistant":
            yield _finding("two_replies", index, "the trainer glues two assistant messages together")
        if role == "assistant" and users == 0:
            yield _finding("reply_before_question", index)
        before = role
    if not users:
        yield _finding("no_user")


def _pairs(view: View) -> Iterator[Finding]:
    """Results follow their calls one to one, in order, and ids are unique."""
    seen: set[str] = set()
    replies = {reply.message: reply for reply in view.replies}
    open_calls: list[str] = []
    owner = 0
    for index, message in enumerate(view.messages):
        if message["role"] == "tool":
            result = message.get("tool_call_id")
            if not open_calls:
                yield _finding("result_without_call", index, f"tool_call_id {result!r}")
            elif result == open_calls[0]:
                open_calls.pop(0)
            elif result in open_calls:
                yield _finding("result_order", index, f"{result!r} stands before {open_calls[0]!r}")
                open_calls.remove(result)
            else:
                yield _finding("result_without_call", index, f"tool_call_id {result!r}")
            continue
        if open_calls:
            yield _finding("call_without_result", owner, f"no result for {', '.join(open_calls)}")
            open_calls = []
        if index in replies:
            owner = index
            ids = [call.id for call in replies[index].calls]
            if "" in ids or len(set(ids)) != len(ids) or seen & set(ids):
                yield _finding("repeated_call_id", index, f"ids {ids}")
            seen.update(ids)
            open_calls = ids
    if open_calls and view.messages[-1]["role"] == "tool":
        yield _finding("call_without_result", owner, f"no result for {', '.join(open_calls)}")


def _arguments(view: View) -> Iterator[Finding]:
    """Arguments are a JSON object in a string, for a declared tool, complete and of the declared types."""
    declared = {tool["function"]["name"]: takes(tool["function"]) for tool in view.tools}
    for reply, call in view.calls:
        if not isinstance(call.raw, str):
            yield _finding("arguments_not_text", reply.message, "arguments must be a JSON string")
        elif again := repeated_key(call.raw):
            yield _finding("repeated_key", reply.message, f"{call.name}: {again!r} stands twice in the arguments")
        if call.arguments is None:
            yield _finding("bad_arguments", reply.message, f"{call.name}: {call.problem}")
            continue
        if call.name not in declared:
            yield _finding("undeclared_tool", reply.message, repr(call.name))
            continue
        tool = declared[call.name]
        for name in tool.required:
            if name not in call.arguments:
                yield _finding("missing_argument", reply.message, f"{call.name} needs {name!r}")
        for name, value in call.arguments.items():
            if name not in tool.types:
                yield _finding("unknown_argument", reply.message, f"{call.name} has no {name!r}")
            elif value is None or isinstance(value, bool):
                yield _finding("argument_type", reply.message, f"{name}: renders differently by version")
            elif not isinstance(value, tool.types[name]):
                yield _finding("argument_type", reply.message, f"{name}: {type(value).__name__}")


def _pictures(view: View, settings: AuditSettings) -> Iterator[Finding]:
    """As many tags as pictures, where pictures may stand. The trainer counts tags in every message."""
    total = 0
    for index, message in enumerate(view.messages):
        content, role = message["content"], message["role"]
        if IMAGE_TAG not in content:
            continue
        tags = content.count(IMAGE_TAG)
        total += tags
        if role not in ("user", "tool"):
            yield _finding("image_tag_role", index, f"<image> in a {role} message", around(content, IMAGE_TAG))
        elif settings.profile.picture_places:
            run = IMAGE_TAG * tags
            if not (content.startswith(run) if role == "user" else content.endswith(run)):
                yield _finding("image_tag_place", index, "<image> inside the text", around(content, IMAGE_TAG))
            elif content.startswith(f"{run}\n") and role == "user":
                yield _finding("newline_after_image", index, "the exporter puts none")
            for path in view.images[total - tags : total]:
                if (TOOL_PICTURES in PurePosixPath(path).parts) is not (role == "tool"):
                    yield _finding("image_order", index, f"{path} stands here, its place is in another message")
    if total != len(view.images):
        yield _finding("image_count", None, f"{total} <image> tags for {len(view.images)} pictures")


def _markup(view: View) -> Iterator[Finding]:
    """Control tokens and tags in any text, but for the places that the shape gives."""
    replies = {reply.message: reply for reply in view.replies}
    for index, message in enumerate(view.messages):
        if (reply := replies.get(index)) is not None:
            yield from _markup_of_reply(reply)
        elif found := find_markup(message["content"].replace(IMAGE_TAG, "")):
            yield _finding("markup_in_text", index, found, around(message["content"], found))


def _markup_of_reply(reply: Reply) -> Iterator[Finding]:
    """Unclosed and repeated think tags are reported by checks 1 and 3, picture tags above."""
    texts = [reply.visible, reply.thinking or ""]
    for part, text in enumerate(texts):
        for tag in ("<think>", "</think>", IMAGE_TAG):
            text = text.replace(tag, "")
        found = find_markup(text, by_model=True) or (find_call_text(text) if part == 0 else None)
        if not found:
            continue
        if found == "<tool_call>" and text.count("<tool_call>") > text.count("</tool_call>"):
            continue
        of_call = any(word in found.lower() for word in ("call", "=", "function", "{", "<invoke", "<code"))
        reason = "call_as_text" if of_call else "markup_in_text"
        yield _finding(reason, reply.message, found, around(text, found))
    for call in reply.calls:
        for value in _strings(call.arguments):
            if found := find_markup(value, by_model=True):
                yield _finding("markup_in_arguments", reply.message, found, around(value, found))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _columns(view: View) -> Iterator[Finding]:
    """Columns for ablations say what the messages say."""
    searched = has_search(call.name for _, call in view.calls)
    painted = any(
        call.name in CODE_TOOLS and has_image_code(str((call.arguments or {}).get("code", "")))
        for _, call in view.calls
    )
    for name, value in (("has_self_search", searched), ("has_image_code", painted)):
        if view.row.get(name) is not value and isinstance(view.row.get(name), bool):
            yield _finding("column_differs", None, f"{name} is {view.row[name]}, the messages say {value}")
