"""The ledger's promises, one by one, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger_helpers import (
    WIDE,
    fresh_database,
    hits,
    open_ledger,
    owner,
    postgres_cluster,
    sqlite_url,
)
from tir_distill.ledger import (
    Caps,
    Door,
    Fetched,
    Ledger,
    LedgerError,
    LedgerLost,
    LedgerSettings,
    SearchOutcome,
    TokensHeld,
    ledger_url,
    rate,
    run_counts,
    unrecorded,
)
from tir_distill.ledger.reservations import Request
from tir_distill.records import Stopped


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with postgres_cluster() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return fresh_database(request.getfixturevalue("cluster"), "unit")


class Provider:
    """Counts what it is asked."""

    def __init__(
        self, ledger: Ledger, *, delay_s: float = 0.0, answer: Callable[[], Fetched] = lambda: hits("x")
    ) -> None:
        self.ledger, self.delay_s, self.answer = ledger, delay_s, answer
        self.asked = 0

    async def fetch(self, _door: Door | None = None) -> Fetched:
        self.asked += 1
        await asyncio.sleep(self.delay_s)
        return self.answer()

    def search(
        self,
        query: str,
        call_id: str = "call_0_0",
        caps: Caps = WIDE,
        *,
        made: int = 0,
        paid: bool = True,
        **who: Any,
    ) -> Awaitable[SearchOutcome]:
        return self.ledger.search(
            owner(**who),
            query,
            call_id=call_id,
            made=made,
            caps=caps,
            backend="serper",
            params={"num": 8},
            fetch=self.fetch,
            paid=paid,
        )


def run(url: str, work: Callable[[Provider], Awaitable[Any]], delay_s: float = 0.0, **settings: Any) -> Any:
    ledger = open_ledger(url, **settings)

    async def main() -> Any:
        return await work(Provider(ledger, delay_s=delay_s))

    try:
        return asyncio.run(main())
    finally:
        ledger.close()


def test_paid_once_also_while_the_first_is_under_way(url: str) -> None:
    async def work(provider: Provider) -> None:
        queries = ["Foo  bar", " foo BAR", "ｆｏｏ　ｂａｒ", "foo bar"]
        found = await asyncio.gather(*(provider.search(q, sample=n) for n, q in enumerate(queries * 5)))
        assert provider.asked == 1
        assert sum(outcome.billed for outcome in found) == 1
        assert sum(outcome.cached for outcome in found) == 19
        assert {json.dumps(outcome.payload) for outcome in found} == {json.dumps(hits("x").payload)}
        totals = provider.ledger.run_totals("full")
        assert (totals.searches_billed, totals.cache_hits) == (1, 19)

    run(url, work, delay_s=0.1)


def test_two_processes_pay_once(url: str) -> None:
    async def work(provider: Provider) -> None:
        other = open_ledger(url)
        second = Provider(other, delay_s=0.3)
        found = await asyncio.gather(
            *(p.search("q", sample=n) for n, p in enumerate([provider, second, provider, second]))
        )
        assert provider.asked + second.asked == 1
        assert sum(outcome.billed for outcome in found) == 1
        other.close()

    run(url, work, delay_s=0.3)


def test_the_cache_serves_all_runs_and_budgets_are_per_run(url: str) -> None:
    async def work(provider: Provider) -> None:
        caps = Caps(per_trajectory=8, per_question=1, total=1)
        assert (await provider.search("a", run="pilot", caps=caps)).billed == 1
        assert (await provider.search("a", run="full", caps=caps)).cached
        assert (await provider.search("b", "call_0_1", run="full", caps=caps)).billed == 1
        assert provider.ledger.question_billed("pilot", "q1") == provider.ledger.question_billed("full", "q1") == 1

    run(url, work)


def test_caps_say_what_they_are(url: str) -> None:
    async def work(provider: Provider) -> None:
        caps = Caps(per_trajectory=3, per_question=4, total=6)
        kinds = [(await provider.search(f"a{n}", f"call_{n}_0", caps, made=n)).scope for n in range(4)]
        assert kinds == [None, None, None, "trajectory"]
        kinds = [(await provider.search(f"b{n}", f"call_{n}_0", caps, sample=1)).scope for n in range(2)]
        assert kinds == [None, "question"]
        assert (await provider.search("a0", "call_2_0", caps, sample=1)).cached, "a cached answer costs nothing"
        kinds = [(await provider.search(f"c{n}", f"call_{n}_0", caps, question="q2")).scope for n in range(3)]
        assert kinds == [None, None, "run"]
        flag = provider.ledger.stopped()
        assert flag is not None
        assert (flag.reason, flag.soft) == ("budget_searches", True)
        assert provider.asked == 6

    run(url, work)


def test_the_trajectory_cap_counts_cached_calls_too(url: str) -> None:
    async def work(provider: Provider) -> None:
        caps = Caps(per_trajectory=2, per_question=9, total=None)
        kinds = [(await provider.search("same", f"call_{n}_0", caps, made=n)).scope for n in range(3)]
        assert kinds == [None, None, "trajectory"]

    run(url, work)


def test_a_first_burst_does_not_pass_the_cap(url: str) -> None:
    """Fault class C 31: cap 2, four samples with three calls each in their first turn."""

    async def work(provider: Provider) -> None:
        caps = Caps(per_trajectory=8, per_question=2, total=None)
        calls = [
            provider.search(f"{sample} {n}", f"call_0_{n}", caps, sample=sample)
            for sample in range(4)
            for n in range(3)
        ]
        found = await asyncio.gather(*calls)
        assert provider.asked == 2
        assert sum(outcome.scope == "question" for outcome in found) == 10

    run(url, work, delay_s=0.05)


def test_a_failed_search_gives_its_share_to_one_who_waits(url: str) -> None:
    """At cap 1 the second waits for the first, and is served when the first fails."""

    async def work(provider: Provider) -> None:
        caps = Caps(per_trajectory=8, per_question=1, total=1)

        async def breaks(_door: Door) -> Fetched:
            await asyncio.sleep(0.2)
            raise RuntimeError("planted")

        first = asyncio.ensure_future(
            provider.ledger.search(
                owner(), "a", call_id="call_0_0", made=0, caps=caps, backend="serper", params={}, fetch=breaks
            )
        )
        await asyncio.sleep(0.05)
        second = await provider.search("b", caps=caps, sample=1)
        assert (second.kind, second.billed) == ("answer", 1)
        with pytest.raises(RuntimeError, match="planted"):
            await first

    run(url, work)


def test_a_replayed_trajectory_counts_once(url: str) -> None:
    """Killed after three calls of which one was cached; repeated, it is told the same, and nothing is counted twice."""
    caps = Caps(per_trajectory=3, per_question=9, total=None)

    async def attempt(provider: Provider) -> list[tuple[int, bool]]:
        await provider.search("other", sample=9)
        queries = ["a", "other", "b"]
        found = [await provider.search(q, f"call_{n}_0", caps, made=n) for n, q in enumerate(queries)]
        return [(outcome.billed, outcome.cached) for outcome in found]

    first = run(url, attempt)
    again = run(url, attempt)
    assert first == again == [(1, False), (0, True), (1, False)]
    ledger = open_ledger(url)
    totals = ledger.run_totals("full")
    assert (totals.searches_billed, totals.cache_hits, ledger.question_billed("full", "q1")) == (3, 1, 3)
    ledger.close()


def test_an_empty_or_old_answer_is_not_paid_twice_by_the_same_call(url: str) -> None:
    """Paid, then killed before the conversation had it; another trajectory's call buys it for itself."""
    from sqlalchemy import text

    async def work(provider: Provider) -> None:
        provider.answer = lambda: Fetched(payload={"results": []}, doubtful=True)
        first = await provider.search("a")
        again = await provider.search("a")
        assert (first.billed, again.billed, provider.asked) == (1, 1, 1)
        assert again.payload == {"results": []}
        assert (await provider.search("a", sample=1)).billed == 1
        provider.answer = lambda: hits("x")
        await provider.search("b", "call_1_0")
        with provider.ledger._store.write() as connection:
            connection.execute(text("UPDATE answers SET fetched_at = fetched_at - 3601"))
        assert (await provider.search("b", "call_1_0")).payload == hits("x").payload
        assert provider.asked == 3
        assert (await provider.search("b", sample=1)).billed == 1
        assert provider.ledger.run_totals("full").searches_billed == provider.asked == 4

    run(url, work, cache_max_age_s=3600.0)


