"""One asker per answer within a process: the others sleep until it has come, and none of them polls."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from .outcomes import SearchFault


@dataclass(slots=True)
class Flight:
    """The turnstile of one key."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0
    fault: SearchFault | None = None
    fault_at: float = 0.0

    def failed(self, fault: SearchFault) -> None:
        """Those who were waiting for this very attempt fail with it, rather than each trying for themselves."""
        self.fault = fault
        self.fault_at = time.monotonic()


class Flights:
    """All turnstiles of one event loop."""

    def __init__(self) -> None:
        self._flights: dict[str, Flight] = {}

    @contextlib.asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[Flight]:
        """Wait for this key's turn. Raises the SearchFault of an attempt that ended while waiting."""
        flight = self._flights.setdefault(key, Flight())
        joined = time.monotonic()
        flight.waiting += 1
        try:
            async with flight.lock:
                if flight.fault is not None and flight.fault_at >= joined:
                    raise flight.fault
                yield flight
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                self._flights.pop(key, None)
