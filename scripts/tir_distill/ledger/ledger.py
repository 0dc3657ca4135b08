"""The ledger as the other rooms use it: asynchronous around searches and pages, plain calls for the rest.

Transactions run in a small thread pool (one thread for SQLite, which has one writer anyway; four for PostgreSQL), so a
write lock held by another process, or a checkpoint's fsync, never stalls the conversations of the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from ..records.errors import Stopped
from ..records.jsonl import write_jsonl
from . import exchange, leases, pages, rate, reservations, run_counts, statements, stops, token_budget, unrecorded
from .flights import Flights
from .holder import is_dead, new_holder
from .keys import page_key
from .outcomes import Fetched, LeaseLost, LedgerLost, RunTotals, SearchFault, SearchOutcome, StopFlag, TokensHeld
from .owner import Caps, Owner
from .pacing import Pacer
from .reservations import Request, Step, pack, unpack
from .settings import LedgerSettings
from .store import RATE_LOCK, Moment, Store
from .watch import Watch

log = logging.getLogger(__name__)
T = TypeVar("T")
Door = Callable[[], Awaitable[None]]
"""To be awaited right before each request to a paid provider is written: returns when it may go out."""

FLAG_AGE_S = 0.2
"""How old this process's view of the stop flag may be where looking again is not worth a query."""
WAIT_MAX_S = 1.0
LAST_ANSWER_S = 10.0
"""How long a search that is cancelled waits for the answer to its request. Without it, the provider would have counted
a search that the ledger has not, and it would be paid again."""
IMPORT_BATCH = 200
SETTLE_TRIES = 8
"""What was paid is written down even if the database is away for a while: waits double from ``SETTLE_WAIT_S``."""
SETTLE_WAIT_S = 0.1


