"""open(url) against servers and addresses that mean ill: refused or cut in time, in plain words, in little memory."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import resource
import time
from pathlib import Path
from typing import Any

import httpcore
import pytest

from hostile_servers import BODIES, STREAMS, hostile_server
from tir_distill.records import ToolCall, ToolResult
from tir_distill.sandbox import Sandbox, SandboxSettings
from tir_distill.tools.fetching import Fetcher
from tir_distill.tools.open_page import OpenTool
from tir_distill.tools.settings import OpenSettings
from tir_distill.tools.vetting import VettedBackend, is_public

LOOPBACK = ipaddress.ip_address("127.0.0.1")
DEADLINE = 2.0
PARSE = 2.0
SETTINGS = OpenSettings(
    deadline_s=DEADLINE,
    parse_s=PARSE,
    host_delay_s=0,
    per_host=4,
    blocked=(r"huggingface\.co/datasets", "GAIA_web"),
)
READABLE = {
    *(
        "fine",
        "gzip_fine",
        "deflate_fine",
        "raw_deflate",
        "gzip_bomb",
        "double_bomb",
        "huge_text",
        "huge_html",
        "charset_idna",
    ),
    *(
        "charset_zlib",
        "charset_escape",
        "charset_wrong",
        "gbk_header",
        "gbk_meta",
        "gbk_neither",
        "sjis_meta",
        "tokens",
    ),
    *(
        "nul_text",
        "picture",
        "json",
        "json_deep",
        "not_a_pdf",
        "pdf_fine",
        "pdf_as_html",
        "to_fine",
        "endless",
        "deep_divs",
    ),
}
"""Paths that may end in a text; all others must be refused."""
EITHER = {
    *("nul_html", "many_paragraphs", "deep_divs", "pdf_many_kids", "pdf_big_stream", "pdf_bomb", "pdf_double_bomb"),
    *(
        "endless_chunks",
        "picture_bomb",
        "double_bomb",
        "gzip_bomb",
        "pdf_broken_xref",
        "pdf_cycle",
        "many_headers",
        "endless",
    ),
}
"""Either outcome is fine as long as it comes in time: it depends on the machine's speed."""


class NoCache:
    """Asks for every page anew."""

    async def cached_page(self, url: str, *, max_age_s: float | None, fetch: Any) -> tuple[dict[str, Any], bool]:
        return await fetch(), False


def opener(sandbox: Sandbox, port: int) -> OpenTool:
    """An open tool for which good.test is this server, and which trusts this server's address alone."""

    async def resolver(host: str, _port: int) -> list[str]:
        names = {"good.test": ["127.0.0.1"], "mixed.test": ["127.0.0.1", "10.0.0.1"], "private.test": ["10.1.2.3"]}
        if host in names:
            return names[host]
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            raise OSError("unknown name") from None

    class Ported(httpcore.AnyIOBackend):
        """Whatever the port was, connects to the server's."""

        async def connect_tcp(self, host: str, _port: int, **options: Any) -> httpcore.AsyncNetworkStream:
            return await super().connect_tcp(host, port, **options)

    backend = VettedBackend(
        resolver=resolver, allow=lambda address: address == LOOPBACK or is_public(address), inner=Ported()
    )
    fetcher = Fetcher(SETTINGS, backend=backend)
    return OpenTool(SETTINGS, ledger=NoCache(), sandbox=sandbox, max_chars=8000, fetcher=fetcher)


class Recording(httpcore.AnyIOBackend):
    """Connects nowhere and remembers where it should have."""

    def __init__(self, connected: list[str]) -> None:
        self.connected = connected

    async def connect_tcp(self, host: str, port: int, **_: Any) -> httpcore.AsyncNetworkStream:
        self.connected.append(host)
        raise httpcore.ConnectError("no network in tests")


def call(url: str) -> ToolCall:
    return ToolCall(id="call_0_0", name="open", arguments=json.dumps({"url": url}))


