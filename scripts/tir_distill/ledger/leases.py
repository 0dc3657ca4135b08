"""Leases on cache entries: who is fetching what. A lease on a search is also the reservation of its cost."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select, update

from . import schema, statements
from .holder import is_dead

FREE = {"holder": None, "lease_until": None, "lease_run": None, "lease_question": None}
"""Column values of an entry that nobody is fetching."""


def live_in_run(connection: Connection, run: str, now: float) -> int:
    """Paid searches under way in a run."""
    return int(statements.run(connection, statements.LIVE_IN_RUN, {"run": run, "now": now}).fetchone()[0])


def release(connection: Connection, key: str, holder: str) -> bool:
    """Give a lease back unused. False when it had already passed to someone else."""
    return bool(statements.run(connection, statements.RELEASE, {"key": key, "holder": holder}).rowcount == 1)


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


def free_dead(connection: Connection) -> int:
    """Return what processes of this machine held when they died, without waiting for the leases to end."""
    table, holds = schema.answers.c, schema.token_holds
    names = set(connection.scalars(select(table.holder).where(table.holder.is_not(None)).distinct()))
    names |= set(connection.scalars(select(holds.c.holder).distinct()))
    dead = [name for name in names if name and is_dead(name)]
    if dead:
        connection.execute(update(schema.answers).where(table.holder.in_(dead)).values(**FREE))
        connection.execute(holds.delete().where(holds.c.holder.in_(dead)))
    return len(dead)
