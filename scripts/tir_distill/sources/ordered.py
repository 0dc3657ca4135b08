"""Work on a stream with a few threads, results in the stream's order, a bounded number of items in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """``map(work, items)`` on ``workers`` threads. Decoders release the interpreter lock, so threads are enough."""
    if workers <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(max_workers=workers) as pool:
        pending: deque[Future[Result]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) >= 4 * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
