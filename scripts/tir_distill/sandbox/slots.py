"""A host-wide count of workers: each holds a lock on one of N files, which the kernel frees when its process dies."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
from dataclasses import dataclass, field
from pathlib import Path

_KEPT = 8


@dataclass(slots=True)
class Slots:
    """At most ``count`` holders among all processes that use the same folder and name.

    First come, first served inside a process. Between processes one more lock is the queue's head: who waits for a slot
    holds it, so that a busy process does not take its own slots back before another one has had its turn.
    """

    folder: Path
    name: str
    count: int
    _queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)
    _head: int | None = None
    _idle: list[int] = field(default_factory=list)
    """Descriptors of files that were locked before: kept open, since opening costs more than locking."""

    async def take(self) -> int:
        """Wait for a slot; returns a descriptor to give back."""
        async with self._queue:
            if self._head is None or not _linked(self._head):
                if self._head is not None:
                    os.close(self._head)
                self._head = self._open("head")
            pause = 0.002
            while not _lock(self._head):
                await asyncio.sleep(pause)
                pause = min(2 * pause, 0.02)
            try:
                pause = 0.005
                while (slot := self._try()) is None:
                    self._freed.clear()
                    try:
                        async with asyncio.timeout(pause):
                            await self._freed.wait()
                    except TimeoutError:
                        pause = min(2 * pause, 0.1)
            finally:
                fcntl.flock(self._head, fcntl.LOCK_UN)
            return slot

    def give_back(self, slot: int) -> None:
        """Free a slot of ``take``."""
        if len(self._idle) < _KEPT:
            fcntl.flock(slot, fcntl.LOCK_UN)
            self._idle.append(slot)
        else:
            os.close(slot)
        self._freed.set()

    def close(self) -> None:
        """Close what is kept open."""
        for descriptor in self._idle:
            os.close(descriptor)
        self._idle.clear()
        if self._head is not None:
            os.close(self._head)
            self._head = None

    def _try(self) -> int | None:
        for position in range(len(self._idle) - 1, -1, -1):
            if not _linked(self._idle[position]):
                os.close(self._idle.pop(position))  # somebody cleaned the folder: others lock other files by now
            elif _lock(self._idle[position]):
                return self._idle.pop(position)
        start = random.randrange(self.count)
        for offset in range(self.count):
            descriptor = self._open(str((start + offset) % self.count))
            if _lock(descriptor):
                return descriptor
            os.close(descriptor)
        return None

    def _open(self, what: str) -> int:
        path = f"{self.folder}/{self.name}-{what}"
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _linked(descriptor: int) -> bool:
    return os.fstat(descriptor).st_nlink > 0
