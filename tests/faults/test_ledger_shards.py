"""Eight shard processes of 64 conversations each on one ledger, over real HTTP (issue 5, 'Must show' 1)."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger_helpers import (
    PROCESSES,
    WIDE,
    fresh_database,
    mock_serper,
    most_in_window,
    open_ledger,
    postgres_cluster,
    run_shards,
    sqlite_url,
)
from tir_distill.ledger import Caps

SHARDS, CONVERSATIONS = 8, 64


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with postgres_cluster() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return fresh_database(request.getfixturevalue("cluster"), "shards")


def added(reports: dict[int, dict[str, Any]]) -> Counter[str]:
    """The counts of all shards."""
    total: Counter[str] = Counter()
    for report in reports.values():
        total.update({name: value for name, value in report.items() if isinstance(value, int)})
    return total


def plans(queries: list[str], turns: int, seed: int) -> list[list[list[str]]]:
    """Which queries each conversation of each shard asks; all of them are asked by someone."""
    draw = random.Random(seed)
    asked = [draw.choice(queries) for _ in range(SHARDS * CONVERSATIONS * turns - len(queries))] + queries
    draw.shuffle(asked)
    rows = [asked[start : start + turns] for start in range(0, len(asked), turns)]
    return [rows[start : start + CONVERSATIONS] for start in range(0, len(rows), CONVERSATIONS)]


@pytest.mark.slow
def test_each_distinct_query_is_paid_once(url: str) -> None:
    queries = [f"Query {number}" for number in range(200)]
    spelt = plans(queries, turns=2, seed=1)
    spelt = [[[q.upper() if i % 2 else f"  {q} " for i, q in enumerate(row)] for row in plan] for plan in spelt]
    with mock_serper(latency_s=0.05) as serper:
        reports = run_shards(url, serper.url, spelt)
    asked = Counter(" ".join(query.lower().split()) for query in serper.answered)
    assert set(asked.values()) == {1}
    assert len(asked) == 200
    total = added(reports)
    assert total["ok"] == SHARDS * CONVERSATIONS * 2
    assert total["billed"] == 200
    assert total["cached"] == total["ok"] - 200
    ledger = open_ledger(url)
    totals = ledger.run_totals("full")
    assert (totals.searches_billed, totals.cache_hits) == (200, SHARDS * CONVERSATIONS * 2 - 200)
    ledger.close()


@pytest.mark.slow
def test_no_cap_is_exceeded_by_one(url: str) -> None:
    """All 512 conversations share one question: 24 searches may be paid, and each trajectory may call 8 times."""
    mine = [[[f"{shard} {number} {turn}" for turn in range(3)] for number in range(16)] for shard in range(SHARDS)]
    with mock_serper(latency_s=0.02) as serper:
        reports = run_shards(
            url, serper.url, mine, question="only", caps=Caps(per_trajectory=8, per_question=24, total=None)
        )
        assert len(serper.answered) == 24
        caps = added(reports)
        assert caps["cap_question"] == SHARDS * 16 * 3 - 24
        more = [[[f"other {shard} {number}"] for number in range(CONVERSATIONS)] for shard in range(SHARDS)]
        run_shards(url, serper.url, more, caps=Caps(per_trajectory=8, per_question=24, total=100))
        assert len(serper.asked) == len(serper.answered) == 100
    ledger = open_ledger(url)
    flag = ledger.stopped()
    assert flag is not None
    assert flag.reason == "budget_searches"
    ledger.close()


def assert_rate_holds(arrived: list[float]) -> None:
    """RULINGS of the rate at 8 a second, by the kernel's clock at the provider: no more than 9 in any second, and none
    but one too many over any longer time."""
    assert most_in_window(arrived, 1.0) <= 9
    for seconds in range(10, 1 + int(max(arrived) - min(arrived))):
        assert most_in_window(arrived, float(seconds)) <= 8 * seconds + 1, seconds


def endless(sizes: list[int]) -> list[list[list[str]]]:
    """Shards of so many conversations, each with more queries than will be asked."""
    return [
        [[f"{shard} {number} {turn}" for turn in range(200)] for number in range(size)]
        for shard, size in enumerate(sizes)
    ]


@pytest.mark.slow
def test_rate_holds_at_the_door_and_no_shard_starves(url: str) -> None:
    """8 a second for the whole run (RULINGS 25), also where one shard has sixteen times the conversations."""
    enough, together = PROCESSES.Event(), PROCESSES.Barrier(SHARDS)
    with mock_serper(latency_s=0.05, enough=(104, enough)) as serper:
        reports = run_shards(
            url, serper.url, endless([4] * 7 + [64]), qps=8.0, enough=enough, together=together, caps=WIDE
        )
    arrived = [moment for moment, _ in serper.asked]
    shares = Counter(int(query.split()[0]) for _, query in serper.asked)
    fair = len(arrived) / SHARDS
    print(
        f"\n{url.split(':')[0]}: shares {sorted(shares.values())}, fair {fair:.1f}, "
        f"rate {(len(arrived) - 1) / (max(arrived) - min(arrived)):.2f}/s, most in one second "
        f"{most_in_window(arrived, 1.0)}, missed slots {sum(report['missed_slots'] for report in reports.values())}"
    )
    assert_rate_holds(arrived)
    assert min(shares[shard] for shard in range(SHARDS)) >= fair / 2


@pytest.mark.slow
def test_processes_that_stood_still_send_no_burst_when_they_wake(url: str) -> None:
    """Half of the shards are suspended for a second and a half, again and again, wherever they are just then."""
    enough = PROCESSES.Event()
    with mock_serper(latency_s=0.05, enough=(80, enough)) as serper:

        def suspend(workers: list[Any]) -> None:
            while not enough.wait(0.7):
                for worker in workers[:4]:
                    os.kill(worker.pid, signal.SIGSTOP)
                enough.wait(1.5)
                for worker in workers[:4]:
                    os.kill(worker.pid, signal.SIGCONT)

        reports = run_shards(url, serper.url, endless([16] * SHARDS), qps=8.0, enough=enough, meanwhile=suspend)
    arrived = [moment for moment, _ in serper.asked]
    missed = sum(report["missed_slots"] for report in reports.values())
    print(f"\n{url.split(':')[0]}: most in one second {most_in_window(arrived, 1.0)}, missed slots {missed}")
    assert missed > 0, "nobody was ever caught with a slot in hand"
    assert_rate_holds(arrived)
