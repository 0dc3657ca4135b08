"""SIGKILL, empty accounts and bad answers (issue 5, 'Must show' 2 and 3; fault classes C and B)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ledger_helpers import (
    PROCESSES,
    hits,
    mock_serper,
    open_ledger,
    owner,
    run_shards,
    serper_tool,
    sqlite_url,
)
from tir_distill.ledger import Caps, Door, Fetched, Ledger, SearchFault
from tir_distill.records import Stopped, ToolCall, ToolResult

CAPS = Caps(per_trajectory=8, per_question=3, total=3)


def ask(ledger: Ledger, query: str, fetch: Any, call_id: str = "call_0_0", caps: Caps = CAPS, **who: Any) -> Any:
    return ledger.search(
        owner(**who), query, call_id=call_id, made=0, caps=caps, backend="serper", params={"num": 8}, fetch=fetch
    )


def hold_for_ever(url: str, ready: Any) -> None:
    """Take three leases, hence the whole budget, and a token hold; never let go."""

    async def main() -> None:
        ledger = open_ledger(url, max_tokens_total=100)
        ledger.reserve_tokens("full", 100)
        taken = 0

        async def never(_door: Door) -> Fetched:
            nonlocal taken
            taken += 1
            if taken == 3:
                ready.set()
            await asyncio.sleep(3600)
            raise AssertionError("the process should have been killed")

        await asyncio.gather(*(ask(ledger, f"held {n}", never, call_id=f"call_{n}_0", sample=n) for n in range(3)))

    asyncio.run(main())


def test_what_a_killed_process_held_returns_at_once(tmp_path: Path) -> None:
    """Nothing is stuck and no budget is lost: the same three queries can be paid for, and all three are."""
    url = sqlite_url(tmp_path)
    ready = PROCESSES.Event()
    victim = PROCESSES.Process(target=hold_for_ever, args=(url, ready))
    victim.start()
    assert ready.wait(60)
    bystander = open_ledger(url, max_tokens_total=100)  # opened before the death: must notice it while waiting
    with pytest.raises(Stopped):
        bystander.reserve_tokens("full", 1)
    bystander.clear_stop()

    async def good(_door: Door) -> Fetched:
        return hits("found")

    async def after_the_kill() -> list[Any]:
        waiting = [
            asyncio.ensure_future(ask(bystander, f"held {n}", good, call_id=f"call_{n}_0", sample=n)) for n in range(3)
        ]
        await asyncio.sleep(0.3)
        assert not any(task.done() for task in waiting)
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)
        victim.join(10)
        return list(await asyncio.wait_for(asyncio.gather(*waiting), 20))

    start = time.monotonic()
    outcomes = asyncio.run(after_the_kill())
    assert time.monotonic() - start < 15, "well before the lease of 30 s ends"
    assert [(o.kind, o.billed) for o in outcomes] == [("answer", 1)] * 3
    assert bystander.question_billed("full", "q1") == 3
    bystander.settle_tokens("full", bystander.reserve_tokens("full", 100), 60)
    assert bystander.run_totals("full").tokens == 60
    bystander.close()


def test_a_lease_of_another_machine_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = sqlite_url(tmp_path)
    monkeypatch.setattr("tir_distill.ledger.ledger.new_holder", lambda: "elsewhere/1/1/a")
    silent = open_ledger(url, lease_s=0.5)
    silent._beat = lambda: None  # type: ignore[method-assign]  # it shows no sign of life
    monkeypatch.setattr("tir_distill.ledger.ledger.new_holder", lambda: "here/2/2/b")
    other = open_ledger(url, lease_s=0.5)

    async def both() -> tuple[Any, Any]:
        release = asyncio.Event()

        async def slow(_door: Door) -> Fetched:
            await release.wait()
            return hits("late")

        async def good(_door: Door) -> Fetched:
            return hits("good")

        first = asyncio.ensure_future(ask(silent, "a", slow))
        await asyncio.sleep(0.1)
        second = await asyncio.wait_for(ask(other, "a", good, sample=1), 5)
        release.set()
        return await first, second

    first, second = asyncio.run(both())
    assert (first.billed, second.billed) == (1, 1), "both went out and both are counted"
    assert other.question_billed("full", "q1") == 2
    silent.close()
    other.close()


def test_signs_of_life_keep_a_lease(tmp_path: Path) -> None:
    url = sqlite_url(tmp_path)
    ledger, other = open_ledger(url, lease_s=0.6), open_ledger(url, lease_s=0.6)

    async def both() -> list[Any]:
        async def slow(_door: Door) -> Fetched:
            await asyncio.sleep(2.0)
            return hits("slow")

        async def never(_door: Door) -> Fetched:
            raise AssertionError("the answer was on its way")

        first = asyncio.ensure_future(ask(ledger, "a", slow))
        await asyncio.sleep(0.1)
        return list(await asyncio.gather(first, ask(other, "a", never, sample=1)))

    first, second = asyncio.run(both())
    assert (first.billed, second.billed, second.cached) == (1, 0, True)
    ledger.close()
    other.close()


def test_a_clock_that_jumps_takes_no_lease_from_the_living(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the second process's clock, all leases of the first one (on another machine) ended long ago; but they move."""
    url = sqlite_url(tmp_path)
    monkeypatch.setattr("tir_distill.ledger.ledger.new_holder", lambda: "elsewhere/1/1/a")
    ledger = open_ledger(url, lease_s=3.0)
    monkeypatch.setattr("tir_distill.ledger.ledger.new_holder", lambda: "here/2/2/b")
    other = open_ledger(url, lease_s=3.0)
    right = other._store.now
    monkeypatch.setattr(other._store, "now", lambda connection: right(connection) + 100_000.0)

    async def both() -> list[Any]:
        async def slow(_door: Door) -> Fetched:
            await asyncio.sleep(5.0)
            return hits("slow")

        async def never(_door: Door) -> Fetched:
            raise AssertionError("the answer was on its way")

        first = asyncio.ensure_future(ask(ledger, "a", slow))
        await asyncio.sleep(0.1)
        return list(await asyncio.gather(first, ask(other, "a", never, sample=1)))

    first, second = asyncio.run(both())
    assert (first.billed, second.billed, second.cached) == (1, 0, True)
    ledger.close()
    other.close()


