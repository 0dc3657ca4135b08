"""Shared cases by number: A 10, 11 and 17 (restarts), B 25 (HTML from judge and search), J 88 and 89 (memory)."""

from __future__ import annotations

import asyncio
import os
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from rollout_helpers import (
    FAST,
    Asked,
    FakeTeacher,
    StubBooks,
    StubStop,
    call,
    completion,
    essence,
    job_for,
    lines,
    question,
    run,
    settings,
    stub_rooms,
    teacher,
)
from tir_distill.filters import StatsBuilder
from tir_distill.records import Stopped, Trajectory
from tir_distill.rollout import Journal, sample_shard
from tir_distill.rollout.assemble import run_shard
from tir_distill.rollout.prepare import Pictures

QUESTIONS = [question(i) for i in range(40)]


def stats_of(folder: Path) -> dict[str, Any]:
    """Statistics of a finished shard, as the export makes them from its two files."""
    builder = StatsBuilder()
    for row in lines(folder / "t.jsonl"):
        builder.add(Trajectory.from_dict(row))
    builder.add_questions(lines(folder / "q.jsonl"))
    return builder.result()


def into(folder: Path) -> dict[str, Any]:
    return {"run_dir": folder, "trajectories": folder / "t.jsonl", "questions_out": folder / "q.jsonl"}


class StopsAfter:
    """The fake teacher's script, which raises the run's stop flag after so many replies."""

    def __init__(self, script: Any, books: StubBooks, replies: int) -> None:
        self.script, self.books, self.left = script, books, replies

    def __call__(self, asked: Asked) -> Mapping[str, Any]:
        self.left -= 1
        if self.left <= 0:
            self.books.flag = StubStop("operator", "enough")
        reply: Mapping[str, Any] = self.script(asked)
        return reply


def accepted_in_journal(folder: Path) -> int:
    """Questions with an accepted sample, read from the journal as a new start would."""
    (path,) = (folder / "state" / "journal").rglob("*.jsonl")
    journal = Journal(path)
    try:
        return len({e["q"] for _, _, e in journal.events() if e["e"] == "sample" and e["accepted"]})
    finally:
        journal.close()


def test_10_and_17_a_run_stopped_again_and_again_ends_with_the_figures_of_one_that_never_was(tmp_path: Path) -> None:
    """Accepted questions only ever grow; statistics are those of the whole run and not of its last start."""
    config = settings(engine={"concurrency": 4, "grace_seconds": 0.0})
    with teacher() as server:
        run(tmp_path / "calm", QUESTIONS, server, config, job=into(tmp_path / "calm"))
        accepted, starts, script = [0], 0, server.script
        while starts < 60:
            starts += 1
            books = StubBooks()
            server.script = StopsAfter(script, books, 40)
            try:
                run(tmp_path / "cut", QUESTIONS, server, config, job=into(tmp_path / "cut"), books=books)
            except Stopped:
                accepted.append(accepted_in_journal(tmp_path / "cut"))
            else:
                break
    assert starts > 3
    assert accepted == sorted(accepted)
    assert stats_of(tmp_path / "cut") == stats_of(tmp_path / "calm")
    assert essence(tmp_path / "cut" / "t.jsonl") == essence(tmp_path / "calm" / "t.jsonl")


def test_11_a_restart_at_half_way_ends_by_itself(tmp_path: Path) -> None:
    config = settings(engine={"concurrency": 4, "grace_seconds": 0.0})
    books = StubBooks()
    with teacher() as server:
        script = server.script
        server.script = StopsAfter(script, books, 60)
        with pytest.raises(Stopped):
            run(tmp_path, QUESTIONS, server, config, books=books)
        server.script = script

        async def again() -> None:
            async with stub_rooms(config, server.url) as rooms:
                await asyncio.wait_for(sample_shard(config, job_for(tmp_path, QUESTIONS), rooms), 300)
            assert asyncio.all_tasks() == {asyncio.current_task()}, "something would keep the process alive"

        asyncio.run(again())
    assert len(lines(tmp_path / "q.jsonl")) == len(QUESTIONS)


class Gateway(FakeTeacher):
    """The fake server whose search and judge first answer as a broken gateway does: 502 and a page."""

    def __init__(self, *options: Any, **more: Any) -> None:
        super().__init__(*options, **more)
        self.pages = {"search": 2, "judge": 2}
        self.asked = {"search": 0, "judge": 0}

    def _broken(self, name: str) -> web.Response | None:
        self.asked[name] += 1
        if self.asked[name] <= self.pages[name]:
            return web.Response(status=502, text="<html><body>502 Bad Gateway</body></html>", content_type="text/html")
        return None

    async def _search(self, request: web.Request) -> web.Response:
        return self._broken("search") or await super()._search(request)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body["model"] != "judge":
            return await super()._complete(request)
        verdict = {"role": "assistant", "content": "correct"}
        choice = {"index": 0, "message": verdict, "finish_reason": "stop"}
        good = {"id": "x", "object": "chat.completion", "created": 1, "model": "judge", "choices": [choice]}
        return self._broken("judge") or web.json_response(good)


