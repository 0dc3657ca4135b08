"""One queue of time slots for all processes, and its slowing down when the provider says 429.

A slot is handed out by one transaction, so no two requests share one. Each process holds at most one slot that still
lies ahead (``Pacer``), which makes the queue go round between the shards, however many conversations each has, and
loses at most one slot when a process dies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from . import schema

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
    table = schema.rates.c
    row = connection.execute(select(table.next_at, table.factor, table.factor_at).where(table.name == name)).first()
    if row is None:
        connection.execute(
            insert(schema.rates).values(name=name, next_at=now + 1.0 / qps, factor=1.0, factor_at=now, slots=1)
        )
        return Slot(wait_s=0.0, interval_s=1.0 / qps)
    interval = slow_factor(row[1], row[2], now) / qps
    start = max(now, row[0])
    connection.execute(
        update(schema.rates).where(table.name == name).values(next_at=start + interval, slots=table.slots + 1)
    )
    return Slot(wait_s=start - now, interval_s=interval)


def back_off(connection: Connection, now: float, name: str, qps: float, retry_after_s: float | None) -> None:
    """The provider said 429: halve the rate (once a second at most) and keep everyone off until its own time."""
    table = schema.rates.c
    row = connection.execute(select(table.next_at, table.factor, table.factor_at).where(table.name == name)).first()
    if row is None:
        take_slot(connection, now, name, qps)
        row = connection.execute(select(table.next_at, table.factor, table.factor_at).where(table.name == name)).one()
    next_at, factor, since = row
    present = slow_factor(factor, since, now)
    if factor == 1.0 or now - since >= BACK_OFF_EVERY_S:
        present = min(BACK_OFF_MAX, present * 2.0)
        since = now
    else:
        present = factor
    connection.execute(
        update(schema.rates)
        .where(table.name == name)
        .values(next_at=max(next_at, now + (retry_after_s or 0.0)), factor=present, factor_at=since)
    )