def test_cancelled_in_any_state_leaves_nothing_behind(url: str) -> None:
    async def work(provider: Provider) -> None:
        for delay in (0.0, 0.001, 0.01, 0.05):
            task = asyncio.ensure_future(provider.search("c", caps=Caps(9, 1, None)))
            await asyncio.sleep(delay)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        provider.delay_s = 0.0
        found = await asyncio.wait_for(provider.search("c", caps=Caps(9, 1, None)), 10)
        assert found.billed == 1

    run(url, work, delay_s=5.0)


def test_cancelled_after_its_request_was_written_it_is_counted_and_kept(url: str) -> None:
    """A run that is cut off pays nothing twice. A request that failed meanwhile is not made again."""
    asked = 0

    async def work(provider: Provider) -> None:
        async def search(name: str, *, fails: bool = False) -> SearchOutcome:
            async def fetch(door: Door) -> Fetched:
                nonlocal asked
                while True:
                    await door()
                    asked += 1
                    await asyncio.sleep(0.4)
                    if not fails:
                        return hits("x")

            return await provider.ledger.search(
                owner(), name, call_id=name, made=0, caps=Caps(9, 2, None), backend="serper", params={}, fetch=fetch
            )

        for name, fails, billed in (("a", False, 1), ("b", True, 1)):
            task = asyncio.ensure_future(search(name, fails=fails))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert provider.ledger.question_billed("full", "q1") == billed
        assert asked == 2
        again = await search("a")
        assert (again.billed, again.payload, asked) == (1, hits("x").payload, 2), "this very call was paid for"
        task = asyncio.ensure_future(search("c"))
        await asyncio.sleep(0.2)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 0.15)
        assert (await search("d")).billed == 1, "its share has returned"
        assert (await search("e")).scope == "question"

    run(url, work)


