"""A chat request as the teacher reads it: question, pictures, and what each call brought back."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_CALL_TEXT = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|$)", re.DOTALL)
_CODE_TEXT = re.compile(r"<code>\s*(?:```(?:python)?\n)?(.*?)(?:\n```)?\s*</code>", re.DOTALL)
_RESULT = re.compile(r"^\d+\. (?P<title>.*)\nURL: (?P<url>\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Observation:
    """The answer to one call."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    pictures: int = 0

    @property
    def results(self) -> list[tuple[str, str]]:
        """Of a search: (title, URL) of each result."""
        return [(match["title"], match["url"]) for match in _RESULT.finditer(self.text)]


@dataclass
class Dialogue:
    """Everything that a stateless teacher knows."""

    question: str = ""
    pictures: list[bytes] = field(default_factory=list)
    turns: int = 0
    """Replies that the teacher has already given."""
    observations: list[Observation] = field(default_factory=list)
    last_text: str = ""
    """The newest message that is not the teacher's own."""
    native: bool = True
    """Tools were offered in the request; otherwise calls are written as text."""

    @property
    def told_to_answer(self) -> bool:
        """A limit was reached and the newest tool result says so."""
        return "[notice]" in self.last_text

    def of(self, name: str) -> list[Observation]:
        return [item for item in self.observations if item.name == name]


def read_dialogue(request: Mapping[str, Any]) -> Dialogue:
    """Parse the body of a chat completion request."""
    dialogue = Dialogue(native=bool(request.get("tools")))
    open_calls: list[tuple[str, str, Mapping[str, Any]]] = []
    for message in request["messages"]:
        role, content = message["role"], message.get("content")
        if role == "user" and not dialogue.question:
            dialogue.question = _text(content).strip()
            dialogue.pictures = list(_pictures(content))
        elif role == "assistant":
            dialogue.turns += 1
            open_calls = list(_calls(message))
        elif role in ("tool", "user"):
            dialogue.last_text = _text(content)
            call = _take(open_calls, message.get("tool_call_id"))
            if call:
                count = sum(1 for part in _parts(content) if part.get("type") != "text")
                dialogue.observations.append(Observation(call[1], call[2], dialogue.last_text, count))
    return dialogue


def _take(
    calls: list[tuple[str, str, Mapping[str, Any]]], identity: str | None
) -> tuple[str, str, Mapping[str, Any]] | None:
    for index, call in enumerate(calls):
        if identity is None or call[0] == identity:
            return calls.pop(index)
    return None


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for call in message.get("tool_calls") or ():
        arguments = call["function"]["arguments"]
        try:
            parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
        except json.JSONDecodeError:
            parsed = {}
        yield call.get("id", ""), call["function"]["name"], parsed if isinstance(parsed, dict) else {}
    if message.get("tool_calls"):
        return
    text = _text(message.get("content")).rpartition("</think>")[2]
    for found in _CALL_TEXT.finditer(text):
        try:
            parsed = json.loads(found[1])
        except json.JSONDecodeError:
            continue
        yield "", parsed.pop("action", parsed.get("name", "")), parsed
    for found in _CODE_TEXT.finditer(text):
        yield "", "python", {"code": found[1]}


def _parts(content: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content or ()


def _text(content: Any) -> str:
    return "\n".join(part["text"] for part in _parts(content) if part.get("type") == "text")


def _pictures(content: Any) -> Iterator[bytes]:
    for part in _parts(content):
        if part.get("type") == "image_url":
            url = part["image_url"]["url"] if isinstance(part["image_url"], dict) else part["image_url"]
            try:
                yield base64.b64decode(url.partition(",")[2], validate=True)
            except binascii.Error:
                yield b""
