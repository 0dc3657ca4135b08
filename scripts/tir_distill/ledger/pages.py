"""Fetched pages, kept like answers but without a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import Connection, insert, select, update

from . import leases, schema
from .reservations import Step
from .settings import LedgerSettings


def begin_page(
    connection: Connection,
    now: float,
    settings: LedgerSettings,
    holder: str,
    key: str,
    url: str,
    max_age_s: float | None,
) -> Step:
    """A kept page, or ``wait`` while someone fetches it, or ``fetch`` with the lease taken."""
    table = schema.answers.c
    entry = connection.execute(
        select(table.state, table.payload, table.fetched_at, table.holder, table.lease_until).where(table.key == key)
    ).first()
    lease = {"holder": holder, "lease_until": now + settings.lease_s, "lease_run": None, "lease_question": None}
    if entry is None:
        connection.execute(
            insert(schema.answers).values(
                key=key, kind="page", state="none", query=url, backend="page", params="{}", **lease
            )
        )
        return Step("fetch")
    if entry.state == "good" and (max_age_s is None or now - entry.fetched_at <= max_age_s):
        return Step("answer", packed=entry.payload, cached=True)
    if entry.holder is not None and entry.lease_until > now:
        return Step("wait")
    connection.execute(update(schema.answers).where(table.key == key).values(**lease))
    return Step("fetch")


def settle_page(connection: Connection, now: float, holder: str, key: str, packed: bytes | None, run: str) -> None:
    """End the lease and, when there is something worth keeping, keep it."""
    if packed is not None:
        connection.execute(
            update(schema.answers)
            .where(schema.answers.c.key == key)
            .values(state="good", payload=packed, fetched_at=now, run=run)
        )
    leases.release(connection, key, holder)


def worth_keeping(payload: Mapping[str, Any], settings: LedgerSettings) -> bool:
    """Pages beyond the size limit are handed over, not kept."""
    return len(orjson.dumps(payload)) <= settings.max_page_bytes