def test_free_backends_count_for_the_trajectory_only(url: str) -> None:
    async def work(provider: Provider) -> None:
        caps = Caps(per_trajectory=2, per_question=0, total=0)
        found = [await provider.search(f"{n}", f"call_{n}_0", caps, made=n, paid=False) for n in range(3)]
        assert [outcome.scope for outcome in found] == [None, None, "trajectory"]
        assert provider.ledger.run_totals("full").searches_billed == 0

    run(url, work)


def test_an_old_answer_is_bought_again(url: str) -> None:
    from sqlalchemy import text

    async def work(provider: Provider) -> None:
        await provider.search("a")
        with provider.ledger._store.write() as connection:
            connection.execute(text("UPDATE answers SET fetched_at = fetched_at - 3601"))
        assert (await provider.search("a", sample=1)).billed == 1
        assert (await provider.search("a", sample=2)).cached

    run(url, work, cache_max_age_s=3600.0)


def test_stop_is_seen_by_all_and_cleared(url: str) -> None:
    async def work(provider: Provider) -> None:
        other = open_ledger(url)
        assert other.stopped() is None
        provider.ledger.stop("credits_exhausted", "no credits")
        with pytest.raises(Stopped, match="credits_exhausted: no credits"):
            await Provider(other).search("a")
        with pytest.raises(Stopped):
            await other.pace("serper")
        flag = other.stopped()
        assert flag is not None
        assert (flag.reason, flag.soft) == ("credits_exhausted", False)
        other.stop("operator", "later")
        assert provider.ledger.stopped() == flag, "the first reason stands"
        pilot = open_ledger(url, run="pilot")
        assert pilot.stopped() is None, "other runs go on"
        pilot.close()
        other.clear_stop()
        assert (await Provider(other).search("a")).billed == 1
        other.close()

    run(url, work)


def test_a_hard_stop_replaces_a_soft_one(url: str) -> None:
    ledger = open_ledger(url)
    ledger.stop("budget_searches", "used up")
    ledger.stop("bad_key", "401")
    flag = ledger.stopped()
    assert flag is not None
    assert flag.reason == "bad_key"
    ledger.close()


