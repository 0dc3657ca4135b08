"""Teacher, search, judge and reader on one local port."""

from __future__ import annotations

import asyncio
import os
import signal
import urllib.parse
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from .corpus import Corpus, read_pages
from .judge import verdict
from .question_file import QuestionFile
from .settings import JUDGE_KEY, MODEL, SEARCH_KEY, TEACHER_KEY, Faults, ServerSettings
from .teacher import Teacher, estimate

MAX_REQUEST = 64 * 1024 * 1024
"""Bytes of one request: pictures travel inside it."""
CREDIT_MESSAGE = "Not enough credits"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Servers:
    """State of one process: what it serves, the faults it plays, and how often it was asked."""

    settings: ServerSettings
    teacher: Teacher
    corpus: Corpus
    faults: Faults
    counters: Counter[str] = field(default_factory=Counter)

    @classmethod
    def open(cls, settings: ServerSettings) -> Servers:
        file = QuestionFile(settings.questions)
        pages = QuestionFile(settings.questions) if settings.corpus_from_questions else None
        return cls(
            settings=settings,
            teacher=Teacher.open(file, settings.resources),
            corpus=Corpus(read_pages(settings.corpus), pages),
            faults=settings.faults(),
        )

    def app(self) -> web.Application:
        """The routes. Teacher and judge are apart, so that each is counted by itself."""
        app = web.Application(client_max_size=MAX_REQUEST, middlewares=[self._latency])
        app.router.add_post("/teacher/v1/chat/completions", self._teach)
        app.router.add_get("/teacher/v1/models", self._models)
        app.router.add_post("/judge/v1/chat/completions", self._judge)
        app.router.add_post("/search", self._search)
        app.router.add_get("/read/{url:.*}", self._read)
        app.router.add_get("/counters", self._counters)
        app.router.add_post("/counters/reset", self._reset)
        app.router.add_post("/faults", self._set_faults)
        return app

    @web.middleware
    async def _latency(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.faults.latency_ms:
            await asyncio.sleep(self.faults.latency_ms / 1000)
        return await handler(request)

    async def _teach(self, request: web.Request) -> web.Response:
        self.counters["teacher"] += 1
        if request.headers.get("Authorization") != f"Bearer {TEACHER_KEY}":
            self.counters["teacher_refused"] += 1
            return _error(401, "Incorrect API key provided.")
        if _hits(self.counters["teacher"], self.faults.teacher_429_every):
            self.counters["teacher_429"] += 1
            return _error(429, "Too many requests.", self.faults.retry_after_s)
        body = orjson.loads(await request.read())
        return _json(self.teacher.reply(body))

    async def _models(self, request: web.Request) -> web.Response:
        return _json({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "demo"}]})

    async def _judge(self, request: web.Request) -> web.Response:
        self.counters["judge"] += 1
        if request.headers.get("Authorization") != f"Bearer {JUDGE_KEY}":
            return _error(401, "Incorrect API key provided.")
        body = orjson.loads(await request.read())
        asked = "\n".join(_texts(body["messages"]))
        text = verdict(asked)
        usage = {"prompt_tokens": estimate(asked), "completion_tokens": estimate(text)}
        return _json(
            {
                "id": "judge-1",
                "object": "chat.completion",
                "created": 1767225600,
                "model": body.get("model", ""),
                "choices": [
                    {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"},
                ],
                "usage": {**usage, "total_tokens": sum(usage.values())},
            }
        )

    async def _search(self, request: web.Request) -> web.Response:
        self.counters["search"] += 1
        if request.headers.get("X-API-KEY") != SEARCH_KEY:
            return _json({"message": "Unauthorized.", "statusCode": 403}, 403)
        if _hits(self.counters["search"], self.faults.search_429_every):
            self.counters["search_429"] += 1
            response = _json({"message": "Too many requests", "statusCode": 429}, 429)
            response.headers["Retry-After"] = str(self.faults.retry_after_s)
            return response
        if self.faults.credits is not None and self.counters["search_billed"] >= self.faults.credits:
            self.counters["search_no_credits"] += 1
            return _json({"message": CREDIT_MESSAGE, "statusCode": 400}, 400)
        body = orjson.loads(await request.read())
        query = str(body.get("q", ""))
        found = self.corpus.search(query, int(body.get("num", 10)))
        self.counters["search_billed"] += 1
        organic = []
        for position, (page, snippet) in enumerate(found, start=1):
            entry: dict[str, Any] = {"title": page.title, "link": page.url, "snippet": snippet, "position": position}
            if page.date:
                entry["date"] = page.date
            organic.append(entry)
        parameters = {"q": query, "type": "search", "engine": "google"}
        return _json({"searchParameters": parameters, "organic": organic, "credits": 1})

    async def _read(self, request: web.Request) -> web.Response:
        """A page in the form that public reader endpoints answer with: title, address, text."""
        self.counters["reader"] += 1
        url = urllib.parse.unquote(request.raw_path.partition("/read/")[2]).lstrip("/")
        page = self.corpus.page(url)
        if page is None:
            return web.Response(status=404, text=f"no such page: {url}")
        return web.Response(text=f"Title: {page.title}\n\nURL Source: {url}\n\nMarkdown Content:\n{page.body}\n")

    def counts(self) -> dict[str, int]:
        """Requests per endpoint since the start or the last reset."""
        names = ("teacher", "search", "search_billed", "judge", "reader")
        return {name: self.counters[name] for name in dict.fromkeys([*names, *sorted(self.counters)])}

    async def _counters(self, request: web.Request) -> web.Response:
        return _json(self.counts())

    async def _reset(self, request: web.Request) -> web.Response:
        self.counters.clear()
        return _json({})

    async def _set_faults(self, request: web.Request) -> web.Response:
        """Change faults while serving: a JSON object with names of ``Faults``."""
        known = {item.name for item in fields(Faults)}
        for name, value in orjson.loads(await request.read()).items():
            if name not in known:
                return _error(400, f"no such fault: {name}; expected one of {sorted(known)}")
            setattr(self.faults, name, value)
        return _json(asdict(self.faults))


def _hits(count: int, every: int) -> bool:
    return every > 0 and count % every == 0


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


def _error(status: int, message: str, retry_after: float | None = None) -> web.Response:
    response = _json({"error": {"message": message, "type": "demo_error", "code": status}}, status)
    if retry_after is not None:
        response.headers["Retry-After"] = str(retry_after)
    return response


def _texts(messages: Any) -> list[str]:
    out: list[str] = []
    for message in messages:
        if message["role"] != "user":
            continue
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        out += [part["text"] for part in parts if part.get("type") == "text"]
    return out


def endpoints(port: int) -> dict[str, str]:
    """Environment variables that make every client use these servers."""
    base = f"http://127.0.0.1:{port}"
    return {
        "TEACHER_URL": f"{base}/teacher/v1",
        "TEACHER_MODEL": MODEL,
        "TEACHER_API_KEY": TEACHER_KEY,
        "SERPER_URL": f"{base}/search",
        "SERPER_API_KEY": SEARCH_KEY,
        "JUDGE_URL": f"{base}/judge/v1",
        "JUDGE_API_KEY": JUDGE_KEY,
        "READER_URL": f"{base}/read/",
    }


async def serve(settings: ServerSettings, *, started: Callable[[dict[str, str]], None] | None = None) -> None:
    """Serve until SIGTERM, SIGINT, or the end of the parent process."""
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    descriptor = _watch_parent(loop, settings.parent, ending)
    servers = Servers.open(settings)
    runner = web.AppRunner(servers.app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", settings.port)
    await site.start()
    values = endpoints(runner.addresses[0][1])
    _write_whole(settings.port_file, values)
    if started:
        started(values)
    try:
        await ending.wait()
    finally:
        await runner.cleanup()
        settings.port_file.unlink(missing_ok=True)
        _write_whole(counters_file(settings.port_file), servers.counts())
        if descriptor is not None:
            os.close(descriptor)


def _watch_parent(loop: asyncio.AbstractEventLoop, parent: int | None, ending: asyncio.Event) -> int | None:
    """End when the parent does, however it ends: a process descriptor becomes readable at that moment."""
    if parent is None:
        return None
    try:
        descriptor = os.pidfd_open(parent)
    except ProcessLookupError:
        ending.set()
        return None
    loop.add_reader(descriptor, ending.set)
    return descriptor


def counters_file(port_file: Path) -> Path:
    """Where the request counts are kept when the servers have ended: beside the port file."""
    return port_file.with_name(f"{port_file.stem}.counters.json")


def _write_whole(path: Path, value: Mapping[str, str | int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    temporary.replace(path)


def serve_forever(settings: ServerSettings) -> None:
    """Run the servers in this process."""
    asyncio.run(serve(settings))
