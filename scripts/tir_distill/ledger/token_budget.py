"""Tokens and money of a run: held before a request, counted after it, given back when its owner dies."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import Connection

from . import leases, statements
from .run_counts import add_to_run, run_counts
from .settings import LedgerSettings

SLACK_USD = 1e-9
"""Sums of floating-point prices may differ from the limit by this much."""


def token_price(settings: LedgerSettings, tokens: int) -> float:
    """US dollars."""
    return tokens * settings.usd_per_million_tokens / 1e6


def held(connection: Connection, run: str) -> tuple[int, float]:
    """Tokens and dollars spoken for by requests under way."""
    row = statements.run(connection, statements.HELD, {"run": run}).fetchone()
    return int(row[0]), float(row[1])


def over_limit(settings: LedgerSettings, tokens: int, usd: float) -> str | None:
    """The stop reason for these totals, or None while they are within the limits."""
    if settings.max_tokens_total is not None and tokens > settings.max_tokens_total:
        return "budget_tokens"
    if settings.max_usd_total is not None and usd > settings.max_usd_total + SLACK_USD:
        return "budget_usd"
    return None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing was held."""

    reason: str
    """The stop reason."""
    final: bool
    """True: what has been used leaves no room. False: only requests under way are between."""


def hold(
    connection: Connection, now: float, settings: LedgerSettings, run: str, holder: str, tokens: int, usd: float
) -> str | Refusal:
    """Reserve; returns the hold's id."""
    spent = run_counts(connection, run)
    used = over_limit(settings, spent.tokens + tokens, spent.usd + usd)
    if used is not None:
        return Refusal(used, final=True)
    held_tokens, held_usd = held(connection, run)
    held_usd += leases.live_in_run(connection, run) * settings.usd_held_per_search
    reason = over_limit(settings, spent.tokens + held_tokens + tokens, spent.usd + held_usd + usd)
    if reason is not None:
        return Refusal(reason, final=False)
    name = secrets.token_hex(16)
    values = {"id": name, "run": run, "holder": holder, "until": now + settings.lease_s, "tokens": tokens, "usd": usd}
    statements.run(connection, statements.HOLD, values)
    return name


def reached(settings: LedgerSettings, tokens: int, usd: float) -> str | None:
    """The stop reason once nothing is left, else None."""
    if settings.max_tokens_total is not None and tokens >= settings.max_tokens_total:
        return "budget_tokens"
    if settings.max_usd_total is not None and usd >= settings.max_usd_total - SLACK_USD:
        return "budget_usd"
    return None


def settle(
    connection: Connection,
    settings: LedgerSettings,
    run: str,
    name: str | None,
    tokens: int,
    usd: float,
    *,
    again: bool = False,
) -> str | None:
    """Count what was really used, and free the hold. Returns the stop reason when a limit is now reached.

    ``again``: an earlier try failed, perhaps only after it had been written; a hold that is gone says so.
    """
    held = name is not None and statements.run(connection, statements.DROP_HOLD, {"id": name}).rowcount == 1
    if held or name is None or not again:
        add_to_run(connection, run, tokens=tokens, usd=usd)
    spent = run_counts(connection, run)
    return reached(settings, spent.tokens, spent.usd)