def test_a_hard_stop_after_a_soft_one_is_seen_by_the_other_processes(url: str) -> None:
    ledger, other = open_ledger(url), open_ledger(url)
    ledger.stop("budget_tokens", "used up")
    seen = other.stopped()
    assert seen is not None
    assert seen.soft
    ledger.stop("operator", "enough")
    time.sleep(0.3)
    seen = other.stopped()
    assert seen is not None
    assert seen.reason == "operator"
    ledger.close()
    other.close()


@pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
def test_a_cap_holds_at_any_isolation_level_of_the_server(cluster: str, level: str) -> None:
    """One process has the lock and bills the question's only search; another one, which was waiting for the lock at
    that time, must see it."""
    from sqlalchemy import create_engine, text

    url = fresh_database(cluster, "level")
    engine = create_engine(cluster, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"ALTER DATABASE level SET default_transaction_isolation = '{level}'"))
    first, second = open_ledger(url), open_ledger(url)
    caps = Caps(per_trajectory=8, per_question=1, total=None)
    found: list[SearchOutcome] = []
    waits = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")

    async def search() -> None:
        found.append(await Provider(second).search("b", caps=caps))

    with engine.connect() as look, first._store.write() as connection:
        waiting = threading.Thread(target=lambda: asyncio.run(search()))
        waiting.start()
        for _ in range(500):
            if look.scalar(waits):
                break
            time.sleep(0.02)
        else:
            raise AssertionError("nobody waits for the lock")
        run_counts.add_to_question(connection, "full", "q1", 1)
    waiting.join(20)
    assert [outcome.scope for outcome in found] == ["question"]
    for ledger in (first, second):
        ledger.close()
    engine.dispose()


def test_token_and_money_walls(url: str) -> None:
    ledger = open_ledger(url, max_tokens_total=100, usd_per_million_tokens=2.0)
    held = ledger.reserve_tokens("full", 60)
    with pytest.raises(TokensHeld, match="budget_tokens"):
        ledger.reserve_tokens("full", 41)
    assert ledger.stopped() is None, "only a request under way is between"
    with pytest.raises(Stopped, match="the run's limit is reached"):
        ledger.reserve_tokens("full", 101)
    assert ledger.stopped() is not None
    ledger.clear_stop()
    ledger.settle_tokens("full", held, 50)
    assert ledger.run_totals("full").tokens == 50
    assert ledger.run_totals("full").usd == pytest.approx(1e-4)
    ledger.settle_tokens("full", None, 49)
    assert ledger.stopped() is None
    ledger.settle_tokens("full", None, 1)
    flag = ledger.stopped()
    assert flag is not None
    assert flag.reason == "budget_tokens"
    assert ledger.run_totals("full").tokens == 100
    ledger.close()


def test_the_money_wall_holds_for_searches(url: str) -> None:
    async def work(provider: Provider) -> None:
        found = await asyncio.gather(*(provider.search(f"{n}", sample=n) for n in range(8)))
        assert provider.asked == 3
        assert [outcome.scope for outcome in found].count("run") == 5
        assert provider.ledger.run_totals("full").usd == pytest.approx(0.003)
        flag = provider.ledger.stopped()
        assert flag is not None
        assert flag.reason == "budget_usd"

    run(url, work, delay_s=0.02, max_usd_total=0.003, usd_per_search=0.001)


def test_the_money_wall_holds_when_a_search_takes_two_credits(url: str) -> None:
    """0.005 dollars are two searches of 0.002; a third one would make 0.006."""

    async def work(provider: Provider) -> None:
        provider.answer = lambda: replace(hits("x"), credits=2.0)
        found = await asyncio.gather(*(provider.search(f"{n}", sample=n) for n in range(8)))
        assert provider.asked == 2
        assert [outcome.scope for outcome in found].count("run") == 6
        assert provider.ledger.run_totals("full").usd == pytest.approx(0.004)

    run(url, work, delay_s=0.02, max_usd_total=0.005, usd_per_search=0.001, credits_per_search=2.0)


