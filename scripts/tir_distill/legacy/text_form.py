"""Native turns written back in the text protocol: proves that the conversion loses nothing, and feeds old harnesses."""

from __future__ import annotations

import orjson

from .shapes import LegacyMessage
from .turns import NativeCall, NativeConversation, NativeTurn


def to_text(conversation: NativeConversation) -> list[LegacyMessage]:
    """One user message, then an assistant message per turn and a user message with the results that follow it."""
    messages = [LegacyMessage("user", conversation.user)]
    for turn in conversation.turns:
        messages.append(LegacyMessage("assistant", _said(turn)))
        if turn.results:
            results = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in turn.results)
            messages.append(LegacyMessage("user", results))
    return messages


def _said(turn: NativeTurn) -> str:
    parts = [f"<think>{turn.thinking}</think>"] if turn.thinking else []
    return "\n".join([*parts, *([turn.text] if turn.text else []), *map(_call, turn.calls)])


def _call(call: NativeCall) -> str:
    arguments = orjson.loads(call.arguments)
    if call.name == "python":
        return f"<code>\n```python\n{arguments['code']}\n```\n</code>"
    return f"<tool_call>{orjson.dumps({'action': call.name, **arguments}).decode()}</tool_call>"
