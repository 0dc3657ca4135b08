"""A host-wide count of workers: each holds a lock on one of N files, which the kernel frees when its process dies."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Slots:
    """At most ``count`` holders among all processes that use the same folder and name.

    First come, first served inside a process; between processes the first waiter of each tries in turn, so that none
    is starved by another's long queue.
    """

    folder: Path
    name: str
    count: int
    _queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self) -> int:
        """Wait for a slot; returns a descriptor to give back."""
        async with self._queue:
            pause = 0.005
            while (slot := self._try()) is None:
                self._freed.clear()
                try:
                    async with asyncio.timeout(pause):
                        await self._freed.wait()
                except TimeoutError:
                    pause = min(2 * pause, 0.1)
            return slot

    def give_back(self, slot: int) -> None:
        """Free a slot of ``take``."""
        os.close(slot)
        self._freed.set()

    def _try(self) -> int | None:
        start = random.randrange(self.count)
        for offset in range(self.count):
            path = self.folder / f"{self.name}-{(start + offset) % self.count}"
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            return descriptor
        return None
