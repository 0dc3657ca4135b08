"""The stop flag of a run, seen by all its processes."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, update

from . import schema, statements
from .keys import storable
from .outcomes import StopFlag


def raise_flag(connection: Connection, now: float, run: str, reason: str, detail: str) -> StopFlag:
    """Set the flag. The first reason stands, but a hard stop replaces a soft one."""
    present = read_flag(connection, run)
    detail = storable(detail)
    new = StopFlag(reason=reason, detail=detail, at=now)
    if present is None:
        values = {"reason": reason, "detail": detail, "at": now}
        connection.execute(insert(schema.stops).values(run=run, **values))
        return new
    if present.soft and not new.soft:
        connection.execute(
            update(schema.stops).where(schema.stops.c.run == run).values(reason=reason, detail=detail, at=now)
        )
        return new
    return present


def read_flag(connection: Connection, run: str) -> StopFlag | None:
    """The flag, or None while the run goes on."""
    row = statements.run(connection, statements.FLAG, {"run": run}).fetchone()
    return flag_of(*row) if row else None


def flag_of(reason: str | None, detail: str | None, at: float | None) -> StopFlag | None:
    """From columns of an outer join, which are empty while the run goes on."""
    return None if reason is None else StopFlag(reason=reason, detail=detail or "", at=at or 0.0)


def clear_flag(connection: Connection, run: str) -> None:
    """Let the run go on."""
    connection.execute(delete(schema.stops).where(schema.stops.c.run == run))
