"""Leases on cache entries: who is fetching what. A lease on a search is also the reservation of its cost.

A lease counts until it is given back. One whose time has passed is not simply over: on a busy machine its owner may be
late with its sign of life while its request is under way, and then a second asker would pay twice and a budget would be
passed by one. What nobody can come back for (``abandoned``) is given back (``free``) by everyone who waits.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, and_, or_, select, update

from . import schema, statements
from .holder import is_dead, is_here

FREE = {"holder": None, "lease_until": None, "lease_run": None, "lease_question": None}
"""Column values of an entry that nobody is fetching."""
PATIENCE_S = 900.0
"""How long after its time a lease still counts whose process lives on this machine: longer than any request may take.
Such a process is suspended, or could not reach the database when it wanted to give the lease back."""


class Lease(NamedTuple):
    """Who is fetching an answer."""

    key: str
    holder: str
    until: float


@dataclass(frozen=True, slots=True)
class Me:
    """The process that judges, and the leases that it knows to be its own."""

    holder: str
    open: frozenset[str]


def live_in_run(connection: Connection, run: str) -> int:
    """Paid searches under way in a run."""
    return int(statements.run(connection, statements.LIVE_IN_RUN, {"run": run}).fetchone()[0])


def release(connection: Connection, key: str, holder: str) -> bool:
    """Give a lease back unused. False when it had already passed to someone else."""
    return bool(statements.run(connection, statements.RELEASE, {"key": key, "holder": holder}).rowcount == 1)


def give_up(connection: Connection, holder: str) -> None:
    """This process ends: whatever it still holds returns."""
    holds = schema.token_holds
    connection.execute(update(schema.answers).where(schema.answers.c.holder == holder).values(**FREE))
    connection.execute(holds.delete().where(holds.c.holder == holder))


def renew(connection: Connection, now: float, keys: Collection[str], holder: str, lease_s: float) -> int:
    """A sign of life for leases and token holds; returns how many leases are still ours."""
    holds = schema.token_holds
    connection.execute(update(holds).where(holds.c.holder == holder).values(until=now + lease_s))
    if not keys:
        return 0
    table = schema.answers.c
    done = connection.execute(
        update(schema.answers)
        .where(table.key.in_(list(keys)), table.holder == holder)
        .values(lease_until=now + lease_s)
    )
    return done.rowcount


def ended(connection: Connection, keys: Collection[str]) -> set[str]:
    """Of these entries, the ones that nobody is fetching any more."""
    table = schema.answers.c
    return set(connection.scalars(select(table.key).where(table.key.in_(list(keys)), table.holder.is_(None))))


def is_abandoned(holder: str, until: float, now: float, *, ours: bool | None) -> bool:
    """Whether nobody can come back for what ``holder`` holds. ``ours``: held by the process that asks, and wanted
    (True) or forgotten (False); None for another process.
    """
    if ours is not None:
        return not ours and until <= now
    if is_dead(holder):
        return True
    return until + (PATIENCE_S if is_here(holder) else 0.0) <= now


def abandoned(connection: Connection, now: float, me: Me) -> tuple[list[Lease], list[str]]:
    """Leases and token holds (id) that nobody can come back for, if the clock is right."""
    table, holds = schema.answers.c, schema.token_holds.c
    held = connection.execute(select(table.key, table.holder, table.lease_until).where(table.holder.is_not(None)))
    leases = [
        Lease(key, holder, until)
        for key, holder, until in held
        if is_abandoned(holder, until, now, ours=key in me.open if holder == me.holder else None)
    ]
    tokens = [
        name
        for name, holder, until in connection.execute(select(holds.id, holds.holder, holds.until))
        if holder != me.holder and is_abandoned(holder, until, now, ours=None)
    ]
    return leases, tokens


def free(connection: Connection, leases: Collection[Lease], tokens: Collection[str]) -> None:
    """Give back what ``abandoned`` found, except where its owner has meanwhile shown a sign of life."""
    table, holds = schema.answers.c, schema.token_holds
    if leases:
        these = or_(*(and_(table.key == k, table.holder == h, table.lease_until == until) for k, h, until in leases))
        connection.execute(update(schema.answers).where(these).values(**FREE))
    if tokens:
        connection.execute(holds.delete().where(holds.c.id.in_(list(tokens))))
