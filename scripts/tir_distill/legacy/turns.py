"""A legacy conversation as native turns: each code block a ``python`` call, each result a tool message.

Rules, in the order they are applied:

* a code block or JSON call ends the model's turn when a result follows, in the same text or in the next message;
* several code blocks before one result ran as one cell, and become one call; as many results as blocks pair up;
* text inside ``<think>`` becomes thinking, all other text stays visible;
* a row whose last message is a call with neither result nor answer is refused (``code_without_result``, seed
  section 10.1: it teaches the model to stop after writing code).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from ..records import BadRow
from .answers import ANSWER
from .protocol import Piece, pieces
from .shapes import LegacyMessage

_RESULT_PREFIX = re.compile(r"\A\s*(?:Search result|Code output|Execution result|Output)s?:\s*\n?", re.I)
_ACTIONS = {"search": ("query",), "open": ("url",), "python": ("code",)}
_ALIASES = {"code": "python", "code_interpreter": "python", "python_interpreter": "python", "web_search": "search"}


class NativeCall(NamedTuple):
    """A tool call with its arguments as a JSON object text."""

    name: str
    arguments: str


@dataclass(slots=True)
class NativeTurn:
    """What the model said, what it called, what came back. ``<image>`` tags mark pictures in results."""

    thinking: str = ""
    text: str = ""
    calls: list[NativeCall] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


@dataclass(slots=True)
class NativeConversation:
    """User text and turns; ``asked_again``: later user messages that are no results are not representable."""

    user: str
    turns: list[NativeTurn]

    @property
    def answer(self) -> str | None:
        """The last answer given, stripped."""
        found = ANSWER.findall(self.turns[-1].text) if self.turns else []
        return found[-1].strip() if found else None


def to_turns(messages: Sequence[LegacyMessage], name: str) -> NativeConversation:
    """Convert one row's messages. Raises BadRow naming the row and the reason."""
    body = [message for message in messages if message.role != "system"]
    if not body or body[0].role != "user":
        raise BadRow("no_question", f"{name}: the first message after the system prompt is not the user's")
    builder = _Builder(name)
    for number, message in enumerate(body[1:], start=1):
        if message.role == "assistant":
            builder.said(message.text)
        elif builder.waiting or message.role == "tool":
            for text in _bare_results(message.text, builder.calls):
                builder.result(text, number)
        else:
            raise BadRow("second_question", f"{name}: message {number} is a user message that answers no call")
    return NativeConversation(user=body[0].text, turns=builder.finish())


def _bare_results(text: str, calls: int) -> list[str]:
    """The results in one message, without tags or prefix: one per call where the counts agree, else one in all."""
    found = [piece.text for piece in pieces(text)[0] if piece.kind == "result"] if "<" in text else []
    if not found:
        return [_RESULT_PREFIX.sub("", text, count=1).strip("\n")]
    return found if len(found) == calls else ["\n".join(found)]


class _Builder:
    """Collects pieces into turns."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.turns: list[NativeTurn] = []
        self.current: NativeTurn | None = None
        self.thinking = False

    @property
    def waiting(self) -> bool:
        """A call has been made and no result has come."""
        return self.current is not None and bool(self.current.calls) and not self.current.results

    @property
    def calls(self) -> int:
        """Calls of the turn that is being built."""
        return len(self.current.calls) if self.current else 0

    def said(self, text: str) -> None:
        if self.waiting:
            raise BadRow("call_without_result", f"{self.name}: the model goes on without the result of its call")
        self._close()
        parts, self.thinking = pieces(text, thinking=self.thinking)
        for piece in parts:
            self._add(piece)

    def _add(self, piece: Piece) -> None:
        if piece.kind == "result":
            self.result(piece.text, -1)
            return
        if self.current is not None and self.current.results:
            if not piece.text.strip():
                return  # white space between a result and what follows belongs to nobody
            self._close()
        turn = self.current = self.current or NativeTurn()
        if piece.kind == "think":
            turn.thinking += piece.text
        elif piece.kind == "text":
            turn.text += piece.text
        elif piece.kind == "code":
            turn.calls.append(python_call(piece.text))
        else:
            turn.calls.append(json_call(piece.text, self.name))

    def result(self, text: str, number: int) -> None:
        if self.current is None or not self.current.calls:
            raise BadRow("result_without_call", f"{self.name}: a result (message {number}) belongs to no call")
        self.current.results.append(text)

    def _close(self) -> None:
        if self.current is None:
            return
        turn = self.current
        if turn.calls and len(turn.results) != len(turn.calls):
            turn.calls = [_joined(turn.calls, self.name)] if len(turn.results) == 1 else turn.calls
        if turn.calls and len(turn.results) != len(turn.calls):
            raise BadRow(
                "results_do_not_match",
                f"{self.name}: {len(turn.calls)} calls but {len(turn.results)} results in a turn",
            )
        turn.thinking, turn.text = turn.thinking.strip(), turn.text.strip()
        if turn.thinking or turn.text or turn.calls:
            self.turns.append(turn)
        self.current = None

    def finish(self) -> list[NativeTurn]:
        if self.waiting and self.current is not None:
            if not ANSWER.search(self.current.text):
                raise BadRow("code_without_result", f"{self.name}: ends in a call with neither result nor answer")
            raise BadRow("answer_beside_call", f"{self.name}: the last message both answers and calls a tool")
        ended_in_result = self.current is not None and bool(self.current.results)
        self._close()
        if not self.turns:
            raise BadRow("no_reply", f"{self.name}: the model says nothing")
        if ended_in_result:
            raise BadRow("no_final_reply", f"{self.name}: ends in a tool result")
        return self.turns


def python_call(source: str) -> NativeCall:
    """A ``python`` call of one cell."""
    return NativeCall("python", orjson.dumps({"code": source}).decode())


def json_call(text: str, name: str) -> NativeCall:
    """A call written as JSON: ``{"action": "search", "query": …}`` or ``{"name": …, "arguments": {…}}``."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise BadRow("bad_call_json", f"{name}: a call is no JSON: {text[:80]!r}") from None
    if not isinstance(value, dict):
        raise BadRow("bad_call_json", f"{name}: a call is no JSON object: {text[:80]!r}")
    tool = str(value.get("action", value.get("name", "")))
    arguments = value.get("arguments", {key: item for key, item in value.items() if key not in ("action", "name")})
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            raise BadRow("bad_call_json", f"{name}: arguments are no JSON: {arguments[:80]!r}") from None
    tool = _ALIASES.get(tool, tool)
    if tool not in _ACTIONS:
        raise BadRow("unsupported_tool", f"{name}: calls the tool {tool!r}; known are {sorted(_ACTIONS)}")
    wanted = _ACTIONS[tool]
    if not isinstance(arguments, dict) or any(not isinstance(arguments.get(key), str) for key in wanted):
        raise BadRow("bad_call_json", f"{name}: {tool} needs the text arguments {wanted}")
    return NativeCall(tool, orjson.dumps({key: arguments[key] for key in wanted}).decode())


def _joined(calls: Sequence[NativeCall], name: str) -> NativeCall:
    """Several code blocks that ran as one cell."""
    if any(call.name != "python" for call in calls):
        raise BadRow("results_do_not_match", f"{name}: one result for several calls of which not all are code")
    return python_call("\n\n".join(orjson.loads(call.arguments)["code"] for call in calls))
