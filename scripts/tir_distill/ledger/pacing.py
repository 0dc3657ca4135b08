"""Waiting for the time slots of the shared rate, one slot at a time per process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from .clock import ClockView
from .outcomes import SearchFault
from .rate import Slot, tolerance_s
from .store import Moment

MAX_MISSES = 30
"""Slots that come too late in a row before the search is given up as a fault of ours: this machine cannot keep up."""
LEAD_MAX_S = 2.0


class Pacer:
    """The turnstile in front of paid requests. ``take`` reserves a slot at least so many seconds ahead.

    A slot that has passed when its turn comes is given up and a new one taken, so a process that was held up sends no
    burst afterwards. It then asks for slots that lie further ahead, as far as it has lately been late.
    """

    def __init__(self, take: Callable[[float], Awaitable[tuple[Slot, Moment]]], qps: float) -> None:
        self._take = take
        self._gate = asyncio.Lock()
        self._tolerance = tolerance_s(qps)
        self._clock = ClockView()
        self._lead_s = 0.0
        self.missed = 0
        """Slots that came too late to be used."""

    async def wait(self, check: Callable[[], None]) -> None:
        """Return at the moment when one request may be written. ``check`` is made last of all, and may raise.

        Raises SearchFault ``overloaded`` when no slot can be kept.
        """
        async with self._gate:
            for _ in range(MAX_MISSES):
                slot, moment = await self._take(self._lead_s)
                self._clock.observe(moment)
                delay = self._clock.surely(slot.at) - time.monotonic()
                if delay > 0:
                    await asyncio.sleep(delay)
                check()
                late = time.monotonic() - self._clock.perhaps(slot.at)
                if late <= self._tolerance:
                    self._lead_s *= 0.9
                    return
                self.missed += 1
                self._lead_s = min(LEAD_MAX_S, max(2.0 * self._lead_s, late))
            raise SearchFault("overloaded", f"{MAX_MISSES} time slots in a row came too late; this machine is too busy")
