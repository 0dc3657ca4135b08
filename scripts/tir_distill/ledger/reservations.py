"""One search, from the question "may I, must I?" to its count: each step one transaction.

``begin`` answers in this order: the run is stopped; the trajectory's cap; a cached answer; someone else is fetching it;
the question's cap; the run's cap; and only then reserves: the caller must fetch, and ``settle`` or release.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson
from sqlalchemy import Connection

from . import leases, statements, stops, token_budget
from .keys import search_key, storable
from .outcomes import CapScope, Fetched, StopFlag
from .owner import Caps, Owner
from .run_counts import add_to_question, add_to_run
from .settings import LedgerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A search call as the ledger sees it."""

    owner: Owner
    call_id: str
    made: int
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
        made: int,
        query: str,
        backend: str,
        params: Mapping[str, Any],
        caps: Caps,
        paid: bool,
    ) -> Request:
        return cls(
            owner=owner,
            call_id=call_id,
            made=made,
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
    """The cap that was reached; with ``wait``, the budget that is spoken for, None when waiting for an answer."""
    packed: bytes = b""
    billed: int = 0
    flag: StopFlag | None = None
    cached: bool = False


class Seen(NamedTuple):
    """One row of ``statements.LOOK``."""

    stop_reason: str | None
    stop_detail: str | None
    stop_at: float | None
    state: str | None
    payload: bytes | None
    fetched_at: float | None
    holder: str | None
    question_billed: int
    run_billed: int
    run_usd: float
    question_live: int
    run_live: int


def pack(payload: Mapping[str, Any]) -> bytes:
    """JSON, deflated: search answers shrink to a third."""
    return zlib.compress(orjson.dumps(payload), 1)


def unpack(data: bytes) -> dict[str, Any]:
    """The payload as it was packed."""
    value: dict[str, Any] = orjson.loads(zlib.decompress(data))
    return value


def begin(connection: Connection, now: float, settings: LedgerSettings, holder: str, request: Request) -> Step:
    """Decide on one search call and, for ``fetch``, reserve its cost and take the lease."""
    owner = request.owner
    names = {"run": owner.run, "question": owner.question_id, "key": request.key}
    seen = Seen(*statements.run(connection, statements.LOOK, names).fetchone())
    flag = stops.flag_of(seen.stop_reason, seen.stop_detail, seen.stop_at)
    if flag is not None and not flag.soft:
        return Step("stopped", flag=flag)
    if request.made >= request.caps.per_trajectory:
        return Step("cap", scope="trajectory")
    before = _outcome(connection, request) if seen.state in ("good", "doubtful") else None
    # What this very call was told before a kill is told again, be it doubtful or old: it has been paid for.
    if before in ("paid", "free") or (seen.state == "good" and _fresh(seen.fetched_at, now, settings)):
        return _from_cache(connection, request, seen.payload or b"", before or "open")
    if seen.holder is not None:
        return Step("wait")
    refusal = _refusal(connection, now, settings, request, seen) if request.paid else None
    if refusal is not None:
        return refusal
    _take_lease(connection, now, settings, holder, request)
    _mark(connection, request, "open")
    return Step("fetch")


def settle(
    connection: Connection,
    now: float,
    settings: LedgerSettings,
    holder: str,
    request: Request,
    fetched: Fetched,
    packed: bytes,
    *,
    again: bool = False,
) -> None:
    """Count a search that was answered, keep its answer, end its lease.

    Counts even if the lease has meanwhile passed on (the process was suspended): it has been paid for. ``again``: an
    earlier try failed, perhaps only after it had been written; then it is not counted a second time.
    """
    owner, key = request.owner, request.key
    if again and _outcome(connection, request) in ("paid", "free"):
        return
    entry = statements.run(connection, statements.ENTRY, {"key": key}).fetchone()
    if entry is None:  # the ledger was made anew since the search was begun (``unrecorded``)
        statements.run(connection, statements.ADD_ENTRY, _entry(request))
    before, fetched_at = (entry[0], entry[2]) if entry is not None else ("none", None)
    overtaken = before == "good" and _fresh(fetched_at, now, settings)
    if not (fetched.doubtful and overtaken):
        state = "good" if not fetched.doubtful or before == "doubtful" else "doubtful"
        statements.run(
            connection, statements.KEEP, {"key": key, "state": state, "payload": packed, "now": now, "run": owner.run}
        )
    leases.release(connection, key, holder)
    if request.paid:
        add_to_question(connection, owner.run, owner.question_id, 1)
        add_to_run(connection, owner.run, billed=1, usd=fetched.credits * settings.usd_per_search)
    _mark(connection, request, "paid" if request.paid else "free")


def _outcome(connection: Connection, request: Request) -> str | None:
    """How this very call stands in the books."""
    owner = request.owner
    names = {"run": owner.run, "question": owner.question_id, "sample": owner.sample}
    values = {**names, "call_id": request.call_id, "key": request.key}
    row = statements.run(connection, statements.CALL_OUTCOME, values).fetchone()
    return None if row is None else str(row[0])


def _fresh(fetched_at: float | None, now: float, settings: LedgerSettings) -> bool:
    return settings.cache_max_age_s is None or now - (fetched_at or 0.0) <= settings.cache_max_age_s


def _mark(connection: Connection, request: Request, outcome: str) -> None:
    owner = request.owner
    statements.run(
        connection,
        statements.MARK_CALL,
        {
            "run": owner.run,
            "question": owner.question_id,
            "sample": owner.sample,
            "call_id": request.call_id,
            "key": request.key,
            "outcome": outcome,
        },
    )


def _from_cache(connection: Connection, request: Request, packed: bytes, before: str) -> Step:
    """A kept answer. A call that had been answered before it was killed counts as it did then."""
    if before == "open":
        add_to_run(connection, request.owner.run, cache_hits=1)
    outcome = "cached" if before == "open" else before
    _mark(connection, request, outcome)
    return Step("answer", packed=packed, billed=int(outcome == "paid"), cached=outcome == "cached")


def _refusal(connection: Connection, now: float, settings: LedgerSettings, request: Request, seen: Seen) -> Step | None:
    """Why one more paid search must not go out now; None when it may.

    Where only searches under way stand between this one and a limit, it waits for their end: one of them may fail and
    return its share, and what the model is told must not depend on such a race.
    """
    run, caps, price = request.owner.run, request.caps, settings.usd_held_per_search
    if seen.question_billed >= caps.per_question:
        return Step("cap", scope="question")
    if caps.total is not None and seen.run_billed >= caps.total:
        stops.raise_flag(connection, now, run, "budget_searches", f"{caps.total} paid searches are used up")
        return Step("cap", scope="run")
    if token_budget.over_limit(settings, 0, seen.run_usd + price) is not None:
        stops.raise_flag(connection, now, run, "budget_usd", f"{settings.max_usd_total} US dollars are used up")
        return Step("cap", scope="run")
    if seen.question_billed + seen.question_live >= caps.per_question:
        return Step("wait", scope="question")
    if caps.total is not None and seen.run_billed + seen.run_live >= caps.total:
        return Step("wait", scope="run")
    if settings.max_usd_total is not None:
        _, held_usd = token_budget.held(connection, run)
        if token_budget.over_limit(settings, 0, seen.run_usd + held_usd + (seen.run_live + 1) * price) is not None:
            return Step("wait", scope="run")
    return None


def _take_lease(connection: Connection, now: float, settings: LedgerSettings, holder: str, request: Request) -> None:
    lease = {
        "holder": holder,
        "until": now + settings.lease_s,
        "run": request.owner.run if request.paid else None,
        "question": request.owner.question_id if request.paid else None,
    }
    statements.run(connection, statements.TAKE_LEASE, _entry(request) | lease)


def _entry(request: Request) -> dict[str, Any]:
    """What names a search among the answers."""
    return {
        "key": request.key,
        "kind": "search",
        "query": storable(request.query),
        "backend": request.backend,
        "params": orjson.dumps(dict(request.params), option=orjson.OPT_SORT_KEYS).decode(),
    }