@pytest.mark.parametrize("written", [False, True], ids=["before", "after"])
def test_tokens_are_counted_once_when_the_connection_breaks(
    url: str, written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``written``: it breaks only after the count was written, which the process cannot know."""
    ledger = open_ledger(url, max_tokens_total=100)
    held = ledger.reserve_tokens("full", 60)
    write, broken = ledger._store.write, []

    @contextlib.contextmanager
    def breaks(*lock: int) -> Iterator[Any]:
        if not broken and not written:
            broken.append(1)
            raise LedgerLost("cut")
        with write(*lock) as connection:
            yield connection
        if not broken:
            broken.append(1)
            raise LedgerLost("cut")

    monkeypatch.setattr(ledger._store, "write", breaks)
    ledger.settle_tokens("full", held, 50)
    assert broken
    assert ledger.run_totals("full").tokens == 50
    ledger.settle_tokens("full", ledger.reserve_tokens("full", 50), 10)
    assert ledger.run_totals("full").tokens == 60
    ledger.close()


def test_a_process_that_freezes_with_the_lock_does_not_stop_the_others(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tir_distill.ledger.store.FROZEN_S", 1.0)
    url = fresh_database(cluster, "frozen")
    frozen, other = open_ledger(url), open_ledger(url)
    with pytest.raises(LedgerLost), frozen._store.write() as connection:
        run_counts.add_to_run(connection, "full", tokens=5)
        other.settle_tokens("full", None, 7)  # waits for the lock until the server takes it away
    assert frozen.run_totals("full").tokens == 7
    frozen.close()
    other.close()


def test_pages_are_kept_by_age_and_size(url: str) -> None:
    async def work(provider: Provider) -> None:
        ledger, fetched = provider.ledger, 0

        async def page(text: str = "hello", doubtful: bool = False) -> Fetched:
            nonlocal fetched
            fetched += 1
            await asyncio.sleep(0.05)
            return Fetched(payload={"text": text}, doubtful=doubtful)

        found = await asyncio.gather(*(ledger.cached_page("http://a", max_age_s=None, fetch=page) for _ in range(9)))
        assert fetched == 1
        assert sorted(cached for _, cached in found) == [False] + [True] * 8
        assert (await ledger.cached_page("http://a", max_age_s=0.0, fetch=page))[1] is False
        for _ in range(2):
            big = await ledger.cached_page("http://big", max_age_s=None, fetch=lambda: page("x" * 5000))
            bad = await ledger.cached_page("http://bad", max_age_s=None, fetch=lambda: page(doubtful=True))
            assert (big[1], bad[1]) == (False, False)

        async def plain() -> dict[str, Any]:
            return {"text": "plain"}

        assert await ledger.cached_page("http://p", max_age_s=None, fetch=plain) == ({"text": "plain"}, False)
        assert await ledger.cached_page("http://p", max_age_s=None, fetch=plain) == ({"text": "plain"}, True)

    run(url, work, max_page_bytes=2000)


def test_the_cache_goes_out_and_comes_in(url: str, tmp_path: Path) -> None:
    path = tmp_path / "search_cache.jsonl"

    async def fill(provider: Provider) -> None:
        for n in range(5):
            await provider.search(f"Query {n}", f"call_{n}_0", run="pilot" if n < 2 else "full")
        await provider.search("query 0", "call_9_0", run="full")
        await provider.ledger.cached_page("http://a", max_age_s=None, fetch=provider.fetch)

    run(url, fill)
    ledger = open_ledger(url)
    assert ledger.export_cache(path, run="full") == 4, "what it paid for, and what it used"
    assert ledger.export_cache(path) == 5
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["key"] for line in lines] == sorted(line["key"] for line in lines)
    assert {line["query"] for line in lines} == {f"Query {n}" for n in range(5)}
    assert ledger.import_cache(path) == 0
    ledger.close()

    async def use(provider: Provider) -> None:
        assert provider.ledger.import_cache(path) == 5
        assert (await provider.search("QUERY 3")).cached
        assert provider.asked == 0

    run(sqlite_url(tmp_path / "new"), use)


def test_after_an_export_the_ledger_works_on(url: str, tmp_path: Path) -> None:
    """An export reads in portions; what follows on the same connection must not."""

    async def work(provider: Provider) -> None:
        await provider.search("a")
        provider.ledger.stop("operator", "enough")
        assert provider.ledger.export_cache(tmp_path / "cache.jsonl") == 1
        provider.ledger.clear_stop()
        assert provider.ledger.stopped() is None
        assert (await provider.search("b", "call_1_0")).billed == 1

    run(url, work)


def test_of_two_answers_the_newer_one_comes_in(url: str, tmp_path: Path) -> None:
    """What is too old to serve must not keep out one that would. Other parameters are another search."""
    path = tmp_path / "cache.jsonl"
    now = time.time()

    def line(name: str, age_s: float, num: int = 8) -> bytes:
        payload = dict(hits(name).payload)
        row = {"query": "A", "backend": "serper", "params": {"num": num}, "fetched_at": now - age_s, "payload": payload}
        return json.dumps(row).encode() + b"\n"

    async def work(provider: Provider) -> None:
        path.write_bytes(line("old", 7200.0))
        assert provider.ledger.import_cache(path) == 1
        path.write_bytes(line("new", 1800.0) + line("older", 9000.0) + line("other", 10.0, num=9))
        assert provider.ledger.import_cache(path) == 2
        assert provider.ledger.import_cache(path) == 0
        found = await provider.search("a")
        assert (found.payload, found.cached) == (hits("new").payload, True)

    run(url, work, cache_max_age_s=3600.0)


def test_wrong_lines_of_a_cache_file_are_left_out_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    hit = {"title": "a", "url": "b", "snippet": "c"}
    good = {"query": "a", "backend": "serper", "params": {}, "fetched_at": 1, "payload": {"results": [hit]}}
    wrong = [
        {"query": 3},
        [],
        good | {"fetched_at": True},
        good | {"payload": {"results": [{"title": "no url"}]}},
        good | {"payload": {"message": "Not enough credits"}},
    ]
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in [*wrong, good]) + '\n\n{"query": "cut o')
    ledger = open_ledger(sqlite_url(tmp_path))
    assert ledger.import_cache(path) == 1
    assert "c.jsonl: 6 lines left out, the first is line 1: field 'query' must be str, found '3'" in caplog.text
    ledger.close()


def test_odd_characters_survive_the_cache_file(tmp_path: Path) -> None:
    """Line separators, NUL and half of the planes: one line out, one line in, the same answer."""
    odd = "a\u2028b\u0085c\x0cd\ufefff\x00g 图 𝔸 \r\n e\u0301"
    path = tmp_path / "search_cache.jsonl"

    def give() -> Fetched:
        return hits(odd)

    async def fill(provider: Provider) -> None:
        provider.answer = give
        await provider.search(odd)
        assert provider.ledger.export_cache(path) == 1
        assert path.read_bytes().count(b"\n") == 1

    async def use(provider: Provider) -> None:
        assert provider.ledger.import_cache(path) == 1
        found = await provider.search(odd.upper())
        assert found.cached
        assert found.payload == give().payload

    run(sqlite_url(tmp_path), fill)
    run(sqlite_url(tmp_path / "new"), use)


def test_characters_that_a_database_cannot_hold_are_no_fault(url: str) -> None:
    async def work(provider: Provider) -> None:
        assert (await provider.search("a\x00b")).billed == 1
        assert (await provider.search("A b", sample=1)).cached
        await provider.ledger.cached_page("http://a/\x00", max_age_s=None, fetch=provider.fetch)
        provider.ledger.stop("bad_key", "said \x00 and \udcff nothing")
        other = open_ledger(url)
        flag = other.stopped()
        assert flag is not None
        assert flag.detail == "said   and ? nothing"
        other.close()

    run(url, work)


def test_slots_are_spaced_and_slow_down_after_429(url: str) -> None:
    """At 20 a second, with times given by hand."""
    ledger = open_ledger(url)

    def take(now: float, lead_s: float = 0.0) -> float:
        with ledger._store.write() as connection:
            slot = rate.take_slot(connection, now, "full", "serper", 20.0, lead_s)
        assert isinstance(slot, rate.Slot)
        assert slot.wait_s == pytest.approx(slot.at - now)
        return slot.at

    assert [take(100.0) for _ in range(3)] == pytest.approx([100.0, 100.05, 100.1])
    assert take(200.0) == 200.0, "slots that nobody took are gone"
    with ledger._store.write() as connection:
        for _ in range(5):  # five at once are one sign
            rate.back_off(connection, 200.0, "full", "serper", 0.5)
    assert [take(200.0) for _ in range(3)] == pytest.approx([200.5, 200.6, 200.7]), "half the rate, not 1/32 of it"
    assert take(100.0) == pytest.approx(200.8), "the clock was set back a little: the queue stands"
    assert take(-3400.0) == -3400.0, "set back by an hour: nobody waits for an hour"
    with ledger._store.write() as connection:
        rate.back_off(connection, 250.0, "full", "serper", None)
    assert [take(200.0) for _ in range(2)] == pytest.approx([250.0, 250.1])
    assert take(260.0) == 260.0
    expected = 260.0 + (1.0 + 0.5 ** (60.0 / 30.0)) / 20.0
    assert take(260.0) == pytest.approx(expected), "the slow-down began at 200, where the clock was set back to"
    assert take(300.0, lead_s=1.0) == 301.0
    with ledger._store.write() as connection:
        rate.back_off(connection, 400.0, "full", "serper", 3600.0)
    assert take(400.0) == 520.0, "nobody sleeps for longer than two minutes"
    ledger.stop("operator", "enough")
    with ledger._store.write() as connection:
        assert rate.take_slot(connection, 600.0, "full", "serper", 20.0) == ledger.stopped()
    ledger.close()


def test_the_event_loop_runs_on_while_the_database_is_locked(tmp_path: Path) -> None:
    """Transactions wait in the ledger's thread, not in the loop."""
    url = sqlite_url(tmp_path)

    async def work(provider: Provider) -> None:
        locked, release = threading.Event(), threading.Event()

        def lock() -> None:
            with provider.ledger._store.write():
                locked.set()
                release.wait(10)

        thread = threading.Thread(target=lock)
        thread.start()
        assert locked.wait(10)
        task = asyncio.ensure_future(provider.search("a"))
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not task.done()
        release.set()
        assert (await task).billed == 1
        thread.join()

    run(url, work)


@pytest.mark.parametrize(
    "wrong", ["mysql://x/y", "not a url", "", "sqlite://", "sqlite:///:memory:", "postgresql://h:port/d", "oracle+x://"]
)
def test_a_wrong_url_is_wrong_usage(wrong: str) -> None:
    with pytest.raises(LedgerError, match=r"ledger\.url") as caught:
        open_ledger(wrong)
    assert caught.value.exit_code == 64


def test_a_ledger_that_cannot_be_used_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "text.sqlite").write_text("this is no database, and long enough to be seen as none " * 20)
    (tmp_path / "folder.sqlite").mkdir()
    wrong = {
        "sqlite:////proc/nowhere/l.sqlite": "its folder cannot be made",
        f"sqlite:///{tmp_path}/file/l.sqlite": "its folder cannot be made",
        f"sqlite:///{tmp_path}/text.sqlite": "file is not a database",
        f"sqlite:///{tmp_path}/folder.sqlite": "unable to open database file",
        "postgresql+psycopg://tir@127.0.0.1:9/none": "cannot be used: .*127.0.0.1",
    }
    for url, words in wrong.items():
        with pytest.raises(LedgerError, match=words) as caught:
            open_ledger(url)
        assert caught.value.exit_code == 1
        assert "\n" not in str(caught.value)
    with pytest.raises(LedgerError) as caught:
        open_ledger("postgresql+psycopg://tir:hush-hush@127.0.0.1:9/none")
    assert "hush" not in str(caught.value)


