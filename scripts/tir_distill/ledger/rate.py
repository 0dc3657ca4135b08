"""One queue of time slots for all processes, and its slowing down when the provider says 429.

A slot is handed out by one transaction, so no two requests share one. Each process holds at most one slot that still
lies ahead (``Pacer``), which makes the queue go round between the shards, however many conversations each has, and
loses at most one slot when a process dies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from . import statements

BACK_OFF_HALF_LIFE_S = 30.0
"""Time in which a slow-down goes back half way to the configured rate."""
BACK_OFF_MAX = 16.0
BACK_OFF_EVERY_S = 1.0
"""Several requests under way get their 429 at once; that is one sign, not several."""


@dataclass(frozen=True, slots=True)
class Slot:
    """When to send, and whether it may be used late."""

    wait_s: float
    """From now; 0 when at once."""
    interval_s: float
    """Distance between slots at present."""


def tolerance_s(qps: float) -> float:
    """How late a slot may be used.

    At 8 a second, requests up to 0.1 s late keep any sliding second at 9 and any n seconds at 8n + 1 (RULINGS 25), with
    25 ms left for the way to the provider. At high rates a tenth of a second keeps the excess under 10 %.
    """
    return max(0.1 - 1.0 / qps, 0.8 / qps)


def slow_factor(factor: float, since: float, now: float) -> float:
    """What is left at ``now`` of a slow-down by ``factor`` at ``since``; 1 means none."""
    return 1.0 + (factor - 1.0) * math.pow(0.5, max(0.0, now - since) / BACK_OFF_HALF_LIFE_S)


def take_slot(connection: Connection, now: float, name: str, qps: float) -> Slot:
    """Reserve the next free slot of the provider's queue."""
    queue = _queue(connection, now, name)
    interval = slow_factor(queue.factor, queue.factor_at, now) / qps
    start = max(now, queue.next_at)
    _move(connection, name, replace(queue, next_at=start + interval), slots=1)
    return Slot(wait_s=start - now, interval_s=interval)


def back_off(connection: Connection, now: float, name: str, retry_after_s: float | None) -> None:
    """The provider said 429: halve the rate (once a second at most) and keep everyone off until its own time."""
    queue = _queue(connection, now, name)
    factor, since = queue.factor, queue.factor_at
    if factor == 1.0 or now - since >= BACK_OFF_EVERY_S:
        factor, since = min(BACK_OFF_MAX, 2.0 * slow_factor(factor, since, now)), now
    next_at = max(queue.next_at, now + (retry_after_s or 0.0))
    _move(connection, name, _Queue(next_at=next_at, factor=factor, factor_at=since), slots=0)


@dataclass(frozen=True, slots=True)
class _Queue:
    next_at: float
    factor: float
    factor_at: float


def _queue(connection: Connection, now: float, name: str) -> _Queue:
    row = statements.run(connection, statements.RATE, {"name": name}).fetchone()
    if row is None:
        return _Queue(next_at=now, factor=1.0, factor_at=now)
    return _Queue(*row)


def _move(connection: Connection, name: str, queue: _Queue, *, slots: int) -> None:
    values = {"next_at": queue.next_at, "factor": queue.factor, "factor_at": queue.factor_at}
    statements.run(connection, statements.MOVE_RATE, {"name": name, "slots": slots, **values})
