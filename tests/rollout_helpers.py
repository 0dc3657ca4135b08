"""A scripted teacher over real HTTP, with every reply shape and fault that servers are known for, and stub rooms.

The same server answers searches as Serper does.

The teacher is stateless: what it says follows from the conversation that it is sent and from the seed, so runs can be
compared whatever the order of arrival. ``python -m rollout_helpers`` runs one shard against such a server; the kill
tests kill that process.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import copy
import email.utils
import functools
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from tir_distill import config as tir_config
from tir_distill.records import (
    Question,
    Stopped,
    ToolCall,
    ToolResult,
    Trajectory,
    Verdict,
    read_jsonl,
    stable_int,
    stable_unit,
)
from tir_distill.rollout import Rooms, ShardJob, ShardReport, sample_shard, tool_schemas
from tir_distill.teacher import RetryPolicy, TeacherPool, TeacherSettings

FAST = RetryPolicy(first_wait_s=0.01, max_wait_s=0.05)
"""The real policy with short waits; a Retry-After is kept in full all the same."""


# ---- what the teacher says ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """One request as the script sees it."""

    question: str
    """Text of the user message."""
    turn: int
    """Assistant messages so far."""
    sample: int
    seed: int
    observations: tuple[str, ...]
    """Texts of all tool messages."""
    body: Mapping[str, Any]

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Asked:
        messages = body["messages"]
        return cls(
            question=text_of(next(m["content"] for m in messages if m["role"] == "user")),
            turn=sum(m["role"] == "assistant" for m in messages),
            sample=body["seed"] % 16,
            seed=body["seed"],
            observations=tuple(text_of(m["content"]) for m in messages if m["role"] == "tool"),
            body=body,
        )

    @property
    def told_to_answer(self) -> bool:
        return bool(self.observations) and "[notice]" in self.observations[-1]


def text_of(content: Any) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    return "".join(part.get("text", "") for part in content)


def call(name: str, arguments: Any, call_id: str = "x") -> dict[str, Any]:
    """A structured call; ``arguments`` other than text are encoded."""
    text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def completion(
    content: str | None = None,
    *,
    thinking: str | None = "I think about this for a while.",
    calls: Sequence[Mapping[str, Any]] | None = None,
    finish: str | None = None,
    tokens: int = 50,
    field_name: str = "reasoning_content",
    **message: Any,
) -> dict[str, Any]:
    """A chat completion as vLLM sends it; every field can be made as odd as servers make it."""
    body: dict[str, Any] = {"role": "assistant", "content": content, **message}
    if thinking is not None:
        for name in field_name.split("+"):
            body[name] = thinking
    if calls is not None:
        body["tool_calls"] = list(calls)
    reason = finish or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "fake",
        "choices": [{"index": 0, "message": body, "finish_reason": reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens},
    }


Script = Callable[[Asked], Mapping[str, Any]]


def search_then_answer(asked: Asked, *, most_turns: int = 4) -> Mapping[str, Any]:
    """Some searches, then an answer that is right in about half of the samples, and now and then no answer at all."""
    fate = stable_int(asked.sample, "fate", asked.question)
    turns = 1 + fate % most_turns
    if asked.turn < turns and not asked.told_to_answer:
        if asked.turn % 3 == 2:
            return completion(calls=[call("python", {"code": "n = n + 1"})], thinking=f"turn {asked.turn}")
        return completion(
            calls=[call("search", {"query": f"{asked.question} {asked.sample} {asked.turn}"})],
            thinking=f"turn {asked.turn} of {asked.question}",
        )
    if fate // 16 % 8 == 0:
        return completion("I do not know.")
    answer = "right" if fate // 256 % 2 else f"wrong {asked.sample}"
    return completion(f"So it is.\n<answer>{answer}</answer>")


# ---- faults ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FaultMix:
    """Share of requests that fail in each way. ``retry_after``: seconds named in a 429."""

    rate_limited: float = 0.0
    unavailable: float = 0.0
    hang: float = 0.0
    html: float = 0.0
    cut_json: float = 0.0
    reset: float = 0.0
    retry_after: float | None = 0.3
    as_date: bool = False

    def draw(self, chance: float) -> str | None:
        for name in ("rate_limited", "unavailable", "hang", "html", "cut_json", "reset"):
            chance -= getattr(self, name)
            if chance < 0:
                return name
        return None


ROUGH = FaultMix(rate_limited=0.15, unavailable=0.05, hang=0.03, html=0.02, cut_json=0.02, reset=0.02)


class FakeTeacher:
    """The server, in a thread of its own. Also answers ``/tool`` for stub tools, so that their calls are counted."""

    def __init__(
        self,
        script: Script = search_then_answer,
        *,
        faults: FaultMix | None = None,
        latency: float = 0.0,
        seed: int = 1,
    ) -> None:
        self.script = script
        self.faults = faults or FaultMix()
        self.latency = latency
        self.requests: list[dict[str, Any]] = []
        """Bodies received, when ``keep`` is on."""
        self.keep = False
        self.received = 0
        self.answered: Counter[tuple[str, int, int, int]] = Counter()
        """Good replies by (question, sample, turn, seed)."""
        self.tool_calls: Counter[str] = Counter()
        self.undercut: list[float] = []
        """Seconds by which a request came before its Retry-After had passed."""
        self.headers: list[Mapping[str, str]] = []
        self._barred: dict[int, float] = {}
        self._seed = seed
        self._tries: Counter[int] = Counter()
        """By request: which tries fail is fixed by the request and its try, never by the order of arrival."""
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def env(self) -> dict[str, str]:
        """What a command needs to know of it."""
        search = f"http://127.0.0.1:{self.port}/search"
        return {"TEACHER_URL": self.url, "TEACHER_MODEL": "fake", "SERPER_URL": search, "SERPER_API_KEY": "serper-key"}

    def __enter__(self) -> FakeTeacher:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post("/tool", self._tool)
        app.router.add_post("/search", self._search)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _search(self, request: web.Request) -> web.Response:
        """As Serper answers: one hit that repeats the query."""
        query = (await request.json())["q"]
        self.tool_calls[query] += 1
        hit = {"title": query, "link": "https://pages.example/1", "snippet": f"About {query}.", "position": 1}
        return web.json_response({"organic": [hit]})

    async def _tool(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.tool_calls[body["key"]] += 1
        return web.json_response({"ok": True})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        now = time.monotonic()
        self.received += 1
        self.headers.append(dict(request.headers))
        if self.keep:
            self.requests.append(body)
        asked = Asked.of(body)
        until = self._barred.pop(asked.seed, 0.0)
        if now < until:
            self.undercut.append(until - now)
        self._tries[asked.seed] += 1
        fault = self.faults.draw(stable_unit(self._seed, str(asked.seed), str(self._tries[asked.seed])))
        if fault is not None:
            return await self._fail(fault, request, asked.seed)
        if self.latency:
            await asyncio.sleep(self.latency)
        reply = self.script(asked)
        if "_status" in reply:
            return web.Response(
                status=reply["_status"],
                body=reply.get("_body", b"{}"),
                headers=reply.get("_headers", {"Content-Type": "application/json"}),
            )
        self.answered[asked.question, asked.sample, asked.turn, asked.seed] += 1
        return web.Response(body=orjson.dumps(reply), content_type="application/json")

    async def _fail(self, fault: str, request: web.Request, seed: int) -> web.StreamResponse:
        if fault == "rate_limited":
            headers = {}
            wait = self.faults.retry_after
            if wait is not None:
                at = time.time() + wait
                headers["Retry-After"] = email.utils.formatdate(at, usegmt=True) if self.faults.as_date else str(wait)
                asked_for = int(at) - time.time() if self.faults.as_date else wait
                self._barred[seed] = time.monotonic() + asked_for
            return web.json_response({"error": {"message": "slow down"}}, status=429, headers=headers)
        if fault == "unavailable":
            return web.Response(status=503, text="overloaded")
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "html":
            return web.Response(status=200, text="<html><body>502 Bad Gateway</body></html>", content_type="text/html")
        if fault == "cut_json":
            return web.Response(body=b'{"choices": [{"message": {"role": "assist', content_type="application/json")
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


# ---- stub rooms -----------------------------------------------------------------------------------------------------


@dataclass
class StubSession:
    """Tools without a world: search echoes its query, python counts its cells."""

    owner: str
    report: Callable[[str], Any] | None = None
    cells: int = 0
    delay: float = 0.0
    closed: bool = False
    seen: list[ToolCall] = field(default_factory=list)

    async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
        self.seen.append(asked)
        if asked.malformed:
            return ToolResult(
                call_id=asked.id, name=asked.name, status="model_error", content=f"bad: {asked.malformed}"
            )
        if self.delay:
            await asyncio.sleep(self.delay)
        if asked.name == "python":
            self.cells += 1
            return ToolResult(
                call_id=asked.id, name="python", status="ok", content=f"cell {self.cells}", meta={"cell": "ok"}
            )
        if self.report is not None:
            await self.report(f"{self.owner} {asked.id} {asked.arguments}")
        meta = {"query": asked.arguments, "billed": 1, "cached": False} if asked.name == "search" else {}
        return ToolResult(
            call_id=asked.id, name=asked.name, status="ok", content=f"1. result for {asked.arguments}", meta=meta
        )

    async def close(self) -> None:
        self.closed = True


class StubGrader:
    """Right is the question's answer, letter by letter."""

    async def grade(self, question: Question, answer: str | None) -> Verdict:
        if answer is None:
            return Verdict(correct=False, path="no_answer")
        return Verdict(correct=answer == question.answer, path="exact", reference=question.answer)


