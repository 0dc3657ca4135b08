"""One queue of time slots for all processes, and its slowing down when the provider says 429.

A slot is handed out by one transaction, so no two requests share one. Each process holds at most one slot that still
lies ahead (``Pacer``), which makes the queue go round between the shards, however many conversations each has, and
loses at most one slot when a process dies. A slot that its process comes too late for is lost, never used late.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from . import statements
from .outcomes import StopFlag
from .stops import flag_of

BACK_OFF_HALF_LIFE_S = 30.0
"""Time in which a slow-down goes back half way to the configured rate."""
BACK_OFF_MAX = 16.0
BACK_OFF_EVERY_S = 1.0
"""Several requests under way get their 429 at once; that is one sign, not several."""

HOLD_MAX_S = 120.0
"""Longest time for which one 429 keeps everyone off. A search that is told to wait longer fails, and failing searches
stop the run; nobody is to sleep for an hour instead."""
AHEAD_MAX_S = 600.0
"""No queue is longer than this. One that seems so was written before the clock was set back, and is begun anew; a
slow-down that seems to lie ahead begins now."""


@dataclass(frozen=True, slots=True)
class Slot:
    """When to send."""

    at: float
    """By the ledger's clock, in seconds since the epoch."""
    wait_s: float
    """From the moment it was taken; 0 when at once."""


def tolerance_s(qps: float) -> float:
    """How late a slot may be used.

    At 8 a second, requests less than one interval late keep any sliding second at 9 and any n seconds at 8n + 1
    (RULINGS 25): half an interval is for being late, and the other half is left for the way to the provider. At high
    rates a twentieth of a second keeps the excess at 5 %.
    """
    return max(0.05, 0.5 / qps)


def slow_factor(factor: float, since: float, now: float) -> float:
    """What is left at ``now`` of a slow-down by ``factor`` at ``since``; 1 means none."""
    return 1.0 + (factor - 1.0) * math.pow(0.5, max(0.0, now - since) / BACK_OFF_HALF_LIFE_S)


def take_slot(
    connection: Connection, now: float, run: str, name: str, qps: float, lead_s: float = 0.0
) -> Slot | StopFlag:
    """Reserve the next free slot of the provider's queue, at least ``lead_s`` ahead; or say why the run has stopped."""
    flag, queue = _queue(connection, now, run, name)
    if flag is not None and not flag.soft:
        return flag
    interval = slow_factor(queue.factor, queue.factor_at, now) / qps
    start = max(now + lead_s, queue.next_at)
    _move(connection, name, replace(queue, next_at=start + interval), slots=1)
    return Slot(at=start, wait_s=start - now)


def back_off(connection: Connection, now: float, run: str, name: str, retry_after_s: float | None) -> None:
    """The provider said 429: halve the rate (once a second at most) and keep everyone off until its own time."""
    _, queue = _queue(connection, now, run, name)
    factor, since = queue.factor, queue.factor_at
    if factor == 1.0 or now - since >= BACK_OFF_EVERY_S:
        factor, since = min(BACK_OFF_MAX, 2.0 * slow_factor(factor, since, now)), now
    next_at = max(queue.next_at, now + min(retry_after_s or 0.0, HOLD_MAX_S))
    _move(connection, name, _Queue(next_at=next_at, factor=factor, factor_at=since), slots=0)


@dataclass(frozen=True, slots=True)
class _Queue:
    next_at: float
    factor: float
    factor_at: float


def _queue(connection: Connection, now: float, run: str, name: str) -> tuple[StopFlag | None, _Queue]:
    row = statements.run(connection, statements.RATE, {"name": name, "run": run}).fetchone()
    flag = flag_of(*row[:3])
    if row[3] is None or row[3] > now + AHEAD_MAX_S:
        return flag, _Queue(next_at=now, factor=1.0, factor_at=now)
    next_at, factor, factor_at = row[3:]
    return flag, _Queue(next_at=next_at, factor=factor, factor_at=min(factor_at, now))


def _move(connection: Connection, name: str, queue: _Queue, *, slots: int) -> None:
    values = {"next_at": queue.next_at, "factor": queue.factor, "factor_at": queue.factor_at}
    statements.run(connection, statements.MOVE_RATE, {"name": name, "slots": slots, **values})