def test_a_full_disk_is_a_resumable_stop_and_loses_no_bill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paid answer stands in a file until the next start, and is counted once however often it is taken in."""
    from sqlalchemy import event

    monkeypatch.setattr("tir_distill.ledger.ledger.SETTLE_WAIT_S", 0.001)
    url, later = sqlite_url(tmp_path), tmp_path / "later" / "unrecorded.jsonl"
    ledger = open_ledger(url, unrecorded=later)

    async def fill() -> None:
        async def fetch(_door: Door) -> Fetched:
            def limit(connection: Any) -> None:
                driver = connection.connection.dbapi_connection
                driver.execute("PRAGMA max_page_count = 1")  # SQLite takes the present size instead

            event.listen(ledger._store._engine, "begin", limit)
            return Fetched(payload={"results": [], "noise": list(range(100_000))})

        await ledger.search(
            owner(), "a", call_id="call_0_0", made=0, caps=WIDE, backend="serper", params={"num": 8}, fetch=fetch
        )

    with pytest.raises(Stopped, match=r"ledger_unavailable.*full") as caught:
        asyncio.run(fill())
    assert caught.value.exit_code == 2
    ledger.close()
    kept = later.read_bytes()
    assert kept.count(b"\n") == 1
    for _ in range(2):
        ledger = open_ledger(url, unrecorded=later)
        assert ledger.run_totals("full").searches_billed == 1
        assert ledger.question_billed("full", "q1") == 1
        assert later.read_bytes() == b""
        ledger.close()
        later.write_bytes(kept + b'{"owner": {"ru')  # as if killed before it was emptied

    async def again(provider: Provider) -> None:
        assert (await provider.search("A", sample=1)).cached

    run(url, again)


def test_a_kept_search_comes_into_a_ledger_that_was_made_anew(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its books are empty, not even the query is known: the search is counted, and its answer serves. A line that is
    no search, and one that was cut off and written on, keep nothing from starting."""
    later = tmp_path / "later.jsonl"
    caps = Caps(per_trajectory=8, per_question=2, total=None)
    later.write_bytes(b'{"owner": 3}\n{"owner": {"ru')
    for query, fetched in (("A b", hits("x")), ("empty", hits())):
        request = Request.of(owner(), f"call {query}", 0, query, "serper", {"num": 8}, caps, True)
        unrecorded.keep(later, request, fetched)

    async def work(provider: Provider) -> None:
        assert provider.ledger.question_billed("full", "q1") == 2
        assert later.read_bytes() == b""
        found = await provider.search("a  B", sample=1, caps=caps)
        assert (found.payload, found.cached) == (hits("x").payload, True)
        assert (await provider.search("empty", sample=1, caps=caps)).scope == "question", "one empty answer is doubted"
        assert provider.asked == 0

    run(url, work, unrecorded=later)
    assert sum("is no search" in message for message in caplog.messages) == 2


