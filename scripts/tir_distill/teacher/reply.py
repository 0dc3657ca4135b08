"""One answer of the server, read into thinking, visible text and calls, whatever the server's habits.

Known habits (public reports on vLLM, sglang, DashScope): thinking under ``reasoning_content``, ``reasoning`` or both,
or left in the content; ``tool_calls`` absent, null or empty; a call left as text in the content, or at the end of the
thinking; a stray ``</think>`` at the start of the content; ``finish_reason`` "tool_calls" although the text was cut.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..records import Usage
from .calls import AskedCall, checked, scrub, structured
from .faults import Clean, TeacherFault, as_it_is, fault_of_error, shown
from .text_protocol import MARKS, find_calls

CUT = frozenset({"length", "max_tokens", "model_length"})
"""Words of different servers for a reply that reached its token limit."""

BROKEN_OFF = frozenset({"abort", "error", "cancelled", "canceled", "insufficient_system_resource"})
"""The server gave up in the middle (vLLM, sglang, DeepSeek, gateways): no reply of the model."""

MOST_TOKENS = 10**9
"""A count above this is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the teacher said in one turn."""

    thinking: str
    content: str
    calls: tuple[AskedCall, ...]
    finish_reason: str
    usage: Usage
    latency_s: float = 0.0
    truncated: bool = False
    """Cut at the token limit: ``length``, or as many tokens as were allowed (vLLM says "tool_calls" then)."""
    model: str = ""
    """The name the server gives itself; empty when it gives none."""


def read_body(body: bytes, clean: Clean = as_it_is) -> Mapping[str, Any]:
    """The JSON object of an answer. Raises TeacherFault(bad_body) for HTML, cut JSON and the like.

    ``clean``: takes the key out of what a fault quotes.
    """
    body = body.removeprefix(codecs.BOM_UTF8)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = _with_lone_surrogates(body, clean)
    if not isinstance(value, dict):
        raise TeacherFault("bad_body", f"expected a JSON object, found: {shown(body, clean)}")
    error = value.get("error")
    if isinstance(error, Mapping) or (isinstance(error, str) and error and not value.get("choices")):
        raise fault_of_error(error, clean)
    return value


def _with_lone_surrogates(body: bytes, clean: Clean) -> Any:
    """Half an emoji, escaped, is legal JSON to some servers and not to our parser: it becomes U+FFFD."""
    try:
        return scrub(json.loads(body.decode("utf-8", "replace")))
    except (ValueError, RecursionError):  # no JSON, or a number of thousands of digits
        raise TeacherFault("bad_body", f"not JSON: {shown(body, clean)}") from None


def read_reply(
    value: Mapping[str, Any],
    tools: Sequence[Mapping[str, Any]],
    *,
    max_tokens: int,
    text_protocol: bool = False,
    latency_s: float = 0.0,
) -> Reply:
    """A chat completion as a Reply. Raises TeacherFault when it holds no message or was refused."""
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise TeacherFault("bad_body", "no choices[0].message in the answer")
    finish = str(choice.get("finish_reason") or "stop")
    if finish == "content_filter":
        raise TeacherFault("refused", "finish_reason content_filter")
    if finish.lower() in BROKEN_OFF:
        raise TeacherFault("server", f"finish_reason {finish}")
    usage = _usage(value.get("usage"))
    truncated = finish.lower() in CUT or usage.completion_tokens >= max_tokens
    thinking, content = split_thinking(_text(_reasoning(message)), _text(message.get("content")))
    calls = structured(_raw_calls(message), tools)
    if not calls and not truncated:
        thinking, content, calls = _calls_in_text(thinking, content, tools, strict=not text_protocol)
    model = value.get("model")
    return Reply(
        thinking=thinking,
        content=content,
        calls=tuple(calls),
        finish_reason=finish,
        usage=usage,
        latency_s=latency_s,
        truncated=truncated,
        model=model if isinstance(model, str) else "",
    )


def split_thinking(reasoning: str, content: str) -> tuple[str, str]:
    """Thinking and visible text. Tags that remain in the visible text are left for the filters to see."""
    if reasoning.strip():
        visible = content.strip()
        inner = reasoning.strip().removeprefix("<think>").removesuffix("</think>")  # tags that some servers leave on
        return inner.strip(), visible.removeprefix("</think>").strip()
    if "</think>" in content:
        before, after = content.split("</think>", 1)
        return before.split("<think>", 1)[-1].strip(), after.strip()
    if content.lstrip().startswith("<think>"):  # never closed
        return content.lstrip().removeprefix("<think>").strip(), ""
    return "", content.strip()


def _calls_in_text(
    thinking: str, content: str, tools: Sequence[Mapping[str, Any]], *, strict: bool
) -> tuple[str, str, list[AskedCall]]:
    """Calls that the server's parser left behind: in the content, or at the end of the thinking with no content."""
    answered = "<answer>" in content
    if content and not answered and (not strict or any(mark in content for mark in MARKS)):
        found = find_calls(content, strict=strict)
        if found.calls:
            return thinking, found.text, [checked(c.name, c.arguments, tools, recovered=strict) for c in found.calls]
    if not content and any(mark in thinking for mark in MARKS) and _ends_in_call(thinking):
        at = min(i for i in (thinking.rfind(mark) for mark in MARKS) if i >= 0)
        found = find_calls(thinking[at:], strict=True)
        calls = [checked(c.name, c.arguments, tools, recovered=True) for c in found.calls]
        if calls and not any(call.malformed for call in calls):
            return thinking[:at].strip(), content, calls
    return thinking, content, []


def _ends_in_call(thinking: str) -> bool:
    return thinking.removesuffix("</think>").rstrip().endswith(("</tool_call>", "</function>"))


def _raw_calls(message: Mapping[str, Any]) -> Any:
    """The field of calls: a list, one call without its list, or the older ``function_call``."""
    calls = message.get("tool_calls")
    if isinstance(calls, Mapping):
        return [calls]
    if not calls and isinstance(message.get("function_call"), Mapping):
        return [{"function": message["function_call"]}]
    return calls


def _reasoning(message: Mapping[str, Any]) -> Any:
    for key in ("reasoning_content", "reasoning"):
        value = message.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return None


def _text(value: Any) -> str:
    """Text of a content field: a string, null, or a list of text parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = (part.get("text") for part in value if isinstance(part, Mapping))
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def _usage(value: Any) -> Usage:
    if not isinstance(value, Mapping):
        return Usage()

    def count(key: str) -> int:
        number = value.get(key)  # a float from servers that count in JavaScript
        return int(number) if isinstance(number, int | float) and 0 <= number <= MOST_TOKENS else 0

    return Usage(prompt_tokens=count("prompt_tokens"), completion_tokens=count("completion_tokens"))
