"""Leases on cache entries: who is fetching what. A lease on a search is also the reservation of its cost."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, or_, select, update

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


def ended(connection: Connection, now: float, keys: Collection[str]) -> set[str]:
    """Of these entries, the ones that nobody is fetching any more."""
    table = schema.answers.c
    where = (table.key.in_(list(keys)), or_(table.holder.is_(None), table.lease_until <= now))
    return set(connection.scalars(select(table.key).where(*where)))


def dead_holders(connection: Connection) -> list[str]:
    """Processes of this machine that hold something and are gone."""
    table, holds = schema.answers.c, schema.token_holds
    names = set(connection.scalars(select(table.holder).where(table.holder.is_not(None)).distinct()))
    names |= set(connection.scalars(select(holds.c.holder).distinct()))
    return [name for name in names if name and is_dead(name)]


def free(connection: Connection, holders: Collection[str]) -> None:
    """Return what these processes held, without waiting for their leases to end."""
    holds = schema.token_holds
    connection.execute(update(schema.answers).where(schema.answers.c.holder.in_(list(holders))).values(**FREE))
    connection.execute(holds.delete().where(holds.c.holder.in_(list(holders))))
