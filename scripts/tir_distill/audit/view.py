"""A row taken apart once, for all checks. Tolerant: what is wrong is for the checks to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..export import parse_arguments
from ..records import BadRow
from .settings import Profile

OPEN, CLOSE = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an assistant message; ``arguments`` is None when they are no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: Any
    """As the row has them: a string, if all is well."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """An assistant message. ``thinking`` is None when the think tags are not one clean pair in front."""

    message: int
    text: str
    thinking: str | None
    visible: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A row whose messages are a list of objects with a role and a string content."""

    row: Mapping[str, Any]
    messages: list[dict[str, Any]]
    replies: tuple[Reply, ...]
    tools: list[Mapping[str, Any]]
    images: list[str]
    profile: Profile
    """What the file that the row stands in must be."""

    @property
    def calls(self) -> list[tuple[Reply, Call]]:
        return [(reply, call) for reply in self.replies for call in reply.calls]


def reply_of(index: int, message: Mapping[str, Any]) -> Reply:
    """Take an assistant message apart. Calls must be objects (``shape`` sees to that before)."""
    text: str = message["content"]
    thinking, visible = split_thinking(text)
    return Reply(index, text, thinking, visible, tuple(_call(item) for item in message.get("tool_calls") or ()))


def split_thinking(text: str) -> tuple[str | None, str]:
    """Thinking and visible text; (None, text) unless there is exactly one pair and it opens the text."""
    if text.startswith(OPEN) and text.count(OPEN) == 1 and text.count(CLOSE) == 1:
        thinking, visible = text[len(OPEN) :].split(CLOSE)
        return thinking.strip(), visible
    return None, text


def _call(item: Mapping[str, Any]) -> Call:
    function = item.get("function") or {}
    name, call_id = function.get("name"), item.get("id")
    try:
        arguments, problem = parse_arguments(function.get("arguments")), ""
    except BadRow as error:
        arguments, problem = None, error.detail
    return Call(
        call_id if isinstance(call_id, str) else "",
        name if isinstance(name, str) else "",
        arguments,
        function.get("arguments"),
        problem,
    )
