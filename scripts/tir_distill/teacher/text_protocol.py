"""Calls written as text: a tolerant reader, and the words that ask for them in ``--text-protocol`` mode.

Servers leave calls in the text for many reasons (no parser, a parser that gives up on a missing tag). Read here:

- ``<tool_call>{"action": "search", "query": "..."}</tool_call>``, also with ``name`` and ``arguments``, with or without
  the closing tag, inside a code fence, several objects in one tag (seed sections 4 and 9);
- ``<tool_call><function=search><parameter=query>...</parameter></function></tool_call>``, any closing tag missing, also
  without the outer tag;
- ``{"action": "code"}`` followed by a fenced block, ``<code>...</code>``.

``strict`` reading takes only what cannot be anything but a call: one of the two opening tags, outside code fences and
backticks. It is what native mode falls back to (RULINGS 5).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

MARKS = ("<tool_call>", "<function=")
"""What an unmistakable call begins with."""

_OPENING = re.compile(r"<tool_call>|<function=")
_LOOSE_OPENING = re.compile(r"<tool_call>|<function=|<code>|\{\s*\"(?:action|name)\"\s*:")
_FUNCTION = re.compile(r"<function=\s*\"?([^>\"\s]*)\"?\s*>")
_PARAMETER = re.compile(r"<parameter=\s*\"?([^>\"\s]*)\"?\s*>")
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)(?:\n[ \t]*```|```|\Z)", re.S)
_CODE_NAMES = ("code", "python")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call found in text. ``arguments`` is JSON text, or what stood there when it could not be read."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Found:
    """``text``: what stands before the first call, trimmed. Text after a call is dropped, as servers do."""

    text: str
    calls: tuple[TextCall, ...]


def find_calls(text: str, *, strict: bool) -> Found:
    """Read calls from a reply's text. No call: the text unchanged and no calls."""
    start = _first_opening(text, strict=strict)
    if start is None:
        return Found(text, ())
    calls = tuple(_read_calls(text[start:], strict=strict))
    return Found(_before(text[:start]), calls) if calls else Found(text, ())


def _first_opening(text: str, *, strict: bool) -> int | None:
    opening = _OPENING if strict else _LOOSE_OPENING
    for match in opening.finditer(text):
        before = text[: match.start()]
        quoted = before.endswith("`") and not before.endswith("```")
        fenced = before.count("```") % 2 == 1
        if not quoted and not (strict and fenced):
            return match.start()
    return None


def _before(text: str) -> str:
    """Visible text before a call, without the fence that was opened for it."""
    return re.sub(r"```[\w+-]*\s*\Z", "", text.rstrip()).strip()


def _read_calls(text: str, *, strict: bool) -> list[TextCall]:
    calls: list[TextCall] = []
    for piece in re.split(r"<tool_call>", text):
        body = piece.strip()
        if not body:
            continue
        if "<function=" in body and not _starts_json(body):
            calls.extend(_xml_calls(body[body.index("<function=") :]))
        elif not strict and body.startswith("<code>"):
            calls.append(_code_call(body[len("<code>") :].split("</code>")[0]))
        else:
            calls.extend(_json_calls(body))
    return calls


def _starts_json(body: str) -> bool:
    return body.startswith("{") or bool(re.match(r"```\w*\s*\{", body))


def _xml_calls(body: str) -> list[TextCall]:
    """``<function=…>`` blocks. A value reaches to the last ``</parameter>`` before the next parameter, so that code
    which holds the closing tag as text stays whole."""
    calls = []
    starts = [match.start() for match in _FUNCTION.finditer(body)]
    if not starts:  # cut inside the opening tag
        return [TextCall("", body.strip())]
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        block = body[start:end]
        head = _FUNCTION.match(block)
        if head is None:
            continue
        inner = _cut_last(block[head.end() :], "</tool_call>")
        inner = _cut_last(inner, "</function>")
        values: dict[str, str] = {}
        places = list(_PARAMETER.finditer(inner))
        for place, following in zip(places, [*places[1:], None], strict=False):
            value = inner[place.end() : following.start() if following else len(inner)]
            value = _cut_last(value, "</parameter>")
            values[place.group(1)] = value.removeprefix("\n").removesuffix("\n")
        calls.append(TextCall(head.group(1), orjson.dumps(values).decode()))
    return calls


def _cut_last(text: str, tag: str) -> str:
    at = text.rfind(tag)
    return text if at < 0 else text[:at]


def _json_calls(body: str) -> list[TextCall]:
    calls: list[TextCall] = []
    at = body.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(body, at)
        except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
            if not calls:
                calls.append(TextCall("", body.split("</tool_call>")[0].strip()))
            break
        call = _call_of(value, body[end:])
        if call is None:
            break
        calls.append(call)
        at = body.find("{", end) if body[end:].lstrip(" \t\r\n,`]").startswith("{") else -1
    if not calls and at < 0 and (block := _FENCE.match(body)):
        calls.append(_code_call(block.group(1)))
    return calls


def _call_of(value: Any, rest: str) -> TextCall | None:
    """A call from its JSON object in one of the usual shapes, or None when it is none."""
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("function"), Mapping):
        value = value["function"]
    for key in ("name", "action", "tool"):
        name = value.get(key)
        if isinstance(name, str):
            break
    else:
        return None
    for holder in ("arguments", "parameters", "args", "input"):
        inner = value.get(holder)
        if isinstance(inner, str) and holder == "arguments":
            return TextCall(_tool_name(name), inner)
        if isinstance(inner, Mapping):
            return _with_code(name, dict(inner), rest)
    return _with_code(name, {k: v for k, v in value.items() if k != key}, rest)


def _with_code(name: str, arguments: dict[str, Any], rest: str) -> TextCall:
    """``action: code`` may carry its code in a fenced block behind the object."""
    if name in _CODE_NAMES and "code" not in arguments:
        block = _FENCE.search(rest)
        if block:
            arguments["code"] = block.group(1)
        elif "<code>" in rest:
            arguments["code"] = _bare(rest.split("<code>", 1)[1].split("</code>")[0])
    return TextCall(_tool_name(name), json.dumps(arguments, ensure_ascii=False))


def _tool_name(name: str) -> str:
    return "python" if name == "code" else name


def _code_call(source: str) -> TextCall:
    return TextCall("python", json.dumps({"code": _bare(source)}, ensure_ascii=False))


def _bare(source: str) -> str:
    """Source without the fence and without blank lines around it."""
    block = _FENCE.search(source)
    return (block.group(1) if block else source).strip("\n")


# ---- asking for calls as text ---------------------------------------------------------------------------------------


def instructions(tools: Sequence[Mapping[str, Any]]) -> str:
    """What is added to the system text when the server knows no tools."""
    lines = ["To use a tool, end your reply with one call in this form and wait for its result:"]
    for tool in tools:
        function = tool["function"]
        names = list(function["parameters"]["properties"])
        example = {"action": function["name"], **dict.fromkeys(names, "...")}
        lines.append(f"<tool_call>{json.dumps(example)}</tool_call>  {function['description']}")
    return "\n".join(lines)


def call_as_text(name: str, arguments: str) -> str:
    """A past call as the model would have written it."""
    try:
        values = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        values = {}
    inner = values if isinstance(values, dict) else {}
    return f"<tool_call>{json.dumps({'action': name, **inner}, ensure_ascii=False)}</tool_call>"