@dataclass(frozen=True)
class StubFail:
    rule: str


@dataclass(frozen=True)
class StubReport:
    fails: tuple[StubFail, ...]

    @property
    def accepted(self) -> bool:
        return not self.fails


def stub_evaluate(trajectory: Trajectory) -> StubReport:
    fails = [] if trajectory.correct else [StubFail("F1")]
    if any(c.malformed for turn in trajectory.turns for c in turn.calls):
        fails.append(StubFail("malformed_call"))
    return StubReport(tuple(fails))


@dataclass(frozen=True)
class StubStop:
    reason: str
    detail: str = ""


@dataclass
class StubBooks:
    """A ledger that is never full unless told."""

    flag: StubStop | None = None
    tokens: int = 0
    limit: int | None = None
    billed: Counter[str] = field(default_factory=Counter)

    def stopped(self) -> StubStop | None:
        return self.flag

    def stop(self, reason: str, detail: str) -> None:
        self.flag = StubStop(reason, detail)

    def question_billed(self, run: str, question_id: str) -> int:
        return self.billed[question_id]

    def reserve_tokens(self, run: str, tokens: int) -> str:
        if self.limit is not None and self.tokens + tokens > self.limit:
            raise Stopped("budget_tokens", "full")
        self.tokens += tokens
        return str(tokens)

    def settle_tokens(self, run: str, hold: str | None, tokens: int) -> None:
        self.tokens += tokens - int(hold or 0)


