"""A teacher whose tokens are counted in the ledger, and held before each request when the run has a limit.

What is held must be no less than what the request will cost, or the limit is none: digits and rare scripts take a token
for each byte or so, three times what prose takes.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

from ..ledger import LedgerLost, TokensHeld
from ..records import dumps
from ..teacher import Reply, Transcript
from .ports import Books, Completer

OTHERS_S = 1.0
"""How often it is looked whether requests of other processes have ended."""
log = logging.getLogger(__name__)

PICTURE = b'{"url":"data:'
"""Where a picture begins in a request. In text, quotes are escaped: nothing that a model or page says looks like it."""
PICTURE_HEAD = 1 << 16
"""Base64 characters in which a picture's size is looked for."""
PICTURE_TOKENS = (2000, 1 << 14)
"""Least and most for one picture: the served models scale larger ones down to 16,384 patches of 28 x 28 pixels."""
PIXELS_PER_TOKEN = 750
TEMPLATE_TOKENS = 500
"""What a chat template adds of its own, tool instructions above all; each message's frame is shorter than its JSON."""
MOST_BELIEVED = 10**12
"""A server that reports more tokens than this for one request is wrong, and no database could add it up."""


class Meter:
    """Counts tokens of one process. Without a limit they reach the ledger in batches: no transaction per turn."""

    def __init__(self, books: Books, run: str, *, limited: bool) -> None:
        self.books = books
        self.run = run
        self.limited = limited
        self.total = 0
        self._unsettled = 0
        """Without a limit: tokens of all requests since the last entry."""
        self._owed: list[tuple[str | None, int]] = []
        """With a limit: holds that are over, and what they came to."""
        self._gate = asyncio.Lock()
        """One asks again and again; the others wait behind it."""
        self._ended = asyncio.Event()

    async def hold(self, tokens: int) -> str | None:
        """Raises Stopped when what the run has used leaves no room for them.

        Where only requests under way are between, it waits for their end: most use less than is held for them.
        """
        if not self.limited:
            return None
        self.settle()
        try:
            return self.books.reserve_tokens(self.run, tokens)
        except TokensHeld:
            pass
        async with self._gate:
            while True:
                self._ended.clear()
                self.settle()
                try:
                    return self.books.reserve_tokens(self.run, tokens)
                except TokensHeld:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._ended.wait(), OTHERS_S)

    def count(self, hold: str | None, tokens: int) -> None:
        """A reply that has been paid for is handed on though the ledger is away: the next request finds out."""
        self.total += tokens
        if not self.limited:
            self._unsettled += tokens
            return
        self._owed.append((hold, tokens))
        try:
            self.settle()
        except LedgerLost as lost:
            log.warning("tokens of %d requests are not written down yet: %s", len(self._owed), lost.detail)
        self._ended.set()

    def settle(self) -> None:
        """Bring what was counted to the ledger."""
        if self._unsettled:
            self.books.settle_tokens(self.run, None, self._unsettled)
            self._unsettled = 0
        while self._owed:
            self.books.settle_tokens(self.run, *self._owed[0])
            self._owed.pop(0)


class Metered:
    """``ports.Completer`` around another one."""

    def __init__(self, teacher: Completer, meter: Meter) -> None:
        self._teacher = teacher
        self._meter = meter
        self._known: dict[str, _Known] = {}

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
            self._meter.count(None, _spent(reply, lambda: most_tokens(messages.joined(dumps(tools))), max_tokens))
            return reply
        most = most_tokens(messages.joined(dumps(tools)))
        prompt = self._most_now(owner, most)
        hold = await self._meter.hold(prompt + (max_tokens or 0))
        spent = 0
        try:
            reply = await self._teacher.complete(messages, tools, seed=seed, max_tokens=max_tokens, owner=owner)
            spent = _spent(reply, lambda: prompt, max_tokens)
            if reply.calls and reply.usage.prompt_tokens:
                self._known[owner] = _Known(most, reply.usage.prompt_tokens)
        finally:
            self._meter.count(hold, spent)
        return reply

    def _most_now(self, owner: str, most: int) -> int:
        """What a conversation's last request had is known; only what came since can be up to a token a byte."""
        last = self._known.pop(owner, None)
        if last is None or most < last.most:
            return most
        return min(most, last.tokens + most - last.most)


class _Known(NamedTuple):
    """A conversation's last request."""

    most: int
    """Tokens that it could have had."""
    tokens: int
    """Tokens that it had."""


def _spent(reply: Reply, prompt: Callable[[], int], max_tokens: int | None) -> int:
    """Tokens of one request. Where the server does not say, the most that they can have been: a limit that leaves
    them out is none."""
    asked, answered = reply.usage.prompt_tokens, reply.usage.completion_tokens
    if not answered:
        texts = [reply.thinking, reply.content, *(f"{call.name}{call.arguments}" for call in reply.calls)]
        answered = sum(len(text.encode("utf-8", "replace")) for text in texts)
        answered = min(answered, max_tokens) if max_tokens else answered
    return min(asked or prompt(), MOST_BELIEVED) + min(answered, MOST_BELIEVED)


def most_tokens(request: bytes) -> int:
    """The most tokens that messages and tools can have: one for each byte of text, and pictures by their size."""
    tokens, start = TEMPLATE_TOKENS, 0
    while (found := request.find(PICTURE, start)) >= 0:
        begin = request.find(b",", found) + 1
        end = request.find(b'"', begin)
        tokens += begin - start + picture_tokens(request[begin : min(end, begin + PICTURE_HEAD)])
        start = end
    return tokens + len(request) - start


def picture_tokens(encoded: bytes) -> int:
    """The most for one picture, given the beginning of its base64 form."""
    from PIL import Image

    least, most = PICTURE_TOKENS
    try:
        with Image.open(BytesIO(base64.b64decode(encoded))) as image:
            pixels = (image.width + 28) * (image.height + 28)
    except (OSError, ValueError, SyntaxError, binascii.Error, Image.DecompressionBombError):
        return most
    return min(most, max(least, pixels // PIXELS_PER_TOKEN))
