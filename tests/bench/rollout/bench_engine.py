"""The engine beside bare loops: CPU per turn, conversations a second, memory, pictures. Prints; asserts no time.

CPU is that of the client's process alone; conversations a second mean something only on an idle machine.

smolagents is no dependency of this project: name an interpreter that has ``smolagents[openai]`` in TIR_BENCH_SMOLAGENTS
and it is measured beside the others; its row is left out, with a word, otherwise.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CLIENTS = Path(__file__).with_name("engine_clients.py")
SMOLAGENTS = Path(__file__).with_name("smolagents_client.py")
OTHER_PYTHON = os.environ.get("TIR_BENCH_SMOLAGENTS")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = subprocess.Popen([sys.executable, str(CLIENTS), "server"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    server.kill()
    server.wait()


def measure(client: str, url: str, **options: int) -> dict[str, Any]:
    command = [sys.executable, str(CLIENTS), client, "--url", url]
    if client == "smolagents":
        assert OTHER_PYTHON
        command = [OTHER_PYTHON, str(SMOLAGENTS), "--url", url]
    command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    figures["ms"] = 1000 * figures["cpu"] / figures["turns"]
    figures["rate"] = figures["turns"] / 4 / figures["seconds"]
    return figures


def test_cpu_per_turn_and_rate(url: str) -> None:
    print()
    for concurrency, conversations in ((64, 600), (256, 1500)):
        found = {
            name: measure(name, url, concurrency=concurrency, conversations=conversations)
            for name in ("aiohttp", "engine")
        }
        for name in ("openai", "httpx"):
            found[name] = measure(name, url, concurrency=concurrency, conversations=300)
        if OTHER_PYTHON:
            found["smolagents"] = measure("smolagents", url, concurrency=concurrency, conversations=300)
        else:
            print("  smolagents: not measured, TIR_BENCH_SMOLAGENTS names no interpreter that has it")
        base = found["aiohttp"]["ms"]
        for name, figures in found.items():
            print(
                f"  {name:10} at {concurrency:3}: {figures['ms']:5.2f} ms CPU a turn"
                f" ({figures['ms'] / base:4.1f} x bare aiohttp), {figures['rate']:6.0f} conversations/s,"
                f" peak {figures['peak_mb']:4.0f} MB"
            )


def test_memory_stays_flat(url: str) -> None:
    print()
    for conversations in (500, 5000):
        figures = measure("engine", url, concurrency=64, conversations=conversations)
        print(f"  engine, {conversations:5} conversations: peak {figures['peak_mb']:.0f} MB")


def test_pictures(url: str) -> None:
    print()
    plain = measure("engine", url, concurrency=64, conversations=500)
    picture = measure("engine", url, concurrency=64, conversations=500, picture=150_000)
    print(f"  engine without a picture: {plain['ms']:.2f} ms a turn")
    print(f"  engine with 150 kB in every request: {picture['ms']:.2f} ms a turn ({picture['ms'] / plain['ms']:.1f} x)")
