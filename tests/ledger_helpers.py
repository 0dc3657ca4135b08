"""Shared by the ledger's and the search tool's tests: a mock Serper, a throwaway PostgreSQL, worker processes."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import multiprocessing
import os
import pwd
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tir_distill.ledger import Caps, Fetched, Ledger, LedgerSettings, Owner
from tir_distill.tools.backends.serper import SerperBackend
from tir_distill.tools.search import SearchTool
from tir_distill.tools.search_settings import SearchSettings

PROCESSES = multiprocessing.get_context("forkserver")
"""Shards start from one process that has imported everything: eight full starts would take longer than the tests."""
PROCESSES.set_forkserver_preload(["ledger_helpers"])
WIDE = Caps(per_trajectory=10_000, per_question=10_000, total=None)


def owner(question: str = "q1", sample: int = 0, run: str = "full", task_type: str = "image_search") -> Owner:
    return Owner(run=run, bucket="b", question_id=question, sample=sample, task_type=task_type)


def sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'state' / 'ledger.sqlite'}"


def open_ledger(url: str, *, run: str = "full", **settings: Any) -> Ledger:
    return Ledger.open(url, run=run, settings=LedgerSettings(**{"qps": 1000.0, **settings}))


def hits(*names: str) -> Fetched:
    """An answer with one result per name."""
    rows = [{"title": name, "url": f"https://example.org/{name}", "snippet": f"about {name}"} for name in names]
    return Fetched(payload={"results": rows}, doubtful=not rows)


# ---- mock Serper ----------------------------------------------------------------------------------------------------

SO_TIMESTAMPNS = 35
"""Linux: let the kernel say when a segment came in. The mock shares its processors with what it watches; by its own
clock, requests that came in while it was waiting for one would seem to have come together."""


async def receive(connection: socket.socket) -> tuple[float, bytes]:
    """What has come in, and when the kernel saw it (seconds since the epoch). Raises ConnectionError at the end."""
    loop = asyncio.get_running_loop()
    while True:
        readable = asyncio.Event()
        loop.add_reader(connection, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(connection)
        try:
            data, ancillary, _, _ = connection.recvmsg(65536, 256)
        except BlockingIOError:
            continue
        if not data:
            raise ConnectionError("closed")
        stamps = [struct.unpack("qq", raw[:16]) for _, kind, raw in ancillary if kind == SO_TIMESTAMPNS]
        return (stamps[-1][0] + stamps[-1][1] / 1e9 if stamps else time.time()), data


@dataclass
class MockSerper:
    """Serper over real HTTP, in a thread: remembers when each query was asked, and can misbehave."""

    latency_s: float = 0.0
    credits: int | None = None
    """Answers left before "Not enough credits"; None: no end."""
    no_credits_status: int = 400
    faults: list[tuple[int, str, bytes, dict[str, str]]] = field(default_factory=list)
    """Answers to give first: status, content type, body, headers."""
    keys: set[str] = field(default_factory=set)
    asked: list[tuple[float, str]] = field(default_factory=list)
    """Arrival time by the kernel, and query, of every request."""
    answered: list[str] = field(default_factory=list)
    """Queries that were answered, hence billed."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    enough: tuple[int, Any] | None = None
    """Set this event after so many requests."""
    url: str = ""

    def counts(self) -> Counter[str]:
        return Counter(self.answered)

    def reply(self, query: str) -> tuple[int, str, bytes, dict[str, str]]:
        """What the next request gets."""
        if self.faults:
            return self.faults.pop(0)
        if self.credits is not None:
            if self.credits <= 0:
                body = json.dumps({"message": "Not enough credits", "statusCode": self.no_credits_status}).encode()
                return self.no_credits_status, "application/json", body, {}
            self.credits -= 1
        self.answered.append(query)
        organic = [
            {"title": f"On {query}", "link": f"https://example.org/{zlib.crc32(query.encode())}", "snippet": query}
        ]
        body = json.dumps({"searchParameters": {"q": query}, "organic": organic, "credits": 1}).encode()
        return 200, "application/json", body, {}

    async def handle(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with connection, contextlib.suppress(ConnectionError):
            while True:
                arrived, received = await receive(connection)
                while received and b"\r\n\r\n" not in received:
                    received += (await receive(connection))[1]
                head, _, body = received.partition(b"\r\n\r\n")
                fields = {
                    name.strip().lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
                }
                if not head:
                    return
                while len(body) < int(fields.get("content-length", 0)):
                    body += (await receive(connection))[1]
                sent = json.loads(body)
                self.keys.add(fields.get("x-api-key", ""))
                self.asked.append((arrived, sent["q"]))
                self.bodies.append(sent)
                if self.enough is not None and len(self.asked) == self.enough[0]:
                    self.enough[1].set()
                status, kind, data, headers = self.reply(sent["q"])
                if self.latency_s:
                    await asyncio.sleep(self.latency_s)
                extra = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
                lines = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{extra}\r\n"
                await loop.sock_sendall(connection, lines.encode() + data)


@contextlib.contextmanager
def mock_serper(**options: Any) -> Iterator[MockSerper]:
    """A running mock; its ``url`` is ready to use."""
    mock = MockSerper(**options)
    loop = asyncio.new_event_loop()
    started = threading.Event()
    stop = asyncio.Event()

    async def accept(server: socket.socket, tasks: set[asyncio.Task[None]]) -> None:
        while True:
            connection, _ = await loop.sock_accept(server)
            connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            connection.setblocking(False)
            tasks.add(loop.create_task(mock.handle(connection)))

    async def serve() -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as server:
            server.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            server.setblocking(False)
            mock.url = f"http://127.0.0.1:{server.getsockname()[1]}/search"
            started.set()
            tasks: set[asyncio.Task[None]] = set()
            tasks.add(loop.create_task(accept(server, tasks)))
            await stop.wait()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield mock
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


def serper_tool(
    ledger: Ledger, url: str, *, key: str = "test-key-0001", caps: Caps = WIDE, **options: Any
) -> SearchTool:
    """The search tool over a mock."""
    kinds = ("image_search", "text_search", "image_reasoning")
    settings = SearchSettings(caps=dict.fromkeys(kinds, caps), first_wait_s=0.01, timeout_s=10.0, **options)
    return SearchTool(ledger, settings, SerperBackend(settings, url=url, key=key))


# ---- PostgreSQL -----------------------------------------------------------------------------------------------------


def _postgres_bin() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@contextlib.contextmanager
def postgres_cluster() -> Iterator[str]:
    """URL of an empty database in a cluster of its own, on a free local port. Skips where that cannot be had."""
    binaries = _postgres_bin()
    if binaries is None:
        pytest.skip("no PostgreSQL server binaries under /usr/lib/postgresql")
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed (envs/optional-postgres.txt)")
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            account = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("running as root, and there is no user 'postgres' to run the server as")
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    folder = Path(tempfile.mkdtemp(prefix="tir-pg-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    try:
        if user:
            shutil.chown(folder, "postgres", "postgres")
        data = str(folder / "data")
        common: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL, **user}
        subprocess.run(
            [binaries / "initdb", "-D", data, "-A", "trust", "-U", "tir", "-E", "UTF8", "--no-sync"],
            check=True,
            capture_output=True,
            **common,
        )
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=200"
        subprocess.run(
            [binaries / "pg_ctl", "-D", data, "-o", options, "-w", "-l", str(folder / "log"), "start"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **common,
        )
        try:
            yield f"postgresql+psycopg://tir@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run(
                [binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                **common,
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fresh_database(url: str, name: str) -> str:
    """A new, empty database in the cluster."""
    from sqlalchemy import create_engine, text

    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    return url.rsplit("/", 1)[0] + f"/{name}"


# ---- worker processes -----------------------------------------------------------------------------------------------


def hammer(
    url: str, serper: str, shard: int, conversations: int, plan: list[list[str]], options: dict[str, Any], out: Any
) -> None:
    """One shard process: each conversation searches its queries one after another. Puts a report on ``out``."""

    async def main() -> dict[str, Any]:
        caps = options.get("caps", WIDE)
        ledger = open_ledger(url, qps=options.get("qps", 1000.0), lease_s=options.get("lease_s", 30.0))
        tool = serper_tool(ledger, serper, caps=caps)
        report: Counter[str] = Counter()
        if "together" in options:
            await asyncio.to_thread(options["together"].wait, 200)

        async def conversation(number: int) -> None:
            from tir_distill.records import Stopped, ToolCall

            who = owner(options.get("question") or f"s{shard}q{number // 4}", sample=shard * 1000 + number)
            made = 0
            for turn, query in enumerate(plan[number]):
                call = ToolCall(id=f"call_{turn}_0", name="search", arguments=json.dumps({"query": query}))
                try:
                    result = await tool.call(who, call, made=made)
                except Stopped as stop:
                    report[f"stopped_{stop.reason}"] += 1
                    return
                report[f"cap_{result.meta['cap']}" if "cap" in result.meta else result.status] += 1
                made += "cap" not in result.meta
                report["billed"] += result.meta["billed"]
                report["cached"] += int(result.meta["cached"])

        work = asyncio.gather(*(conversation(number) for number in range(conversations)))
        if "enough" in options:
            await asyncio.to_thread(options["enough"].wait, 200)
            work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
        await tool.close()
        answer = dict(report) | {"missed_slots": ledger.missed_slots()}
        ledger.close()
        return answer

    out.put((shard, asyncio.run(main())))


def run_shards(
    url: str,
    serper: str,
    plans: list[list[list[str]]],
    *,
    meanwhile: Callable[[list[Any]], None] | None = None,
    **options: Any,
) -> dict[int, dict[str, Any]]:
    """One process per plan (a list of queries for each of its conversations); returns their reports.

    ``together``: a barrier at which they wait for each other; ``enough``: an event that ends their work;
    ``meanwhile``: called with the processes.
    """
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # for the preloading process
    out = PROCESSES.Queue()
    workers = [
        PROCESSES.Process(target=hammer, args=(url, serper, shard, len(plan), plan, options, out))
        for shard, plan in enumerate(plans)
    ]
    for worker in workers:
        worker.start()
    if meanwhile is not None:
        meanwhile(workers)
    reports = dict(out.get(timeout=240) for _ in workers)
    for worker in workers:
        worker.join(30)
        assert worker.exitcode == 0
    return reports


def most_in_window(times: list[float], seconds: float) -> int:
    """The most events in any sliding window of this length, both ends included."""
    times = sorted(times)
    start, most = 0, 0
    for end, moment in enumerate(times):
        while moment - times[start] > seconds:
            start += 1
        most = max(most, end - start + 1)
    return most


Fetch = Callable[[], Awaitable[Fetched]]