@pytest.mark.slow
def test_killed_shards_lose_no_budget_and_pay_nothing_twice(tmp_path: Path) -> None:
    """Four shards are killed in mid-air, three times; then the work is done. Only what was under way is paid again."""
    url = sqlite_url(tmp_path)
    plan = [[[f"{shard} {number} {turn}" for turn in range(4)] for number in range(8)] for shard in range(4)]
    from ledger_helpers import hammer

    with mock_serper(latency_s=0.1) as serper:
        for _ in range(3):
            out = PROCESSES.Queue()
            workers = [
                PROCESSES.Process(target=hammer, args=(url, serper.url, shard, 8, plan[shard], {"qps": 40.0}, out))
                for shard in range(4)
            ]
            before = len(serper.answered)
            for worker in workers:
                worker.start()
            deadline = time.monotonic() + 60
            while len(serper.answered) < before + 12 and time.monotonic() < deadline:
                time.sleep(0.02)
            for worker in workers:
                worker.kill()
                worker.join()
        reports = run_shards(url, serper.url, plan)
    assert sum(report["ok"] for report in reports.values()) == 4 * 8 * 4
    counts = serper.counts()
    assert len(counts) == 4 * 8 * 4
    assert sum(counts.values()) - len(counts) <= 3 * 4 * 8, "at most one per conversation and kill"
    ledger = open_ledger(url)
    assert ledger.run_totals("full").searches_billed == len(counts), "an answer that nobody received is not counted"
    ledger.close()


# ---- the account is empty -------------------------------------------------------------------------------------------


@dataclass
class Doorway:
    """Counts who passes the door of a ledger, and how many had passed when the stop was written down."""

    passed: int = 0
    at_stop: int | None = None

    def watch(self, ledger: Ledger) -> None:
        pace, stop = ledger.pace, ledger.stop

        async def counted(name: str, key: str | None = None) -> None:
            await pace(name, key)
            self.passed += 1

        def noted(reason: str, detail: str) -> None:
            stop(reason, detail)
            self.at_stop = self.passed if self.at_stop is None else self.at_stop

        ledger.pace, ledger.stop = counted, noted  # type: ignore[method-assign]


def questions_answered(
    url: str, serper: str, done: dict[str, str], count: int = 256, doorway: Doorway | None = None
) -> tuple[int, set[str]]:
    """A run of one-search questions at full concurrency; the finished ones are added to ``done``."""

    async def main() -> tuple[int, set[str]]:
        ledger = open_ledger(url, qps=400.0)
        if doorway is not None:
            doorway.watch(ledger)
        tool = serper_tool(ledger, serper)
        reasons: set[str] = set()

        async def question(number: int) -> None:
            name = f"q{number}"
            try:
                call = ToolCall(id="call_0_0", name="search", arguments=json.dumps({"query": f"about {name}"}))
                result = await tool.call(owner(name), call, made=0)
            except Stopped as stop:
                reasons.add(stop.reason)
                return
            assert result.status == "ok"
            done[name] = result.content

        await asyncio.gather(*(question(n) for n in range(count) if f"q{n}" not in done))
        billed = ledger.run_totals("full").searches_billed
        await tool.close()
        ledger.close()
        return billed, reasons

    return asyncio.run(main())