def test_a_database_that_goes_away_is_a_resumable_stop(cluster: str) -> None:
    """All connections are cut: the transaction under way fails, the next ones find a new connection."""
    from sqlalchemy import create_engine, text

    url = fresh_database(cluster, "cut")
    engine = create_engine(cluster, isolation_level="AUTOCOMMIT")

    def cut() -> None:
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cut'"))

    async def work(provider: Provider) -> None:
        async def fetch(_door: Door) -> Fetched:
            cut()
            return hits("paid")

        found = await provider.ledger.search(
            owner(), "a", call_id="call_0_0", made=0, caps=WIDE, backend="serper", params={"num": 8}, fetch=fetch
        )
        assert found.billed == 1
        assert provider.ledger.question_billed("full", "q1") == 1, "written down after a new connection was made"
        cut()
        with pytest.raises(Stopped, match="ledger_unavailable") as caught:
            provider.ledger.run_totals("full")
        assert caught.value.exit_code == 2
        assert (await provider.search("A", sample=1)).cached

    run(url, work)
    engine.dispose()


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    from sqlalchemy import text

    url = sqlite_url(tmp_path)
    ledger = open_ledger(url)
    with ledger._store.write() as connection:
        connection.execute(text("UPDATE about SET version = 99"))
    ledger.close()
    with pytest.raises(LedgerError, match="schema version 99"):
        open_ledger(url)


def test_settings_come_from_the_configuration() -> None:
    from tir_distill.config import load

    config = load()
    assert LedgerSettings.from_config(config) == replace(
        LedgerSettings(),
        usd_per_search=0.001,
        cache_max_age_s=90 * 86_400.0,
        unrecorded=Path("results/state/unrecorded_searches.jsonl"),
    )
    config["search"]["results"] = 11
    assert LedgerSettings.from_config(config).usd_held_per_search == 0.002, "more than ten results take two credits"
    assert ledger_url(config, Path("/x")) == "sqlite:////x/results/state/ledger.sqlite"
    assert Caps.from_config(config, "image_search") == Caps(8, 24, None)
    assert Caps.from_config(config, "text_search") == Caps(20, 50, None)
    assert ledger_url({**config, "ledger": {"url": "postgresql+psycopg://h/d"}}) == "postgresql+psycopg://h/d"