def test_25_html_pages_from_search_and_judge_are_transport_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the real rooms: asked again, and neither a sample, a result nor a verdict comes of a gateway's page."""

    def script(asked: Asked) -> Mapping[str, Any]:
        if asked.turn == 0:
            return completion(None, calls=[call("search", {"query": "old harbour tram"})])
        return completion("<answer>the harbour line of the old town</answer>")

    config = settings(plan={"k_first": 1, "k_max": 1}, ledger={"url": f"sqlite:///{tmp_path}/ledger.sqlite"})
    config["judge"]["model"] = "judge"
    one = question(1, answer="Harbour tramway, line 4")
    with Gateway(script) as server:
        for name, value in {**server.env, "JUDGE_URL": server.url, "JUDGE_API_KEY": "judge-key-1"}.items():
            monkeypatch.setenv(name, value)
        report = asyncio.run(run_shard(config, job_for(tmp_path, [one]), retry=FAST))
        assert server.asked == {"search": 3, "judge": 3}
    assert report.samples_taken == 1
    (row,) = lines(tmp_path / "t.jsonl")
    (result,) = row["turns"][0]["results"]
    assert (result["status"], row["searches_billed"]) == ("ok", 1)
    assert "harbour tram" in result["content"]
    assert row["verdict"]["path"] == "judge"
    assert b"Bad Gateway" not in (tmp_path / "t.jsonl").read_bytes()


def peak_mb(work: Any) -> float:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_88_memory_does_not_grow_with_the_number_of_picture_conversations(tmp_path: Path) -> None:
    """Five pictures of 300 kB each; two conversations at once hold theirs and no others."""
    names = []
    for index in range(5):
        (tmp_path / f"{index}.png").write_bytes(noise_png(300_000))
        names.append(f"{index}.png")
    config = settings(engine={"concurrency": 2, "request_timeout": 120}, plan={"k_first": 1, "k_max": 1})

    def work(count: int) -> Any:
        folder = tmp_path / str(count)
        asked = [question(i, images=tuple(names)) for i in range(count)]
        read = Pictures(tmp_path, tmp_path).read
        return lambda: run(
            folder, asked, server.url, config, job={**into(folder), "image_root": tmp_path}, read_picture=read
        )

    with OtherProcess() as server:
        work(2)()  # imports
        few, many = peak_mb(work(4)), peak_mb(work(32))
    assert many < few + 8, f"{few:.1f} MB for 4 conversations, {many:.1f} MB for 32 of 2 MB each"


def test_89_a_resume_streams_the_journal_and_the_outputs(tmp_path: Path) -> None:
    """60 finished samples of 300 kB: an index of places is kept, no record."""
    text = "x" * 300_000
    config = settings(engine={"concurrency": 4, "request_timeout": 120}, plan={"k_first": 1, "k_max": 1})
    with teacher(lambda asked: completion("<answer>right</answer>", thinking=text)) as server:
        run(tmp_path, QUESTIONS, server, config)
    (journal,) = (tmp_path / "state" / "journal").rglob("*.jsonl")
    assert journal.stat().st_size > 20 * 2**20
    peak = peak_mb(lambda: run(tmp_path, QUESTIONS, "http://127.0.0.1:9/v1", config))
    assert peak < 10, f"{peak:.1f} MB"
    assert len(lines(tmp_path / "t.jsonl")) == len(QUESTIONS)


def noise_png(size: int) -> bytes:
    """A PNG of about this many bytes."""
    import io

    from PIL import Image

    side = int((size / 3) ** 0.5)
    out = io.BytesIO()
    Image.frombytes("RGB", (side, side), os.urandom(3 * side * side)).save(out, "PNG")
    return out.getvalue()


class OtherProcess:
    """A server in a process of its own, so that the bodies it receives are not counted as ours."""

    def __enter__(self) -> OtherProcess:
        import subprocess
        import sys

        code = (
            "import asyncio\n"
            "from aiohttp import web\n"
            "from rollout_helpers import completion\n"
            "async def main():\n"
            "    async def complete(request):\n"
            "        await request.read()\n"
            "        return web.json_response(completion('<answer>right</answer>'))\n"
            "    app = web.Application(client_max_size=2**28)\n"
            "    app.router.add_post('/v1/chat/completions', complete)\n"
            "    runner = web.AppRunner(app)\n"
            "    await runner.setup()\n"
            "    await web.TCPSite(runner, '127.0.0.1', 0).start()\n"
            "    print(runner.addresses[0][1], flush=True)\n"
            "    await asyncio.Event().wait()\n"
            "asyncio.run(main())\n"
        )
        tests = Path(__file__).resolve().parents[1]
        env = {**os.environ, "PYTHONPATH": f"{tests.parent / 'scripts'}{os.pathsep}{tests}"}
        self.process = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
