"""What is already known of an unfinished conversation: replies and tool results that were paid for before a kill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..records import ToolResult, Usage
from ..teacher import AskedCall, Reply


@dataclass(slots=True)
class Memory:
    """Replies by (turn, ask), results by (turn, position). The loop asks here first."""

    replies: dict[tuple[int, int], Reply] = field(default_factory=dict)
    results: dict[tuple[int, int], ToolResult] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def forget_after(self, turn: int) -> None:
        """Drop everything later than a turn's reply and results."""
        self.replies = {key: value for key, value in self.replies.items() if key[0] <= turn}
        self.results = {key: value for key, value in self.results.items() if key[0] <= turn}

    def close_gaps(self, max_calls: int) -> None:
        """Forget what follows a turn of which something is missing: a damaged line of the journal.

        Later replies answered a history that can no longer be vouched for, and results of a turn without its last reply
        belong to calls that nobody knows any more.
        """
        turn = 0
        while self._is_whole(turn, max_calls):
            turn += 1
        self.forget_after(turn)

    def _is_whole(self, turn: int, max_calls: int) -> bool:
        """Whether another turn may follow this one; results that belong to none of its calls are dropped."""
        first, again = self.replies.get((turn, 0)), self.replies.get((turn, 1))
        if first is None:  # the second asking followed it
            self.replies.pop((turn, 1), None)
            again = None
        last = again or first
        asked = len(last.calls[:max_calls]) if last is not None else 0
        there = {position for at, position in self.results if at == turn}
        if any(position >= asked for position in there):
            self.results = {key: value for key, value in self.results.items() if key[0] != turn}
            return False
        return 0 < asked == len(there)


def reply_to_dict(reply: Reply) -> dict[str, Any]:
    """A reply for the journal."""
    return {
        "thinking": reply.thinking,
        "content": reply.content,
        "calls": [[call.name, call.arguments, call.recovered, call.malformed] for call in reply.calls],
        "finish_reason": reply.finish_reason,
        "usage": [reply.usage.prompt_tokens, reply.usage.completion_tokens],
        "latency_s": reply.latency_s,
        "truncated": reply.truncated,
        "model": reply.model,
    }


def reply_from_dict(row: Mapping[str, Any]) -> Reply:
    """The reply again."""
    prompt, completion = row["usage"]
    return Reply(
        thinking=row["thinking"],
        content=row["content"],
        calls=tuple(AskedCall(name, arguments, recovered, bad) for name, arguments, recovered, bad in row["calls"]),
        finish_reason=row["finish_reason"],
        usage=Usage(prompt_tokens=prompt, completion_tokens=completion),
        latency_s=row["latency_s"],
        truncated=row["truncated"],
        model=row["model"],
    )
