"""A teacher whose tokens are counted in the ledger, and held before each request when the run has a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..teacher import Reply, Transcript
from .ports import Books, Completer


class Meter:
    """Counts tokens of one process. Without a limit they reach the ledger in batches: no transaction per turn."""

    def __init__(self, books: Books, run: str, *, limited: bool) -> None:
        self.books = books
        self.run = run
        self.limited = limited
        self.total = 0
        self._unsettled = 0

    def hold(self, tokens: int) -> str | None:
        """Raises Stopped when the run's limit leaves no room for them."""
        return self.books.reserve_tokens(self.run, tokens) if self.limited else None

    def count(self, hold: str | None, tokens: int) -> None:
        self.total += tokens
        if self.limited:
            self.books.settle_tokens(self.run, hold, tokens)
        else:
            self._unsettled += tokens

    def settle(self) -> None:
        """Bring what was counted to the ledger."""
        tokens, self._unsettled = self._unsettled, 0
        if tokens:
            self.books.settle_tokens(self.run, None, tokens)


class Metered:
    """``ports.Completer`` around another one."""

    def __init__(self, teacher: Completer, meter: Meter) -> None:
        self._teacher = teacher
        self._meter = meter
        self._prompts: dict[str, int] = {}
        """Conversation -> tokens of its last request: the next one is longer by about one reply."""

    @property
    def model(self) -> str:
        return self._teacher.model

    async def complete(
        self,
        messages: Transcript,
        tools: Sequence[Mapping[str, Any]],
        *,
        seed: int,
        max_tokens: int | None = None,
        owner: str = "",
    ) -> Reply:
        if not self._meter.limited:
            reply = await self._teacher.complete(messages, tools, seed=seed, max_tokens=max_tokens, owner=owner)
            self._meter.count(None, reply.usage.prompt_tokens + reply.usage.completion_tokens)
            return reply
        expected = (max_tokens or 0) + max(self._prompts.pop(owner, 0) * 3 // 2, messages.text_tokens())
        hold = self._meter.hold(expected)
        spent = 0
        try:
            reply = await self._teacher.complete(messages, tools, seed=seed, max_tokens=max_tokens, owner=owner)
            spent = reply.usage.prompt_tokens + reply.usage.completion_tokens
            if reply.calls:
                self._prompts[owner] = spent
        finally:
            self._meter.count(hold, spent)
        return reply
