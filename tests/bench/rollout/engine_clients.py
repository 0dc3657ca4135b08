"""The same four-turn conversation through different clients, each in a process of its own (see bench_engine).

``python engine_clients.py <client> --url U --conversations N --concurrency C [--picture BYTES]`` prints one JSON line:
turns, seconds, CPU seconds, peak memory in MB. ``python engine_clients.py server`` is the teacher: 50 ms a reply.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import logging
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

LATENCY_S = 0.05
THINKING = "The picture shows a tram of an older type, so I have to look at the plate and at the archive. " * 8
RESULT = (
    "1. Harbour tram archive\nURL: https://archive.example/tram\nA list of trams by plate, with years and lines.\n" * 8
)
STEPS = (
    ("search", {"query": "harbour tram {n}"}),
    ("open", {"url": "https://archive.example/{n}"}),
    ("python", {"code": "print({n})"}),
)
TURNS = len(STEPS) + 1


def reply(turn: int, number: str) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": f"{THINKING}{turn}"}
    if turn < len(STEPS):
        name, arguments = STEPS[turn]
        filled = {key: value.replace("{n}", number) for key, value in arguments.items()}
        function = {"name": name, "arguments": json.dumps(filled)}
        message["tool_calls"] = [{"id": "x", "type": "function", "function": function}]
    else:
        message["content"] = "It is this one.\n<answer>right</answer>"
    finish = "tool_calls" if turn < len(STEPS) else "stop"
    usage = {"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return orjson.dumps(whole)


class Server(asyncio.Protocol):
    """HTTP/1.1 with as little work as can be: the turn is the number of assistant messages in the body."""

    def __init__(self) -> None:
        self.data = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        while True:
            end = self.data.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(self.data[:end]).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self.data) < end + 4 + length:
                return
            body = bytes(self.data[end + 4 : end + 4 + length])
            del self.data[: end + 4 + length]
            turn = body.count(b'"assistant"')
            at = body.rfind(b"Question number ") + 16
            number = body[at : body.find(b"?", at)].decode()
            asyncio.get_running_loop().call_later(LATENCY_S, self.answer, reply(turn, number))

    def answer(self, body: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        if not self.transport.is_closing():
            self.transport.write(head + body)  # type: ignore[attr-defined]


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# ---- bare loops -----------------------------------------------------------------------------------------------------

Ask = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Awaitable[dict[str, Any]]]


def opening(number: int, picture: str | None) -> list[dict[str, Any]]:
    text = f"Question number {number}?"
    content: Any = text
    if picture:
        content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": text}]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]


SYSTEM = (ROOT / "resources" / "system_prompt.txt").read_text()


def schemas() -> list[dict[str, Any]]:
    return [
        orjson.loads((ROOT / "resources" / "tools" / f"{n}.json").read_bytes()) for n in ("search", "open", "python")
    ]


async def bare(ask: Ask, conversations: int, concurrency: int, picture: str | None) -> None:
    """The least that a tool loop can do: ask, add the reply, add a stub result."""
    numbers = iter(range(conversations))
    tools = schemas()

    async def worker() -> None:
        for number in numbers:
            messages = opening(number, picture)
            while True:
                message = (await ask(messages, tools))["choices"][0]["message"]
                messages.append(
                    {
                        "role": "assistant",
                        "content": f"<think>\n{message['reasoning_content']}\n</think>\n\n{message['content']}",
                        "tool_calls": message.get("tool_calls"),
                    }
                )
                if not message.get("tool_calls"):
                    break
                messages.append({"role": "tool", "tool_call_id": "x", "content": RESULT})

    await asyncio.gather(*(worker() for _ in range(concurrency)))


async def with_aiohttp(url: str, *work: Any) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:

        async def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
            body = orjson.dumps({"model": "m", "messages": messages, "tools": tools, "temperature": 1.0})
            async with http.post(f"{url}/chat/completions", data=body) as response:
                return orjson.loads(await response.read())  # type: ignore[no-any-return]

        await bare(ask, *work)


async def with_httpx(url: str, *work: Any) -> None:
    import httpx

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60) as http:

        async def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
            body = orjson.dumps({"model": "m", "messages": messages, "tools": tools, "temperature": 1.0})
            response = await http.post(f"{url}/chat/completions", content=body)
            return orjson.loads(response.content)  # type: ignore[no-any-return]

        await bare(ask, *work)


async def with_openai(url: str, *work: Any) -> None:
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="x", max_retries=0)

    async def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        reply = await client.chat.completions.create(model="m", messages=messages, tools=tools, temperature=1.0)  # type: ignore[call-overload]
        return reply.model_dump()  # type: ignore[no-any-return]

    await bare(ask, *work)


# ---- the engine -----------------------------------------------------------------------------------------------------


async def with_engine(url: str, conversations: int, concurrency: int, picture: str | None) -> None:
    """sample_shard with journal, real ledger, grader by rules and the real filters; open and python are stubs."""
    import functools

    from rollout_helpers import job_for, question, settings, stub_rooms
    from tir_distill.filters import FilterSettings, evaluate
    from tir_distill.grading import Grader
    from tir_distill.ledger import Caps, Fetched, Ledger, LedgerSettings, Owner
    from tir_distill.records import Question, ToolCall, ToolResult
    from tir_distill.rollout import sample_shard
    from tir_distill.rollout.prepare import Pictures

    config = settings(
        engine={"concurrency": concurrency, "request_timeout": 60},
        plan={"k_first": 1, "k_max": 1},
        budgets={"serper_qps": 1000},
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images: tuple[str, ...] = ()
        if picture:
            (folder / "a.png").write_bytes(base64.b64decode(picture.split(",", 1)[1]))
            images = ("a.png",)
        ledger = Ledger.open(
            f"sqlite:///{folder}/ledger.sqlite", run="bench", settings=LedgerSettings.from_config(config)
        )
        caps = Caps.from_config(config, "image_search")

        async def fetch(pace: Any) -> Fetched:
            await pace()  # as a backend does before each request: the rate limit is part of the cost
            return Fetched({"results": RESULT})

        class Session:
            def __init__(self, owner: Owner) -> None:
                self.owner = owner

            async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
                meta: dict[str, Any] = {}
                if asked.name == "search":
                    outcome = await ledger.search(
                        self.owner,
                        asked.arguments,
                        call_id=asked.id,
                        made=made,
                        caps=caps,
                        backend="x",
                        params={},
                        fetch=fetch,
                    )
                    meta = {"query": asked.arguments, "billed": outcome.billed, "cached": outcome.cached}
                return ToolResult(call_id=asked.id, name=asked.name, status="ok", content=RESULT, meta=meta)

            async def close(self) -> None:
                return None

        async def open_session(asked: Question, sample: int, fingerprint: str) -> Session:
            return Session(Owner("bench", asked.bucket, asked.id, sample, asked.task_type))

        questions = [question(i, question=f"Question number {i}?", images=images) for i in range(conversations)]
        filters = FilterSettings.from_config(config)
        async with stub_rooms(
            config,
            url,
            read_picture=Pictures(folder, folder).read,
            open_session=open_session,
            grader=Grader.from_config(config),
            evaluate=functools.partial(evaluate, settings=filters),
            books=ledger,
        ) as rooms:
            report = await sample_shard(config, job_for(folder, questions), rooms)
        assert report.samples_taken == conversations, report
        ledger.close()


CLIENTS = {"aiohttp": with_aiohttp, "httpx": with_httpx, "openai": with_openai, "engine": with_engine}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=[*CLIENTS, "server"])
    parser.add_argument("--url")
    parser.add_argument("--conversations", type=int, default=500)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--picture", type=int, default=0, help="bytes of a picture in the question")
    args = parser.parse_args()
    logging.disable(logging.INFO)
    if args.client == "server":
        asyncio.run(serve())
        return
    picture = picture_of(args.picture) if args.picture else None
    asyncio.run(
        CLIENTS[args.client](args.url, min(20, args.conversations), 8, picture)
    )  # imports and first connections
    start, cpu = time.monotonic(), time.process_time()
    asyncio.run(CLIENTS[args.client](args.url, args.conversations, args.concurrency, picture))
    print(
        json.dumps(
            {
                "turns": args.conversations * TURNS,
                "seconds": time.monotonic() - start,
                "cpu": time.process_time() - cpu,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def picture_of(size: int) -> str:
    """A PNG of about this many bytes as data URL."""
    import io

    from PIL import Image

    side = max(8, int((size / 3) ** 0.5))
    out = io.BytesIO()
    Image.frombytes("RGB", (side, side), os.urandom(3 * side * side)).save(out, "PNG")
    return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"


if __name__ == "__main__":
    main()