@pytest.mark.parametrize("status", [400, 402, 403, 200])
def test_credits_run_out_at_concurrency_256_and_are_refilled(tmp_path: Path, status: int) -> None:
    """Every form in which the provider says it. After the stop is written down not one request goes out: the provider
    sees those that were answered and those that were under way at that moment, and none more."""
    url = sqlite_url(tmp_path)
    done: dict[str, str] = {}
    doorway = Doorway()
    with mock_serper(credits=60, latency_s=0.05, no_credits_status=status) as serper:
        billed, reasons = questions_answered(url, serper.url, done, doorway=doorway)
        assert reasons == {"credits_exhausted"}
        assert billed == len(done) == 60
        assert doorway.at_stop is not None
        assert 60 < len(serper.asked) < 256
        assert len(serper.asked) == doorway.passed == doorway.at_stop

        sent = len(serper.asked)
        billed, reasons = questions_answered(url, serper.url, done)
        assert (billed, reasons, len(serper.asked) - sent) == (60, {"credits_exhausted"}, 0), "the flag stands"

        serper.credits = None
        ledger = open_ledger(url)
        ledger.clear_stop()
        ledger.close()
        billed, reasons = questions_answered(url, serper.url, done)
        assert (billed, reasons, len(done)) == (256, set(), 256)
        assert set(serper.counts().values()) == {1}

    with mock_serper() as rich:
        whole: dict[str, str] = {}
        questions_answered(sqlite_url(tmp_path / "rich"), rich.url, whole)
    assert whole == done


@pytest.mark.slow
def test_credits_run_out_under_four_shards(tmp_path: Path) -> None:
    """By the kernel's clock at the provider: after the stop stands in the ledger, only a request that had passed the
    door of its process just before may still come in, which is one for each of the other shards at the very most."""
    url, credits = sqlite_url(tmp_path), 50
    with mock_serper(credits=credits, latency_s=0.2) as serper:
        plan = [[[f"{shard} {number}"] for number in range(64)] for shard in range(4)]
        reports = run_shards(url, serper.url, plan, qps=100.0)
    ledger = open_ledger(url)
    flag = ledger.stopped()
    assert flag is not None
    assert ledger.run_totals("full").searches_billed == credits
    ledger.close()
    assert sum(report.get("stopped_credits_exhausted", 0) for report in reports.values()) == 4 * 64 - credits
    late = sum(moment > flag.at for moment, _ in serper.asked)
    print(f"\n{len(serper.asked)} requests for {credits} credits, {late} of them after the stop")
    assert late <= 3


# ---- bad answers ----------------------------------------------------------------------------------------------------


def one_call(tmp_path: Path, serper: Any, query: str = "a", **options: Any) -> tuple[ToolResult, Any]:
    async def main() -> tuple[ToolResult, Any]:
        ledger = open_ledger(sqlite_url(tmp_path))
        tool = serper_tool(ledger, serper.url, **options)
        call = ToolCall(id="call_0_0", name="search", arguments=json.dumps({"query": query}))
        try:
            return await tool.call(owner(), call, made=0), ledger.run_totals("full")
        finally:
            await tool.close()
            ledger.close()

    return asyncio.run(main())


JSON, HTML = "application/json", "text/html"


@pytest.mark.parametrize(
    "fault",
    [
        (502, HTML, b"<html>Bad Gateway</html>", {}),
        (200, HTML, b"<html>Sign in</html>", {}),
        (200, JSON, b"", {}),
        (200, JSON, b'{"organic": [{"title": "cut o', {}),
        (200, JSON, b"{}", {}),
        (200, JSON, b'{"message": "Internal error"}', {}),
        (200, JSON, b"[]", {}),
        (429, JSON, b"{}", {"Retry-After": "0.05"}),
        (500, JSON, b"{}", {}),
    ],
)
def test_a_bad_answer_is_tried_again_and_never_kept(tmp_path: Path, fault: tuple[int, str, bytes, Any]) -> None:
    with mock_serper(faults=[fault]) as serper:
        result, totals = one_call(tmp_path, serper)
        assert result.status == "ok"
        assert "On a" in result.content
        assert len(serper.asked) == 2
        again, _ = one_call(tmp_path, serper)
        assert again.content == result.content
        assert len(serper.asked) == 2
    assert totals.searches_billed == 1