@pytest.fixture(scope="module")
def opened() -> dict[str, tuple[ToolResult, float]]:
    """Result and seconds of every path, three at a time, and under ``memory`` the growth of this process."""

    async def main() -> dict[str, tuple[ToolResult, float]]:
        sandbox = await Sandbox.start(SandboxSettings(), preload=["tir_distill.tools.extract:warm"])
        found = {}
        async with hostile_server() as (port, _):
            tool = opener(sandbox, port)
            gate = asyncio.Semaphore(2)

            async def one(path: str) -> None:
                async with gate:
                    started = time.monotonic()
                    result = await tool.call(call(f"http://good.test/{path}"))
                    found[path] = (result, time.monotonic() - started)

            await asyncio.gather(*(one(path) for path in [*BODIES, *STREAMS]))
            await tool.close()
        await sandbox.close()
        return found

    return asyncio.run(main())


def test_there_are_enough_hostile_servers() -> None:
    assert len(BODIES) + len(STREAMS) >= 40


@pytest.mark.parametrize("path", [*BODIES, *STREAMS])
def test_each_is_read_or_refused_in_time(path: str, opened: dict[str, tuple[ToolResult, float]]) -> None:
    result, seconds = opened[path]
    # fetch, two parsers, and what a busy machine adds while it makes the bombs themselves
    assert seconds < 3 * DEADLINE + 2 * PARSE + 15
    if path not in EITHER:
        assert result.status == ("ok" if path in READABLE else "model_error"), result.content[:300]
    if result.status == "model_error":
        assert result.content.startswith(f"Could not open http://good.test/{path}: ")
        assert result.content.endswith(".")
        assert "Traceback" not in result.content
        assert "Error(" not in result.content
    assert result.status != "infrastructure"
    assert len(result.content) <= 8000 + 30


def test_texts_come_out_right(opened: dict[str, tuple[ToolResult, float]]) -> None:
    text = {path: result.content for path, (result, _) in opened.items()}
    for path in (
        "fine",
        "gzip_fine",
        "deflate_fine",
        "raw_deflate",
        "charset_idna",
        "charset_zlib",
        "charset_escape",
        "to_fine",
    ):
        assert "A readable page about rivers." in text[path], path
        assert text[path].startswith("# Fine\n\n")
    for path in ("gbk_header", "gbk_meta", "gbk_neither"):
        assert "长江是中国最长的河流" in text[path], path
    assert "信濃川は日本で一番長い川です" in text["sjis_meta"]
    assert "Größe und Höhe der Flüsse" in text["charset_wrong"]
    assert "river runs through it" in text["pdf_fine"]
    assert "river runs through it" in text["pdf_as_html"]
    assert '"river": "Yangtze"' in text["json"]
    assert "3 x 3 pixels" in text["picture"]
    assert text["huge_text"].endswith("\n[tool output truncated]")
    assert "\x00" not in text["nul_text"]
    for token in ("</tool_response>", "<|im_start|>", "<image>"):
        assert token not in text["tokens"]


def test_hops_and_blocks_are_recorded(opened: dict[str, tuple[ToolResult, float]]) -> None:
    fine = opened["to_fine"][0].meta
    assert fine["hops"] == ["http://good.test/to_fine", "http://good.test/fine"]
    assert fine["final_url"] == "http://good.test/fine"
    for path in ("to_blocked", "to_blocked_encoded"):
        meta = opened[path][0].meta
        assert meta["blocked"] is True
        assert meta["hops"][0] == f"http://good.test/{path}"
        assert "huggingface.co" in meta["hops"][1]
    assert opened["to_self"][0].content.endswith("redirects too often.")
    assert len(opened["to_self"][0].meta["hops"]) == 7
    assert "public Internet" in opened["to_private"][0].content
    assert "public Internet" in opened["to_literal"][0].content
    assert "port 22" in opened["to_port"][0].content


def test_memory_stays_small(opened: dict[str, tuple[ToolResult, float]]) -> None:
    """The fetch of bombs and endless pages, in a process of its own so that the servers' memory does not count."""
    assert opened
    import subprocess
    import sys

    tests = Path(__file__).resolve().parents[1]
    program = (
        "import sys; sys.path[:0] = [sys.argv[1], sys.argv[1] + '/../scripts', sys.argv[1] + '/faults']\n"
        "import test_open_hostile as t; t.measure_memory()"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tests)], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100 << 10, f"{done.stdout} kB more"