class Ledger:
    """One process's view of the shared ledger. Use it from one event loop at a time."""

    def __init__(self, store: Store, *, run: str, settings: LedgerSettings) -> None:
        self.run = run
        self.settings = settings
        self._store = store
        self._holder = new_holder()
        self._threads = ThreadPoolExecutor(1 if store.is_sqlite else 4, thread_name_prefix="ledger")
        self._open: set[str] = set()
        self._flag: tuple[float, StopFlag | None] = (-1.0, None)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flights = Flights()
        self._gates = Flights()
        self._watch = Watch(self._look, settings.poll_s)
        self._dead_at = time.monotonic()
        self._overdue: dict[leases.Lease, float] = {}
        """Leases that looked abandoned the last time, and since when (monotonic clock)."""
        self._pacers: dict[str, Pacer] = {}
        self._closing = threading.Event()
        self._heart: threading.Thread | None = None
        self._mutex = threading.Lock()

    @classmethod
    def open(cls, url: str, *, run: str, settings: LedgerSettings) -> Ledger:
        """Connect, make missing tables, and return what dead processes of this machine still held.

        Raises LedgerError when the database cannot be used.
        """
        ledger = cls(Store.open(url), run=run, settings=settings)
        try:
            ledger._free_abandoned()
            ledger._take_in_unrecorded()
        except LedgerLost:
            ledger._store.close()
            raise
        return ledger

    def close(self) -> None:
        """Give open leases back and disconnect."""
        self._closing.set()
        self._threads.shutdown(wait=True)
        if self._heart is not None:
            self._heart.join()
        try:
            if self._heart is not None:
                with self._store.write() as connection:
                    leases.give_up(connection, self._holder)
        except LedgerLost as lost:  # what ended the run has been said; others will see that this process is gone
            log.warning("leases were not given back: %s", lost.detail)
        self._open.clear()
        self._store.close()

    # ---- searches ---------------------------------------------------------------------------------------------------

    async def search(
        self,
        owner: Owner,
        query: str,
        *,
        call_id: str,
        made: int,
        caps: Caps,
        backend: str,
        params: Mapping[str, Any],
        fetch: Callable[[Door], Awaitable[Fetched]],
        paid: bool = True,
    ) -> SearchOutcome:
        """Answer one search call from the cache, or by ``fetch`` within all budgets, or with the cap that was reached.

        ``call_id`` lets a killed and repeated call count once. ``made``: searches of the trajectory before this one, as
        its conversation has it; no book of calls could say which of them a conversation that was killed, taken up again
        and perhaps set back still holds. ``fetch`` gets a door and must pass it before each request that it writes, as
        close to the writing as it can: what is decided there (time slot, stop flag, whether the query is still ours to
        pay) holds for that moment. ``paid=False``: a free backend, counted for the trajectory only. Raises Stopped, and
        whatever ``fetch`` raises.
        """
        request = Request.of(owner, call_id, made, query, backend, params, caps, paid)
        self._enter_loop()
        async with self._flights.turn(request.key) as flight:
            while True:
                step = await self._begin(
                    request.key,
                    lambda connection, now: reservations.begin(connection, now, self.settings, self._holder, request),
                    owner,
                )
                if step.kind == "cap":
                    return SearchOutcome(kind="cap", scope=step.scope, payload={}, billed=0, cached=False)
                if step.kind == "answer":
                    found = unpack(step.packed)
                    return SearchOutcome(
                        kind="answer", scope=None, payload=found, billed=step.billed, cached=step.cached
                    )
                try:
                    fetched, cancelled = await self._fetch(request, fetch)
                except LeaseLost:
                    await self._give_back(request.key, owner)
                    continue
                except BaseException as error:
                    await self._give_back(request.key, owner)
                    if isinstance(error, SearchFault):
                        flight.failed(error)
                    raise
                await self._record(request, fetched)
                if cancelled:
                    raise asyncio.CancelledError
                return SearchOutcome(
                    kind="answer", scope=None, payload=dict(fetched.payload), billed=int(paid), cached=False
                )

    async def _fetch(self, request: Request, fetch: Callable[[Door], Awaitable[Fetched]]) -> tuple[Fetched, bool]:
        """The provider's answer, and whether the asker was cancelled meanwhile. A request that has been written is paid
        for, so its answer is still waited for; a second cancellation ends that too.
        """
        written = cancelled = False

        async def door() -> None:
            nonlocal written
            if cancelled:
                raise asyncio.CancelledError
            await self.pace(request.backend, request.key)
            written = True

        fetching = asyncio.ensure_future(fetch(door))
        try:
            return await asyncio.shield(fetching), False
        except asyncio.CancelledError:
            cancelled = True
            if written:
                await asyncio.wait({fetching}, timeout=LAST_ANSWER_S)
            if not fetching.done() or fetching.cancelled() or fetching.exception() is not None:
                raise
            return fetching.result(), True
        finally:
            if not fetching.done():
                fetching.cancel()
                await asyncio.wait({fetching})

    async def pace(self, name: str, key: str | None = None) -> None:
        """Return when the next request to provider ``name`` may be written.

        Raises Stopped when the run has stopped, LeaseLost when the search ``key`` is not ours any more, and SearchFault
        when this machine is too busy to keep any time slot.
        """
        self._enter_loop()
        pacer = self._pacers.get(name)
        if pacer is None:

            async def take(lead_s: float) -> tuple[rate.Slot, Moment]:
                self._raise_if_stopped()
                slot, moment = await asyncio.get_running_loop().run_in_executor(
                    self._threads, self._take_slot, name, lead_s
                )
                if isinstance(slot, StopFlag):
                    self._flag = (time.monotonic(), slot)
                    raise Stopped(slot.reason, slot.detail)
                return slot, moment

            pacer = self._pacers[name] = Pacer(take, self.settings.qps)
        await pacer.wait(lambda: self._check_at_door(key))

    def _take_slot(self, name: str, lead_s: float) -> tuple[rate.Slot | StopFlag, Moment]:
        with self._store.write(RATE_LOCK) as connection:
            moment = self._store.moment(connection)
            return rate.take_slot(connection, moment.now, self.run, name, self.settings.qps, lead_s), moment

    def _check_at_door(self, key: str | None) -> None:
        """What the books say at this very moment: one small read, in the event loop so that nothing comes between."""
        with self._store.look() as connection:
            row = statements.run(connection, statements.DOOR, {"run": self.run, "key": key or ""}).fetchone()
        flag = stops.flag_of(*row[:3])
        self._flag = (time.monotonic(), flag)
        if flag is not None and not flag.soft:
            raise Stopped(flag.reason, flag.detail)
        if key is not None and row[3] != self._holder:
            raise LeaseLost(key)

    async def slow_down(self, name: str, retry_after_s: float | None) -> None:
        """The provider said 429: all processes slow down."""

        def work() -> None:
            with self._store.write(RATE_LOCK) as connection:
                rate.back_off(connection, self._store.now(connection), self.run, name, retry_after_s)

        await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def missed_slots(self) -> int:
        """Time slots that this process woke up too late to use."""
        return sum(pacer.missed for pacer in self._pacers.values())

    # ---- pages ------------------------------------------------------------------------------------------------------

    async def cached_page(
        self,
        url: str,
        *,
        max_age_s: float | None,
        fetch: Callable[[], Awaitable[Fetched | Mapping[str, Any]]],
    ) -> tuple[dict[str, Any], bool]:
        """The page's payload and whether it was kept from before. A ``doubtful`` one is not kept; see ``Fetched``."""
        key = page_key(url)
        self._enter_loop()
        async with self._flights.turn(key):
            step = await self._begin(
                key,
                lambda connection, now: pages.begin_page(
                    connection, now, self.settings, self._holder, key, url, max_age_s
                ),
            )
            if step.kind == "answer":
                return unpack(step.packed), True
            try:
                fetched = await fetch()
            except BaseException:
                await self._give_back(key)
                raise
            payload = dict(fetched.payload if isinstance(fetched, Fetched) else fetched)
            keep = not (isinstance(fetched, Fetched) and fetched.doubtful)
            packed = pack(payload) if keep and pages.worth_keeping(payload, self.settings) else None
            await self._end(
                key,
                lambda connection, now: pages.settle_page(connection, now, self._holder, key, packed, self.run),
                None,
            )
            return payload, False

    # ---- stop flag --------------------------------------------------------------------------------------------------

    def stop(self, reason: str, detail: str) -> None:
        """No new samples anywhere in this run; a hard reason also ends the samples under way."""
        with self._store.write() as connection:
            flag = stops.raise_flag(connection, self._store.now(connection), self.run, reason, detail)
        self._flag = (time.monotonic(), flag)

    def stopped(self) -> StopFlag | None:
        """The run's stop flag, at most ``FLAG_AGE_S`` old. A hard one stands; a soft one may be replaced."""
        seen, flag = self._flag
        if (flag is None or flag.soft) and time.monotonic() - seen > FLAG_AGE_S:
            with self._store.read() as connection:
                flag = stops.read_flag(connection, self.run)
            self._flag = (time.monotonic(), flag)
        return flag

    def clear_stop(self) -> None:
        """Let the run go on, e.g. after topping up. Only the command that starts a run may do this, before its jobs."""
        with self._store.write() as connection:
            stops.clear_flag(connection, self.run)
        self._flag = (-1.0, None)

    # ---- tokens, money, totals --------------------------------------------------------------------------------------

    def reserve_tokens(self, run: str, tokens: int, usd: float | None = None) -> str:
        """Hold tokens (and their price) before a request; returns the hold to settle.

        Raises Stopped over a limit; TokensHeld, without a stop flag, where only requests under way are between.
        """
        price = token_budget.token_price(self.settings, tokens) if usd is None else usd
        held = self._hold(run, tokens, price)
        if isinstance(held, token_budget.Refusal) and not held.final:
            self._free_abandoned()  # a dead process may hold what is missing
            held = self._hold(run, tokens, price)
        if isinstance(held, str):
            self._beat()
            return held
        if held.final:
            raise Stopped(held.reason, "the run's limit is reached; raise it under budgets and run again")
        raise TokensHeld(held.reason, "requests under way may use up the run's limit; raise it under budgets")

    def _hold(self, run: str, tokens: int, usd: float) -> str | token_budget.Refusal:
        with self._store.write() as connection:
            now = self._store.now(connection)
            held = token_budget.hold(connection, now, self.settings, run, self._holder, tokens, usd)
            if isinstance(held, token_budget.Refusal) and held.final:
                self._limit_reached(connection, now, run, held.reason)
            return held

    def settle_tokens(self, run: str, hold: str | None, tokens: int, usd: float | None = None) -> None:
        """Count what a request used and free its hold (None: there was none). Sets the stop flag at the limit.

        What was paid is tried again on a new connection. Raises LedgerLost when that fails too.
        """
        price = token_budget.token_price(self.settings, tokens) if usd is None else usd
        try:
            self._settle_tokens(run, hold, tokens, price)
        except LedgerLost as lost:
            log.warning("tokens are written down at a second try: %s", lost.detail)
            self._settle_tokens(run, hold, tokens, price, again=True)

    def _settle_tokens(self, run: str, hold: str | None, tokens: int, usd: float, *, again: bool = False) -> None:
        with self._store.write() as connection:
            reason = token_budget.settle(connection, self.settings, run, hold, tokens, usd, again=again)
            if reason is not None:
                self._limit_reached(connection, self._store.now(connection), run, reason)

    def _limit_reached(self, connection: Connection, now: float, run: str, reason: str) -> None:
        flag = stops.raise_flag(connection, now, run, reason, "the run's limit is reached")
        if run == self.run:
            self._flag = (time.monotonic(), flag)

    def question_billed(self, run: str, question_id: str) -> int:
        """Paid searches of one question in one run."""
        with self._store.read() as connection:
            return run_counts.question_billed(connection, run, question_id)

    def run_totals(self, run: str) -> RunTotals:
        """What a run has used so far."""
        with self._store.read() as connection:
            return run_counts.run_counts(connection, run)

    def rename_run(self, name: str) -> None:
        """Give everything counted for this run to another name: the run starts anew, what it bought stays bought."""
        with self._store.write() as connection:
            run_counts.rename_run(connection, self.run, name)
        self._flag = (-1.0, None)

    # ---- the cache as a file ----------------------------------------------------------------------------------------

    def export_cache(self, path: Path, run: str | None = None) -> int:
        """Write kept search answers (those one run used, when named) as JSON Lines; returns how many."""
        with self._store.read() as connection:
            return write_jsonl(path, exchange.export_rows(connection, run))

    def import_cache(self, path: Path) -> int:
        """Take over another ledger's answers; returns how many were new.

        Lines that are no such answer (cut off, written by something else) are left out and counted in the log: they
        only cost what a search costs.
        """
        added, batch = 0, []
        rows = exchange.ReadRows(path)
        for row in rows:
            batch.append(row)
            if len(batch) == IMPORT_BATCH:
                added += self._import(batch)
                batch = []
        added += self._import(batch)
        if rows.bad:
            log.warning("%s: %d lines left out, the first is line %s", path, rows.bad, rows.first)
        return added

    def _import(self, batch: list[dict[str, Any]]) -> int:
        with self._store.write() as connection:
            now = self._store.now(connection)
            return sum(exchange.import_row(connection, row, now) for row in batch)

    # ---- inside -----------------------------------------------------------------------------------------------------

    def _enter_loop(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # locks belong to the loop they were first used in
            self._loop, self._flights, self._gates, self._pacers = loop, Flights(), Flights(), {}
            self._watch = Watch(self._look, self.settings.poll_s)

    def _raise_if_stopped(self) -> None:
        flag = self.stopped()
        if flag is not None and not flag.soft:
            raise Stopped(flag.reason, flag.detail)

    def _transact(self, work: Callable[[Connection, float], T]) -> T:
        with self._store.write() as connection:
            return work(connection, self._store.now(connection))

    async def _write(self, work: Callable[[Connection, float], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._transact, work)

    async def _begin(self, key: str, work: Callable[[Connection, float], Step], owner: Owner | None = None) -> Step:
        """Ask until the answer is something other than ``wait``. Raises Stopped.

        Of all who wait for the same budget, one asks and the others queue behind it; see ``Watch`` for what wakes it.
        """
        step = await self._ask(key, work)
        if step.kind != "wait":
            return step
        gate = _gate(step.scope, owner) or key  # only one in this process waits for an answer as it is
        async with self._gates.turn(gate):
            with self._watch.sleeper(gate) as sleeper:
                while True:
                    sleeper.listen()
                    step = await self._ask(key, work)
                    if step.kind != "wait":
                        return step
                    await sleeper.sleep(WAIT_MAX_S)

    async def _look(self, names: Collection[str]) -> Collection[str]:
        """Which of the answers that others fetch have come; now and then, whether those others still live."""
        looked = time.monotonic()
        if looked - self._dead_at > WAIT_MAX_S:
            self._dead_at = looked
            await asyncio.get_running_loop().run_in_executor(self._threads, self._free_abandoned)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._ended, names)

    def _ended(self, names: Collection[str]) -> Collection[str]:
        with self._store.read() as connection:
            return leases.ended(connection, names)

    def _free_abandoned(self) -> None:
        """A lease whose owner may live must stay overdue, without a sign of life, for longer than such signs are apart:
        when the clock jumps, all leases are overdue at once.
        """
        with self._mutex:
            me = leases.Me(self._holder, frozenset(self._open))
        with self._store.read() as connection:
            found, tokens = leases.abandoned(connection, self._store.now(connection), me)
        seen = time.monotonic()
        self._overdue = {lease: self._overdue.get(lease, seen) for lease in found}
        sure = [
            lease
            for lease, since in self._overdue.items()
            if lease.holder == self._holder or is_dead(lease.holder) or seen - since >= self.settings.lease_s / 2.0
        ]
        if sure or tokens:
            with self._store.write() as connection:
                leases.free(connection, sure, tokens)

    async def _record(self, request: Request, fetched: Fetched) -> None:
        """Write down what was paid, cancelled or not. When the database is gone for good, into a file for later."""
        await asyncio.shield(asyncio.ensure_future(self._record_surely(request, fetched)))

    async def _record_surely(self, request: Request, fetched: Fetched) -> None:
        packed = pack(fetched.payload)
        for attempt in range(SETTLE_TRIES):
            try:
                await self._end(
                    request.key,
                    lambda connection, now: reservations.settle(
                        connection,
                        now,
                        self.settings,
                        self._holder,
                        request,
                        fetched,
                        packed,
                        again=attempt > 0,  # noqa: B023
                    ),
                    request.owner,
                )
                return
            except LedgerLost as lost:
                log.warning("a paid search could not be written down yet: %s", lost.detail)
                if attempt + 1 == SETTLE_TRIES:
                    self._keep_for_later(request, fetched)
                    raise
                try:
                    await asyncio.sleep(SETTLE_WAIT_S * 2**attempt)
                except asyncio.CancelledError:  # the process ends while the database is away
                    self._keep_for_later(request, fetched)
                    raise

    def _keep_for_later(self, request: Request, fetched: Fetched) -> None:
        try:
            unrecorded.keep(self.settings.unrecorded, request, fetched)
        except OSError as error:  # the same full disk, most likely
            log.error("a paid search of %s is in no book: %s", request.owner.question_id, error)

    def _take_in_unrecorded(self) -> None:
        """Searches that an earlier process paid for while the database was away."""

        def record(request: Request, fetched: Fetched) -> None:
            packed = pack(fetched.payload)
            self._transact(
                lambda connection, now: reservations.settle(
                    connection, now, self.settings, self._holder, request, fetched, packed, again=True
                )
            )

        unrecorded.take_in(self.settings.unrecorded, record)

    async def _ask(self, key: str, work: Callable[[Connection, float], Step]) -> Step:
        pending = self._threads.submit(self._transact, work)
        try:
            step = await asyncio.wrap_future(pending)
        except asyncio.CancelledError:
            pending.add_done_callback(lambda done: self._undo(key, done))
            raise
        if step.kind == "stopped" and step.flag is not None:
            self._flag = (time.monotonic(), step.flag)
            raise Stopped(step.flag.reason, step.flag.detail)
        if step.kind == "fetch":
            with self._mutex:
                self._open.add(key)
            self._beat()
        return step

    def _undo(self, key: str, done: Future[Step]) -> None:
        """The asker was cancelled while its lease was being written: runs in the ledger's thread."""
        if not done.cancelled() and done.exception() is None and done.result().kind == "fetch":
            with self._store.write() as connection:
                leases.release(connection, key, self._holder)

    async def _end(self, key: str, work: Callable[[Connection, float], None], owner: Owner | None) -> None:
        """Settle even if the asker is being cancelled: what was paid must be counted."""
        try:
            await asyncio.shield(asyncio.ensure_future(self._write(work)))
        finally:
            with self._mutex:
                self._open.discard(key)
            for scope in ("question", "run"):
                self._watch.wake(_gate(scope, owner))

    async def _give_back(self, key: str, owner: Owner | None = None) -> None:
        await self._end(key, lambda connection, _now: _release(connection, key, self._holder), owner)

    def _beat(self) -> None:
        """Start showing signs of life, once there is something to keep alive."""
        with self._mutex:
            if self._heart is None:
                self._heart = threading.Thread(target=self._heartbeat, name="ledger-heartbeat", daemon=True)
                self._heart.start()

    def _heartbeat(self) -> None:
        while not self._closing.wait(self.settings.lease_s / 3.0):
            with self._mutex:
                keys = sorted(self._open)
            try:
                self._transact(
                    lambda connection, now, keys=keys: leases.renew(  # type: ignore[misc]
                        connection, now, keys, self._holder, self.settings.lease_s
                    )
                )
            except LedgerLost as lost:  # the next beat may reach it; until then our process id speaks for us
                log.warning("no sign of life was written: %s", lost.detail)


def _release(connection: Connection, key: str, holder: str) -> None:
    leases.release(connection, key, holder)


def _gate(scope: str | None, owner: Owner | None) -> str:
    """Name of the queue for a budget; empty when there is none to wait for."""
    if scope is None or owner is None:
        return ""
    return f"question {owner.run} {owner.question_id}" if scope == "question" else f"run {owner.run}"