# ---- runs -----------------------------------------------------------------------------------------------------------


def question(number: int | str, **changes: Any) -> Question:
    base = Question(
        id=f"q{number}",
        source="demo",
        bucket="demo",
        priority="P0",
        phase="full",
        task_type="image_search",
        question=f"Question {number}?",
        answer="right",
    )
    return replace(base, **changes)


@functools.cache
def defaults() -> dict[str, Any]:
    return tir_config.load()


def settings(**sections: Mapping[str, Any]) -> dict[str, Any]:
    """The default configuration with sections changed."""
    config = copy.deepcopy(defaults())
    config["engine"].update(request_timeout=2.0, grace_seconds=1.0)
    for name, values in sections.items():
        config[name].update(values)
    return config


@contextlib.asynccontextmanager
async def stub_rooms(
    config: Mapping[str, Any],
    url: str,
    *,
    retry: RetryPolicy = FAST,
    read_picture: Callable[[str], bytes] | None = None,
    **changes: Any,
) -> AsyncIterator[Rooms]:
    """A real teacher client against a fake server; everything else is a stub."""
    import os

    os.environ["TEACHER_URL"], os.environ["TEACHER_MODEL"] = url, "fake"
    async with (
        TeacherPool.open(TeacherSettings.from_config(config), retry=retry, read_picture=read_picture) as pool,
        aiohttp.ClientSession() as http,
    ):

        async def report(key: str) -> None:
            async with http.post(url.replace("/v1", "/tool"), json={"key": key}):
                pass

        async def open_session(asked: Question, sample: int, fingerprint: str) -> StubSession:
            return StubSession(f"{asked.id}#{sample}", report)

        base: dict[str, Any] = {
            "tools": tool_schemas(),
            "layers": {"stub": "yes"},
            "teacher_for": lambda asked: pool.client(task_type=asked.task_type, bucket=asked.bucket),
            "open_session": open_session,
            "grader": StubGrader(),
            "evaluate": stub_evaluate,
            "filter_hash": "stub",
            "books": StubBooks(),
        }
        yield Rooms(**{**base, **changes})