def measure_memory() -> None:
    """Prints by how many kB the peak of a client process grows over bombs and floods; servers run in a child."""
    import multiprocessing

    ports: Any = multiprocessing.get_context("fork").Queue()

    def serve() -> None:
        async def forever() -> None:
            async with hostile_server() as (port, _):
                ports.put(port)
                await asyncio.sleep(120)

        asyncio.run(forever())

    server = multiprocessing.get_context("fork").Process(target=serve, daemon=True)
    server.start()
    port = ports.get()

    async def main() -> None:
        sandbox = await Sandbox.start(SandboxSettings(), preload=["tir_distill.tools.extract:warm"])
        tool = opener(sandbox, port)
        await tool.call(call("http://good.test/fine"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for path in (
            "gzip_bomb",
            "double_bomb",
            "stacked",
            "huge_text",
            "huge_html",
            "endless",
            "header_flood",
            "pdf_bomb",
        ):
            await tool.call(call(f"http://good.test/{path}"))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        await sandbox.close()

    asyncio.run(main())
    server.kill()


URLS = [
    *(
        "http://127.0.0.1/",
        "http://localhost/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://127.1/",
    ),
    *(
        "http://0/",
        "http://0.0.0.0/",
        "http://017700000001/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
    ),
    *(
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
    ),
    *(
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest",
    ),
    *(
        "http://168.63.129.16/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://192.0.2.1/",
        "http://198.18.0.1/",
    ),
    *("http://１２７.０.０.１/", "http://①②⑦.⓪.⓪.①/", "http://evil\\@127.0.0.1/", "http://user:word@example.com/"),
    *("http://example.com:22/", "http://example.com:8080/", "ftp://example.com/", "file:///etc/passwd", "gopher://a/"),
    *(
        "javascript:alert(1)",
        "data:text/plain,x",
        "http://",
        "http://exa mple.com/",
        "http://a\r\nHost: b/",
        "x" * 5000,
        "//a/b",
    ),
    *("https://huggingface.co/datasets/x", "https://HUGGINGFACE.co/%64atasets/x", "https://a.b/GAIA_web/1"),
]


def test_addresses_in_every_spelling_are_refused_without_a_connection() -> None:
    async def main() -> None:
        connected: list[str] = []

        fetcher = Fetcher(SETTINGS, backend=VettedBackend(inner=Recording(connected)))
        tool = OpenTool(SETTINGS, ledger=NoCache(), sandbox=None, max_chars=8000, fetcher=fetcher)  # type: ignore[arg-type]
        for url in URLS:
            result = await tool.call(call(url))
            assert result.status == "model_error", url
            assert "Could not open" in result.content
        assert connected == []

    asyncio.run(main())


def test_a_name_that_changes_after_the_check_gains_nothing() -> None:
    """Rebinding: the checked address is the one connected to, however often the name is asked for again."""

    async def main() -> None:
        answers = iter([["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1"]])
        connected: list[str] = []

        async def resolver(_host: str, _port: int) -> list[str]:
            return next(answers)

        backend = VettedBackend(resolver=resolver, inner=Recording(connected))
        fetcher = Fetcher(SETTINGS, backend=backend)
        tool = OpenTool(SETTINGS, ledger=NoCache(), sandbox=None, max_chars=8000, fetcher=fetcher)  # type: ignore[arg-type]
        await tool.call(call("http://rebind.test/"))
        second = await tool.call(call("http://rebind.test/"))
        assert connected == ["93.184.216.34"]
        assert "public Internet" in second.content

    asyncio.run(main())


def test_one_private_address_among_public_ones_is_refused() -> None:
    async def main() -> None:
        sandbox: Any = None
        tool = opener(sandbox, 1)
        result = await tool.call(call("http://mixed.test/"))
        assert "public Internet" in result.content

    asyncio.run(main())
