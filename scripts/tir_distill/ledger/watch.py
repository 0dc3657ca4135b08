"""Waiting for what other processes are doing: one small read for all waiters of a process, and no write lock."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Watch:
    """Sleepers by name. A name is an answer's key, or a budget that is spoken for."""

    look: Callable[[Collection[str]], Awaitable[Collection[str]]]
    """Given answer keys, those whose lease has ended."""
    every_s: float
    _sleepers: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    _counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _task: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def sleeper(self, name: str) -> Iterator[Sleeper]:
        """Be woken for ``name`` from now on: an end that comes between asking and sleeping is not missed."""
        event = self._sleepers[name]
        self._counts[name] += 1
        try:
            yield Sleeper(self, event)
        finally:
            self._counts[name] -= 1
            if self._counts[name] == 0:
                del self._counts[name], self._sleepers[name]

    def wake(self, name: str) -> None:
        """Something ended in this process."""
        if name in self._counts:
            self._sleepers[name].set()

    async def _run(self) -> None:
        while self._counts:
            await asyncio.sleep(self.every_s)
            for name in await self.look(list(self._counts)):
                self.wake(name)

    async def tend(self) -> None:
        """Keep the looking task going; raise what it died of, rather than sleep on without it."""
        if self._task is not None and self._task.done():
            task, self._task = self._task, None
            await task
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())


@dataclass(slots=True)
class Sleeper:
    """One who waits for a name."""

    _watch: Watch
    _event: asyncio.Event

    def listen(self) -> None:
        """Forget earlier ends; call before asking."""
        self._event.clear()

    async def sleep(self, at_most_s: float) -> None:
        """Until the name is woken, or for this time."""
        await self._watch.tend()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), at_most_s)