def job_for(folder: Path, questions: Sequence[Question], **changes: Any) -> ShardJob:
    base = ShardJob(
        run="test",
        run_dir=folder,
        bucket="demo",
        index=0,
        shards=1,
        questions=questions,
        image_root=folder,
        trajectories=folder / "t.jsonl",
        questions_out=folder / "q.jsonl",
    )
    return replace(base, **changes)


def run(
    folder: Path,
    questions: Sequence[Question],
    teacher: FakeTeacher | str,
    config: Mapping[str, Any] | None = None,
    *,
    retry: RetryPolicy = FAST,
    job: Mapping[str, Any] | None = None,
    **rooms: Any,
) -> ShardReport:
    """One shard, start to end, with stub rooms. Raises what ``sample_shard`` raises."""
    url = teacher if isinstance(teacher, str) else teacher.url
    chosen = config or settings()

    async def main() -> ShardReport:
        async with stub_rooms(chosen, url, retry=retry, **rooms) as opened:
            return await sample_shard(chosen, job_for(folder, questions, **(job or {})), opened, handle_signals=False)

    return asyncio.run(main())


def lines(path: Path) -> list[dict[str, Any]]:
    return list(read_jsonl(path))


def essence(path: Path) -> list[tuple[Any, ...]]:
    """What must be equal between an undisturbed and a disturbed run: everything but times."""
    return [
        (
            row["id"],
            row["sample_index"],
            row["fingerprint"],
            row["stop"],
            row["answer"],
            row["accepted"],
            row["searches"],
            [(t["thinking"], t["content"], t["calls"], [r["content"] for r in t["results"]]) for t in row["turns"]],
        )
        for row in lines(path)
    ]


@contextlib.contextmanager
def teacher(script: Script = search_then_answer, **options: Any) -> Iterator[FakeTeacher]:
    with FakeTeacher(script, **options) as server:
        yield server


def main() -> None:
    """``python -m rollout_helpers --folder F --url U --questions N``: one shard, for the tests that kill it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--questions", type=int, required=True)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--max-turns", type=int, default=10)
    parser.add_argument("--grace", type=float, default=1.0)
    args = parser.parse_args()
    config = settings(
        # no teacher hangs here: a busy machine must not make a request late, for then it would be made twice
        engine={"concurrency": args.concurrency, "grace_seconds": args.grace, "request_timeout": 60.0},
        sampling={"max_turns": args.max_turns, "max_search_per_traj": 100},
        plan={"max_search_per_question": 10_000},
    )

    async def go() -> None:
        async with stub_rooms(config, args.url) as rooms:
            await sample_shard(config, job_for(args.folder, [question(i) for i in range(args.questions)]), rooms)

    try:
        asyncio.run(go())
    except Stopped as stopped:
        print(stopped, file=sys.stderr)
        sys.exit(int(stopped.exit_code))


script_of = functools.partial
"""``script_of(search_then_answer, most_turns=15)``."""

if __name__ == "__main__":
    main()
