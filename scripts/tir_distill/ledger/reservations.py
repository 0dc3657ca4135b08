"""One search, from the question "may I, must I?" to its count: each step one transaction.

``begin`` answers in this order: the run is stopped; the trajectory's cap; a cached answer; someone else is fetching it;
the question's cap; the run's cap; and only then reserves: the caller must fetch, and ``settle`` or release.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from sqlalchemy import Connection, insert, select, update

from . import leases, schema, stops, token_budget
from .call_counts import CallMark, calls_before, turn_of
from .keys import search_key
from .outcomes import CapScope, Fetched, StopFlag
from .owner import Caps, Owner
from .run_counts import add_to_question, add_to_run, question_billed, run_counts
from .settings import LedgerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A search call as the ledger sees it."""

    owner: Owner
    call_id: str
    attempt: str
    query: str
    backend: str
    params: Mapping[str, Any]
    caps: Caps
    paid: bool
    key: str

    @classmethod
    def of(
        cls,
        owner: Owner,
        call_id: str,
        attempt: str,
        query: str,
        backend: str,
        params: Mapping[str, Any],
        caps: Caps,
        paid: bool,
    ) -> Request:
        return cls(
            owner=owner,
            call_id=call_id,
            attempt=attempt,
            query=query,
            backend=backend,
            params=params,
            caps=caps,
            paid=paid,
            key=search_key(query, backend, params),
        )


@dataclass(frozen=True, slots=True)
class Step:
    """What the caller has to do next."""

    kind: Literal["stopped", "cap", "answer", "wait", "fetch"]
    """``wait``: someone is fetching this very answer, or the last of a budget is spoken for by searches under way."""
    scope: CapScope | None = None
    packed: bytes = b""
    billed: int = 0
    flag: StopFlag | None = None
    cached: bool = False


def pack(payload: Mapping[str, Any]) -> bytes:
    """JSON, deflated: search answers shrink to a third."""
    return zlib.compress(orjson.dumps(payload), 1)


def unpack(data: bytes) -> dict[str, Any]:
    """The payload as it was packed."""
    value: dict[str, Any] = orjson.loads(zlib.decompress(data))
    return value


def begin(connection: Connection, now: float, settings: LedgerSettings, holder: str, request: Request) -> Step:
    """Decide on one search call and, for ``fetch``, reserve its cost and take the lease."""
    owner, caps = request.owner, request.caps
    flag = stops.read_flag(connection, owner.run)
    if flag is not None and not flag.soft:
        return Step("stopped", flag=flag)
    known = _marks(connection, owner)
    mine = known.get(request.call_id)
    others = [mark for mark, _, _ in known.values()]
    if calls_before(others, request.call_id, request.attempt) >= caps.per_trajectory:
        return Step("cap", scope="trajectory")

    table = schema.answers.c
    entry = connection.execute(
        select(table.state, table.payload, table.fetched_at, table.holder, table.lease_until).where(
            table.key == request.key
        )
    ).first()
    if entry is not None and entry.state == "good" and _fresh(entry.fetched_at, now, settings.cache_max_age_s):
        return _from_cache(connection, now, request, mine, entry.payload)
    if entry is not None and entry.holder is not None and entry.lease_until > now:
        return Step("wait")

    if request.paid:
        refusal = _refusal(connection, now, settings, request)
        if refusal is not None:
            return refusal
    _take_lease(connection, now, settings, holder, request, present=entry is not None)
    _mark(connection, now, request, mine is not None, "open")
    return Step("fetch")


def settle(
    connection: Connection,
    now: float,
    settings: LedgerSettings,
    holder: str,
    request: Request,
    fetched: Fetched,
    packed: bytes,
) -> None:
    """Count a search that was answered, keep its answer, end its lease.

    Counts even if the lease has meanwhile passed on (the process was suspended): it has been paid for.
    """
    table = schema.answers.c
    state, fetched_at = connection.execute(select(table.state, table.fetched_at).where(table.key == request.key)).one()
    overtaken = state == "good" and _fresh(fetched_at, now, settings.cache_max_age_s)
    if not (fetched.doubtful and overtaken):
        believed = not fetched.doubtful or state == "doubtful"
        values = {"state": "good" if believed else "doubtful", "payload": packed, "fetched_at": now}
        connection.execute(
            update(schema.answers).where(table.key == request.key).values(run=request.owner.run, **values)
        )
    leases.release(connection, request.key, holder)
    if request.paid:
        add_to_question(connection, request.owner.run, request.owner.question_id, 1)
        add_to_run(connection, request.owner.run, billed=1, usd=fetched.credits * settings.usd_per_search)
    _mark(connection, now, request, True, "paid" if request.paid else "free")


