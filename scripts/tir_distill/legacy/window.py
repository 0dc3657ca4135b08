"""Work on a bounded number of items at once, with the results in the order of the items."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


async def in_order(items: Iterable[T], work: Callable[[T], Awaitable[U]], at_once: int) -> AsyncIterator[U]:
    """``work`` of each item, at most ``at_once`` of them under way. When one raises, the others are cancelled."""
    waiting: deque[asyncio.Task[U]] = deque()
    try:
        for item in items:
            if len(waiting) >= at_once:
                yield await waiting.popleft()
            waiting.append(asyncio.ensure_future(work(item)))
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
