"""Fetched pages, kept like answers but without a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import Connection

from . import leases, statements
from .keys import storable
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
    entry = statements.run(connection, statements.ENTRY, {"key": key}).fetchone()
    if entry is not None:
        state, payload, fetched_at, leased_by = entry
        if state == "good" and (max_age_s is None or now - fetched_at <= max_age_s):
            return Step("answer", packed=payload, cached=True)
        if leased_by is not None:
            return Step("wait")
    lease = {"holder": holder, "until": now + settings.lease_s, "run": None, "question": None}
    identity = {"key": key, "kind": "page", "query": storable(url), "backend": "page", "params": "{}"}
    statements.run(connection, statements.TAKE_LEASE, {**identity, **lease})
    return Step("fetch")


def settle_page(connection: Connection, now: float, holder: str, key: str, packed: bytes | None, run: str) -> None:
    """End the lease and, when there is something worth keeping, keep it."""
    if packed is not None:
        statements.run(
            connection, statements.KEEP, {"key": key, "state": "good", "payload": packed, "now": now, "run": run}
        )
    leases.release(connection, key, holder)


def worth_keeping(payload: Mapping[str, Any], settings: LedgerSettings) -> bool:
    """Pages beyond the size limit are handed over, not kept."""
    return len(orjson.dumps(payload)) <= settings.max_page_bytes