def test_a_query_about_credits_is_no_empty_account(tmp_path: Path) -> None:
    """The provider repeats the query in its answer, which here has no results, or is a refusal."""
    query = "what does 'not enough credits' mean"
    echo = json.dumps({"searchParameters": {"q": query}, "organic": []}).encode()
    refusal = json.dumps({"message": "Query pattern not allowed", "query": query}).encode()
    with mock_serper(faults=[(200, JSON, echo, {})]) as serper:
        assert one_call(tmp_path, serper, query)[0].content == "No results."
    with mock_serper(faults=[(400, JSON, refusal, {})]) as serper:
        assert one_call(tmp_path / "other", serper, query)[0].status == "model_error"
    empty = json.dumps({"message": "Not enough credits", "organic": []}).encode()
    with mock_serper(faults=[(200, JSON, empty, {})]) as serper, pytest.raises(Stopped, match="credits_exhausted"):
        one_call(tmp_path / "empty", serper, "plain")


def test_an_empty_answer_is_believed_only_when_it_comes_twice(tmp_path: Path) -> None:
    empty = (200, JSON, b'{"organic": [], "credits": 1}', {})

    def call(number: int, serper: Any, query: str) -> str:
        async def main() -> str:
            ledger = open_ledger(sqlite_url(tmp_path))
            tool = serper_tool(ledger, serper.url)
            call = ToolCall(id=f"call_{number}_0", name="search", arguments=json.dumps({"query": query}))
            result = await tool.call(owner(), call, made=0)
            await tool.close()
            ledger.close()
            return result.content

        return asyncio.run(main())

    with mock_serper(faults=[empty]) as serper:
        assert call(0, serper, "x") == "No results."
        assert "On x" in call(1, serper, "x"), "the first, empty answer was not kept"
        assert "On x" in call(2, serper, "x")
        assert len(serper.asked) == 2
    with mock_serper(faults=[empty, empty]) as serper:
        assert [call(n, serper, "y") for n in range(3, 7)] == ["No results."] * 4
        assert len(serper.asked) == 2


def test_a_dead_provider_is_an_infrastructure_fault_and_in_the_end_a_stop(tmp_path: Path) -> None:
    with mock_serper(faults=[(503, HTML, b"", {})] * 1000) as serper:
        result, totals = one_call(tmp_path, serper, attempts=3)
        assert result.status == "infrastructure"
        assert len(serper.asked) == 3
        assert totals.searches_billed == 0

        async def many() -> str:
            ledger = open_ledger(sqlite_url(tmp_path))
            tool = serper_tool(ledger, serper.url, attempts=2, faults_to_stop=5)
            for number in range(10):
                call = ToolCall(id=f"call_{number}_0", name="search", arguments=json.dumps({"query": str(number)}))
                try:
                    assert (await tool.call(owner(), call, made=0)).status == "infrastructure"
                except Stopped as stop:
                    await tool.close()
                    ledger.close()
                    return f"{stop.reason} {number}"
            return "never"

        assert asyncio.run(many()) == "endpoint_saturated 4"


def test_retry_after_is_kept(tmp_path: Path) -> None:
    """Fault class B 20: no request for that slot earlier than the server said."""
    with mock_serper(faults=[(429, JSON, b"{}", {"Retry-After": "1"})]) as serper:
        one_call(tmp_path, serper)
    first, second = (moment for moment, _ in serper.asked)
    assert second - first >= 1.0


def test_waiters_fail_with_the_search_they_waited_for(tmp_path: Path) -> None:
    async def main() -> tuple[int, int]:
        ledger = open_ledger(sqlite_url(tmp_path))
        tries = 0

        async def broken(_door: Door) -> Fetched:
            nonlocal tries
            tries += 1
            await asyncio.sleep(0.2)
            raise SearchFault("timeout", "no answer in time")

        results = await asyncio.gather(*(ask(ledger, "a", broken, sample=n) for n in range(20)), return_exceptions=True)
        ledger.close()
        return tries, sum(isinstance(result, SearchFault) for result in results)

    assert asyncio.run(main()) == (1, 20)


@pytest.mark.parametrize("status", [401, 403, 400, 402, 500, 502])
def test_the_key_is_nowhere(tmp_path: Path, status: int, caplog: pytest.LogCaptureFixture) -> None:
    """Fault class J 92, with a provider that echoes the key."""
    key = "sentinel-serper-key-0000"
    body = json.dumps({"message": f"Unauthorized key {key}"}).encode()
    with mock_serper(faults=[(status, JSON, body, {})] * 10) as serper:
        said, reason = "", ""
        try:
            result, _ = one_call(tmp_path, serper, key=key, attempts=2)
            said = repr(result)
        except Stopped as stop:
            said = f"{stop!r} {stop} {stop.detail}"
            reason = stop.reason
        assert reason == {401: "bad_key", 403: "bad_key", 402: "credits_exhausted"}.get(status, ""), status
        assert serper.keys == {key}
    assert key not in said
    assert key not in caplog.text
    for path in (tmp_path / "state").iterdir():
        assert key.encode() not in path.read_bytes()
