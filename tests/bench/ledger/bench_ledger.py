"""What the ledger costs, beside two ready-made limiters over SQLite. Figures only; nothing is asserted about them.

The other two are no part of the project and are compared when they can be imported. Put them into an environment of
their own, outside the project, and name its site-packages:

    python -m venv /tmp/limiters && /tmp/limiters/bin/pip install pyrate-limiter diskcache
    TIR_BENCH_PATH=$(echo /tmp/limiters/lib/python3*/site-packages) make bench
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger_helpers import PROCESSES, WIDE, hits, most_in_window, open_ledger, owner, sqlite_url
from tir_distill.ledger import rate, reservations
from tir_distill.ledger.reservations import Request, pack

SHARDS = 8
QPS = 8
SECONDS = 6.0


def extra_path() -> None:
    """Let the packages that are compared be imported, after everything of our own."""
    path = os.environ.get("TIR_BENCH_PATH")
    if path and path not in sys.path:
        sys.path.append(path)


def gather(target: Callable[..., None], *args: Any) -> list[Any]:
    """Run ``target(shard, *args, queue)`` in eight processes; returns what each puts on the queue."""
    os.environ["PYTHONPATH"] = os.pathsep.join([*(path for path in sys.path if path), str(Path(__file__).parent)])
    out = PROCESSES.Queue()
    workers = [PROCESSES.Process(target=target, args=(shard, *args, out)) for shard in range(SHARDS)]
    for worker in workers:
        worker.start()
    found = [out.get(timeout=240) for _ in workers]
    for worker in workers:
        worker.join()
    return found


# ---- reserve and settle ---------------------------------------------------------------------------------------------


def pairs(shard: int, url: str, count: int, gap_s: float, out: Any) -> None:
    """Reserve and settle ``count`` different searches; puts (milliseconds of each pair, CPU seconds)."""
    ledger = open_ledger(url)
    answer = hits(*(f"a result with a longer name {n}" for n in range(8)))
    packed, took = pack(answer.payload), []
    ledger._transact(lambda connection, now: None)
    used = time.process_time()
    for number in range(count):
        who = owner(f"s{shard}q{number // 20}", sample=number % 4)
        request = Request.of(who, f"call_{number // 4 % 5}_0", "a", f"{shard} {number}", "serper", {}, WIDE, True)
        time.sleep(gap_s)
        start = time.perf_counter()
        ledger._transact(
            lambda c, now, r=request: reservations.begin(c, now, ledger.settings, ledger._holder, r)  # type: ignore[misc]
        )
        ledger._transact(
            lambda c, now, r=request: reservations.settle(  # type: ignore[misc]
                c, now, ledger.settings, ledger._holder, r, answer, packed
            )
        )
        took.append((time.perf_counter() - start) * 1e3)
    out.put((took, time.process_time() - used))
    ledger.close()


@pytest.mark.parametrize("gap_s", [0.0, 0.02, 0.1])
def test_reserve_and_settle(tmp_path: Path, gap_s: float) -> None:
    count = 300 if gap_s == 0.0 else 100
    found = gather(pairs, sqlite_url(tmp_path), count, gap_s)
    took = sorted(value for values, _ in found for value in values)
    cpu = sum(used for _, used in found) / len(took) * 1e3  # of all processes, waiting for the lock included
    print(
        f"\nreserve+settle, {SHARDS} processes, {gap_s * 1e3:.0f} ms between: median {statistics.median(took):.2f} ms, "
        f"95 % {took[int(len(took) * 0.95)]:.2f} ms, longest {took[-1]:.0f} ms, CPU {cpu:.2f} ms a pair"
    )


# ---- rate -----------------------------------------------------------------------------------------------------------


def slots_of_ours(shard: int, place: str, start: float, out: Any) -> None:
    ledger = open_ledger(place)
    used, times = time.process_time(), []
    time.sleep(max(0.0, start - time.time()))
    while time.time() < start + SECONDS:
        slot = ledger._transact(lambda connection, now: rate.take_slot(connection, now, "full", "serper", QPS))
        assert isinstance(slot, rate.Slot)
        time.sleep(slot.wait_s)
        times.append(time.time())
    out.put((times, time.process_time() - used))
    ledger.close()


def slots_of_pyrate(shard: int, place: str, start: float, out: Any) -> None:
    extra_path()
    from pyrate_limiter import Duration, Limiter, Rate, SQLiteBucket  # type: ignore[import-not-found]

    bucket = SQLiteBucket.init_from_file(
        [Rate(QPS, Duration.SECOND)], db_path=place, use_file_lock=False
    )  # with it, the package fails on a current filelock
    limiter = Limiter(bucket)
    used, times = time.process_time(), []
    time.sleep(max(0.0, start - time.time()))
    while time.time() < start + SECONDS:
        if limiter.try_acquire("serper", blocking=False):
            times.append(time.time())
        else:
            time.sleep(0.02)
    out.put((times, time.process_time() - used))


def slots_of_diskcache(shard: int, place: str, start: float, out: Any) -> None:
    extra_path()
    import diskcache  # type: ignore[import-not-found]

    times: list[float] = []
    cache = diskcache.Cache(place)

    @diskcache.throttle(cache, QPS, 1, name="serper")  # type: ignore[untyped-decorator]
    def grant() -> None:
        times.append(time.time())

    used = time.process_time()
    time.sleep(max(0.0, start - time.time()))
    while time.time() < start + SECONDS:
        grant()
    out.put((times, time.process_time() - used))


LIMITERS = {"ours": slots_of_ours, "pyrate_limiter": slots_of_pyrate, "diskcache": slots_of_diskcache}


@pytest.mark.parametrize("name", LIMITERS)
def test_rate_beside_others(tmp_path: Path, name: str) -> None:
    extra_path()
    if name != "ours" and importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed; see the top of this file")
    place = sqlite_url(tmp_path) if name == "ours" else str(tmp_path / name)
    found = gather(LIMITERS[name], place, time.time() + 4.0)
    times = [moment for moments, _ in found for moment in moments]
    shares = sorted(len(moments) for moments, _ in found)
    print(
        f"\n{name}: {len(times)} grants in {SECONDS:.0f} s at {QPS}/s (ideal {QPS * SECONDS:.0f}), at most "
        f"{most_in_window(times, 1.0)} in one second, shares {shares[0]} to {shares[-1]}, "
        f"CPU {sum(used for _, used in found):.2f} s"
    )