def _marks(connection: Connection, owner: Owner) -> dict[str, tuple[CallMark, str, str]]:
    table = schema.calls.c
    rows = connection.execute(
        select(table.call_id, table.turn, table.attempt, table.at, table.key, table.outcome).where(
            table.run == owner.run, table.question_id == owner.question_id, table.sample == owner.sample
        )
    )
    return {row[0]: (CallMark(row[0], row[1], row[2], row[3]), row[4], row[5]) for row in rows}


def _mark(connection: Connection, now: float, request: Request, present: bool, outcome: str) -> None:
    table, owner = schema.calls.c, request.owner
    values = {"attempt": request.attempt, "at": now, "key": request.key, "outcome": outcome}
    if present:
        connection.execute(
            update(schema.calls)
            .where(
                table.run == owner.run,
                table.question_id == owner.question_id,
                table.sample == owner.sample,
                table.call_id == request.call_id,
            )
            .values(**values)
        )
        return
    connection.execute(
        insert(schema.calls).values(
            run=owner.run,
            question_id=owner.question_id,
            sample=owner.sample,
            call_id=request.call_id,
            turn=turn_of(request.call_id),
            **values,
        )
    )


def _fresh(fetched_at: float, now: float, max_age_s: float | None) -> bool:
    return max_age_s is None or now - fetched_at <= max_age_s


def _from_cache(
    connection: Connection, now: float, request: Request, mine: tuple[CallMark, str, str] | None, packed: bytes
) -> Step:
    repeated = mine is not None and mine[1] == request.key and mine[2] != "open"
    outcome = mine[2] if repeated and mine is not None else "cached"  # a replayed payer is still the payer
    if not repeated:
        add_to_run(connection, request.owner.run, cache_hits=1)
    _mark(connection, now, request, mine is not None, outcome)
    return Step("answer", packed=packed, billed=int(outcome == "paid"), cached=outcome == "cached")


def _refusal(connection: Connection, now: float, settings: LedgerSettings, request: Request) -> Step | None:
    """Why one more paid search must not go out now; None when it may.

    Where only searches under way stand between this one and a limit, it waits for their end: one of them may fail and
    return its share, and what the model is told must not depend on such a race.
    """
    run, caps = request.owner.run, request.caps
    billed = question_billed(connection, run, request.owner.question_id)
    if billed >= caps.per_question:
        return Step("cap", scope="question")
    if billed + (connection.scalar(leases.live_query(run, now, request.owner.question_id)) or 0) >= caps.per_question:
        return Step("wait")
    if caps.total is None and settings.max_usd_total is None:
        return None
    spent, live = run_counts(connection, run), leases.live_in_run(connection, run, now)
    if caps.total is not None:
        if spent.searches_billed >= caps.total:
            stops.raise_flag(connection, now, run, "budget_searches", f"{caps.total} paid searches are used up")
            return Step("cap", scope="run")
        if spent.searches_billed + live >= caps.total:
            return Step("wait")
    price = settings.usd_per_search
    if token_budget.over_limit(settings, 0, spent.usd + price) is not None:
        stops.raise_flag(connection, now, run, "budget_usd", f"{settings.max_usd_total} US dollars are used up")
        return Step("cap", scope="run")
    _, held_usd = token_budget.held(connection, run, now)
    if token_budget.over_limit(settings, 0, spent.usd + held_usd + (live + 1) * price) is not None:
        return Step("wait")
    return None


def _take_lease(
    connection: Connection, now: float, settings: LedgerSettings, holder: str, request: Request, *, present: bool
) -> None:
    lease = {"holder": holder, "lease_until": now + settings.lease_s}
    if request.paid:
        lease |= {"lease_run": request.owner.run, "lease_question": request.owner.question_id}
    else:
        lease |= {"lease_run": None, "lease_question": None}
    if present:
        connection.execute(update(schema.answers).where(schema.answers.c.key == request.key).values(**lease))
        return
    connection.execute(
        insert(schema.answers).values(
            key=request.key,
            kind="search",
            state="none",
            query=request.query,
            backend=request.backend,
            params=orjson.dumps(dict(request.params), option=orjson.OPT_SORT_KEYS).decode(),
            **lease,
        )
    )
