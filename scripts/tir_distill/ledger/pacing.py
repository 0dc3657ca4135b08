"""Waiting for the time slots of the shared rate, one slot at a time per process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from .rate import Slot, tolerance_s

MAX_MISSES = 8
"""Slots given up in a row, before one is used late all the same: the account's own limit leaves room for that, and a
process on an overloaded machine must not wait for ever."""


class Pacer:
    """The turnstile in front of paid requests. ``take`` reserves a slot in the ledger; with it comes this
    process's monotonic time at that moment."""

    def __init__(self, take: Callable[[], Awaitable[tuple[Slot, float]]], qps: float) -> None:
        self._take = take
        self._gate = asyncio.Lock()
        self._tolerance = tolerance_s(qps)
        self.missed = 0
        """Slots that came too late to be used."""

    async def wait(self, check: Callable[[], None]) -> None:
        """Return at the moment when one request may go out. ``check`` may raise: before the wait and after it."""
        async with self._gate:
            for attempt in range(MAX_MISSES + 1):
                check()
                slot, taken = await self._take()
                due = taken + slot.wait_s
                delay = due - time.monotonic()
                if delay > 0:
                    await asyncio.sleep(delay)
                check()
                if time.monotonic() - due <= self._tolerance or attempt == MAX_MISSES:
                    return
                self.missed += 1
