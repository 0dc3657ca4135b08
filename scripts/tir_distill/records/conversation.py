"""The conversation of a trajectory as chat messages: one function for the teacher's request and for the export.

Message content is a string, or a list of parts ``{"type": "text", "text": ...}`` and
``{"type": "image", "image": <path>}`` where a picture stands. Both callers turn parts into their own form
(data URLs for the request, ``<image>`` tags for a row), so a row says what was run (DESIGN section 4.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .trajectory import Trajectory, Turn

Message = dict[str, Any]


def assistant_content(thinking: str, content: str) -> str:
    """Thinking inside the content, in the form the official template writes (facts/swift.md section 3)."""
    return f"<think>\n{thinking}\n</think>\n\n{content}"


def with_pictures(text: str, pictures: Sequence[str], *, pictures_first: bool) -> str | list[Message]:
    """Text alone, or parts when there are pictures. After text, pictures start on a line of their own."""
    if not pictures:
        return text
    parts: list[Message] = [{"type": "image", "image": path} for path in pictures]
    if pictures_first:
        return [*parts, {"type": "text", "text": text}]
    if text and not text.endswith("\n"):
        text += "\n"
    return [{"type": "text", "text": text}, *parts] if text else parts


def opening(system: str, question: str, images: Sequence[str]) -> list[Message]:
    """System and user message. Pictures come before the question, with nothing between."""
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": with_pictures(question, images, pictures_first=True)},
    ]


def turn_messages(turn: Turn) -> list[Message]:
    """The assistant message of a turn, then one tool message per result."""
    reply: Message = {"role": "assistant", "content": assistant_content(turn.thinking, turn.content)}
    if turn.calls:
        reply["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    results: list[Message] = [
        {
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": with_pictures(result.text, [p.path for p in result.images], pictures_first=False),
        }
        for result in turn.results
    ]
    return [reply, *results]


def conversation(trajectory: Trajectory) -> list[Message]:
    """All messages of a trajectory, in order."""
    messages = opening(trajectory.system, trajectory.question.question, trajectory.question.images)
    for turn in trajectory.turns:
        messages.extend(turn_messages(turn))
    return messages
