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
from .protocol import holds_result, one_result, pieces, usual, usual_result
from .shapes import LegacyMessage

_RESULT_PREFIX = re.compile(r"\A\s*(?:Search result|Code output|Execution result|Output)s?:\s*\n?", re.I)
_ACTIONS = {"search": ("query",), "open": ("url",), "python": ("code",)}
_ALIASES = {"code": "python", "code_interpreter": "python", "python_interpreter": "python", "web_search": "search"}


class NativeCall(NamedTuple):
    """A tool call."""

    name: str
    given: str
    """Source of a ``python`` cell as it stands; the arguments of any other call as a JSON object text."""

    @property
    def arguments(self) -> str:
        """The arguments as a JSON object text, as the row holds them."""
        return orjson.dumps({"code": self.given}).decode() if self.name == "python" else self.given


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
    body = [message for message in messages if message[0] != "system"]
    if not body or body[0].role != "user":
        raise BadRow("no_question", f"{name}: the first message after the system prompt is not the user's")
    builder = _Builder(name)
    for number, (role, text, thinking) in enumerate(body):
        if role == "assistant":
            builder.said(text, thinking)
        elif number == 0:
            continue
        elif builder.waiting or role == "tool" or holds_result(text):
            builder.told(text, number)
        else:
            raise BadRow("second_question", f"{name}: message {number} is a user message that answers no call")
    return NativeConversation(body[0].text, builder.finish())


def _bare_results(text: str, calls: int) -> list[str]:
    """The results in one message, without tags or prefix: one per call where the counts agree, else one in all."""
    if (only := usual_result(text)) is not None:
        return [only]
    if not holds_result(text):  # a tag in the middle is something that was printed
        return [_RESULT_PREFIX.sub("", text, count=1).strip("\r\n")]
    if (whole := one_result(text)) is not None:
        return [whole]
    found = [piece.text for piece in pieces(text)[0] if piece.kind == "result"]
    return found if len(found) == calls else ["\n".join(found)]


class _Builder:
    """Collects pieces into turns."""

    __slots__ = ("current", "name", "thinking", "turns")

    def __init__(self, name: str) -> None:
        self.name = name
        self.turns: list[NativeTurn] = []
        self.current: NativeTurn | None = None
        self.thinking = False

    @property
    def waiting(self) -> bool:
        """A call has been made and no result has come."""
        return self.current is not None and bool(self.current.calls) and not self.current.results

    def said(self, text: str, thought: str = "") -> None:
        """A message of the model. ``thought``: what it holds beside the text."""
        turn = self.current
        if turn is not None:
            if turn.calls and not turn.results:
                raise BadRow("call_without_result", f"{self.name}: the model goes on without the result of its call")
            self._close(turn)
        if thought.strip():
            self.thinking = False  # a message that has its thought beside it opens with its text
            self.current = NativeTurn(thought.strip())
        elif not self.thinking and (found := usual(text)) is not None:
            thinking, visible, code = found
            if text:
                self.current = NativeTurn(thinking, visible, [] if code is None else [python_call(code)])
            return
        parts, self.thinking = pieces(text, thinking=self.thinking)
        for kind, part in parts:
            if kind == "result":
                self._results([part], -1)
                continue
            turn = self.current
            if turn is not None and turn.results:
                if not part.strip():
                    continue  # white space between a result and what follows belongs to nobody
                self._close(turn)
                turn = None
            if turn is None:
                turn = self.current = NativeTurn()
            if kind == "think":
                turn.thinking = _thoughts(turn.thinking, part)
            elif kind == "text":
                turn.text += part
            elif kind == "code":
                turn.calls.append(python_call(part))
            else:
                turn.calls.append(json_call(part, self.name))

    def told(self, text: str, number: int) -> None:
        """A message with results."""
        self._results(_bare_results(text, len(self.current.calls) if self.current else 0), number)

    def _results(self, texts: list[str], number: int) -> None:
        if self.current is None or not self.current.calls:
            raise BadRow("result_without_call", f"{self.name}: a result (message {number}) belongs to no call")
        self.current.results += texts

    def _close(self, turn: NativeTurn) -> None:
        if len(turn.results) != len(turn.calls):
            if len(turn.results) != 1:
                raise BadRow(
                    "results_do_not_match",
                    f"{self.name}: {len(turn.calls)} calls but {len(turn.results)} results in a turn",
                )
            turn.calls = [_joined(turn.calls, self.name)]
        turn.thinking, turn.text = turn.thinking.strip(), turn.text.strip()
        if turn.thinking or turn.text or turn.calls:
            self.turns.append(turn)
        self.current = None

    def finish(self) -> list[NativeTurn]:
        """All turns. Raises BadRow for a conversation that does not end in words of the model."""
        last = self.current
        if last is not None:
            if last.calls and not last.results:
                if not ANSWER.search(last.text):
                    raise BadRow("code_without_result", f"{self.name}: ends in a call with neither result nor answer")
                raise BadRow("answer_beside_call", f"{self.name}: the last message both answers and calls a tool")
            self._close(last)
        if not self.turns:
            raise BadRow("no_reply", f"{self.name}: the model says nothing")
        if last is not None and last.results:
            raise BadRow("no_final_reply", f"{self.name}: ends in a tool result")
        return self.turns


def _thoughts(before: str, more: str) -> str:
    """Two thoughts as one, a blank line between; the same thought once."""
    first, second = before.strip(), more.strip()
    return f"{first}\n\n{second}" if first and second and first != second else first or second


def python_call(source: str) -> NativeCall:
    """A ``python`` call of one cell."""
    return NativeCall("python", source)


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
    if tool == "python":
        return python_call(arguments["code"])
    return NativeCall(tool, orjson.dumps({key: arguments[key] for key in wanted}).decode())


def _joined(calls: Sequence[NativeCall], name: str) -> NativeCall:
    """Several code blocks that ran as one cell."""
    if any(call.name != "python" for call in calls):
        raise BadRow("results_do_not_match", f"{name}: one result for several calls of which not all are code")
    return python_call("\n\n".join(call.given for call in calls))
