"""open(url) against servers and addresses that mean ill: refused or cut in time, in plain words, in little memory."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import resource
from pathlib import Path
from typing import Any

import httpcore
import pytest

from hostile_servers import BODIES, STREAMS, serving
from tir_distill.records import ToolCall, ToolResult
from tir_distill.sandbox import Sandbox, SandboxSettings
from tir_distill.tools.fetching import Fetcher
from tir_distill.tools.open_page import OpenTool
from tir_distill.tools.settings import OpenSettings
from tir_distill.tools.vetting import VettedBackend, is_public

LOOPBACK = ipaddress.ip_address("127.0.0.1")
PATIENT = OpenSettings(
    deadline_s=120, parse_s=120, host_delay_s=0, per_host=4, blocked=(r"huggingface\.co/datasets", "GAIA_web")
)
"""For what has an end: on a busy machine no honest page may fail for want of a processor."""
HASTY = OpenSettings(deadline_s=1, parse_s=0.5, host_delay_s=0, per_host=4, blocked=PATIENT.blocked)
"""For what has none: only these deadlines can end it."""
ENDLESS = {"slow", "slow_head", "silent", "slow_chunks", "slow_hops", "silent_body", "continues", "hints"}
"""Never give a page: the deadline over everything must cut them."""
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
    *("to_latin", "meta_refresh", "cookies", "gzip_members", "utf_16_mark", "utf_16_named", "utf_16_lie", "utf_7"),
    *("charset_long", "charset_rot13", "charset_hex", "no_type_html", "html_as_json", "many_links", "pdf_as_octets"),
    *("pdf_false_count", "folded_header"),
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
    *("endless_gzip_head", "gzip_bomb", "double_bomb", "stacked"),
    *("entity_bomb", "open_comment", "many_attributes", "many_titles", "many_tables", "picture_svg", "hidden_gzip"),
    *("pdf_many_pages", "pdf_object_streams", "pdf_deep_arrays", "pdf_deep_tree", "pdf_no_end", "deflate_bomb"),
    *("endless_gzip", "picture_as_html", "gzip_cut", "long_status", "trailer_flood", "program"),
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
"""Either outcome is fine, since it depends on the machine's speed; they are opened with the short deadlines."""


class NoCache:
    """Asks for every page anew."""

    async def cached_page(self, url: str, *, max_age_s: float | None, fetch: Any) -> tuple[dict[str, Any], bool]:
        return await fetch(), False


def opener(sandbox: Sandbox, port: int, settings: OpenSettings = PATIENT) -> OpenTool:
    """An open tool for which good.test is this server, and which trusts this server's address alone."""

    async def resolver(host: str, _port: int) -> list[str]:
        names = {
            "good.test": ["127.0.0.1"],
            "other.test": ["127.0.0.1"],
            "mixed.test": ["127.0.0.1", "10.0.0.1"],
            "private.test": ["10.1.2.3"],
        }
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
    fetcher = Fetcher(settings, backend=backend)
    return OpenTool(settings, ledger=NoCache(), sandbox=sandbox, max_chars=8000, fetcher=fetcher)


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
def heads() -> list[str]:
    """Heads of all requests that ``opened`` made."""
    return []


@pytest.fixture(scope="module")
def opened(heads: list[str]) -> dict[str, ToolResult]:
    """Result of every path, a few at a time. A path that is never cut ends in the test's own TimeoutError."""

    async def main(port: int) -> dict[str, ToolResult]:
        sandbox = await Sandbox.start(SandboxSettings(), preload=["tir_distill.tools.extract:warm"])
        found = {}
        patient, hasty = opener(sandbox, port), opener(sandbox, port, HASTY)
        gate = asyncio.Semaphore(4)

        async def one(path: str) -> None:
            tool = hasty if path in EITHER | ENDLESS else patient
            async with gate, asyncio.timeout(300):
                found[path] = await tool.call(call(f"http://good.test/{path}"))

        await asyncio.gather(*(one(path) for path in [*BODIES, *STREAMS]))
        for tool in (patient, hasty):
            await tool.close()
        await sandbox.close()
        return found

    with serving() as (port, stop):
        found = asyncio.run(main(port))
        heads.extend(stop())
    return found


def test_there_are_enough_hostile_servers() -> None:
    assert len(BODIES) + len(STREAMS) >= 140
    assert len(set(URLS)) == len(URLS) >= 120


@pytest.mark.parametrize("path", [*BODIES, *STREAMS])
def test_each_is_read_or_refused(path: str, opened: dict[str, ToolResult]) -> None:
    result = opened[path]
    if path not in EITHER:
        assert result.status == ("ok" if path in READABLE else "model_error"), result.content[:300]
    if path in ENDLESS:
        assert result.content.endswith(": it took longer than 1 s."), result.content
    if result.status == "model_error":
        assert result.content.startswith(f"Could not open http://good.test/{path}: ")
        assert result.content.endswith(".")
        assert "Traceback" not in result.content
        assert "Error(" not in result.content
    assert result.status != "infrastructure"
    assert len(result.content) <= 8000 + 30


def test_texts_come_out_right(opened: dict[str, ToolResult]) -> None:
    text = {path: result.content for path, result in opened.items()}
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


def test_hops_and_blocks_are_recorded(opened: dict[str, ToolResult]) -> None:
    fine = opened["to_fine"].meta
    assert fine["hops"] == ["http://good.test/to_fine", "http://good.test/fine"]
    assert fine["final_url"] == "http://good.test/fine"
    for path in ("to_blocked", "to_blocked_encoded"):
        meta = opened[path].meta
        assert meta["blocked"] is True
        assert meta["hops"][0] == f"http://good.test/{path}"
        assert "huggingface.co" in meta["hops"][1]
    assert opened["to_self"].content.endswith("redirects too often.")
    assert len(opened["to_self"].meta["hops"]) == 7
    assert "public Internet" in opened["to_private"].content
    assert "public Internet" in opened["to_literal"].content
    assert "port 22" in opened["to_port"].content
    for path in ("to_slashes", "chain_1"):
        assert "public Internet" in opened[path].content, path
    assert [hop.rpartition("/")[2] for hop in opened["chain_1"].meta["hops"]] == [
        "chain_1",
        "chain_2",
        "chain_3",
        "",
    ]
    assert opened["blocked_1"].meta["blocked"] is True
    assert opened["blocked_1"].meta["hops"][2] == "http://other.test/GAIA_web/1"
    for path in ("to_ftp", "to_data", "to_script", "to_gopher", "to_file"):
        assert "only http and https" in opened[path].content, path
    assert opened["ping"].content.endswith("redirects too often.")
    assert opened["slow_hops"].content.endswith("it took longer than 1 s.")


def test_nothing_else_is_asked_for_and_nothing_is_told(heads: list[str], opened: dict[str, ToolResult]) -> None:
    """No refresh is followed, no cookie kept, no password sent, no page asked for twice."""
    assert opened["meta_refresh"].status == "ok"
    paths = [head.split()[1] for head in heads]
    assert len(paths) >= len(BODIES) + len(STREAMS)
    assert "/secret_page" not in paths
    assert paths.count("/meta_refresh") == paths.count("/password") == 1
    assert sum(path.startswith("/fine?cookie") for path in paths) == 1
    for head in heads:
        names = {line.partition(":")[0].lower() for line in head.strip().splitlines()[1:]}
        assert names == {"host", "user-agent", "accept", "accept-language", "accept-encoding"}, head
        assert "\r\nHost: good.test\r\n" in head or "\r\nHost: other.test\r\n" in head


def test_memory_stays_small(opened: dict[str, ToolResult]) -> None:
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
    """Prints by how many kB the peak of a client process grows over bombs and floods."""

    async def main(port: int) -> None:
        sandbox = await Sandbox.start(SandboxSettings(), preload=["tir_distill.tools.extract:warm"])
        tool = opener(sandbox, port, HASTY)
        await opener(sandbox, port).call(call("http://good.test/fine"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for path in (
            *("gzip_bomb", "double_bomb", "stacked", "deflate_bomb", "huge_text", "huge_html", "endless"),
            *("endless_gzip", "header_flood", "long_status", "pdf_bomb"),
        ):
            await tool.call(call(f"http://good.test/{path}"))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        await sandbox.close()

    with serving() as (port, _):
        asyncio.run(main(port))


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
    *("HTTP://127.0.0.1/", "http://127.0.0.1./", "http://localhost./", "http://LOCALHOST/", "http://127.0.0.1:443/"),
    *("http://0177.0.0.1/", "http://0300.0250.1.1/", "http://0x0a000001/", "http://0xA9FEA9FE/", "http://2852039166/"),
    *("http://192.168.257/", "http://10.1/", "http://169.254.43518/", "http://0xC0.0250.1/", "http://00000177.1/"),
    *(
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]/",
        "http://[::ffff:0:127.0.0.1]/",
        "http://[::7f00:1]/",
    ),
    *("http://[64:ff9b:1::a00:1]/", "http://[2001:0:7f00:1::]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/"),
    *(
        "http://[::1%25lo]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://[fd00:ec2::254]/",
    ),
    *("http://[::ffff:169.254.169.254]/", "http://[2002:a9fe:a9fe::]/", "http://[::]:80/", "http://[::1]:443/"),
    *(
        "http://127。0。0。1/",
        "http://127．0．0．1/",
        "http://127｡0｡0｡1/",
        "http://１０.０.０.１/",
        "http://ⓛocalhost/",
    ),
    *("http://example.com@127.0.0.1/", "http://127.0.0.1#@example.com/", "http://127.0.0.1?@example.com/"),
    *(
        "http://%31%32%37.0.0.1/",
        "http://127.0.0.1%2f@example.com/",
        "http://example.com:80@127.0.0.1/",
        "http:127.0.0.1",
    ),
    *(
        "http://127.0.0.1\t/",
        "http:///127.0.0.1/",
        "http:\\\\127.0.0.1\\",
        "http://127.0.0.1:80:80/",
        "http://@127.0.0.1/",
    ),
    *(
        "http://100.100.100.200/",
        "http://192.0.0.192/",
        "http://198.51.100.7/",
        "http://203.0.113.9/",
        "http://240.0.0.1/",
    ),
    *("http://example.com:0/", "http://example.com:99999/", "http://example.com:-1/", "http://example.com:6379/"),
    *("http://example.com:08080/", "https://example.com:8443/", "http://example.com:２２/"),
    *(
        "ws://example.com/",
        "view-source:http://127.0.0.1/",
        "about:blank",
        "blob:http://a/b",
        "dict://127.0.0.1:11211/",
    ),
    *("ldap://127.0.0.1/", "sftp://example.com/", "unix:///var/run/docker.sock", "http+unix://%2fvar%2frun/", "jar:x"),
    *("file://localhost/etc/passwd", "FILE:///etc/passwd", "smb://a/b", "chrome://version", "intent://a/#Intent;end"),
    *("https://huggingface.co/datasets/x", "https://HUGGINGFACE.co/%64atasets/x", "https://a.b/GAIA_web/1"),
]


def test_addresses_in_every_spelling_are_refused_without_a_connection() -> None:
    async def main() -> None:
        connected: list[str] = []

        fetcher = Fetcher(PATIENT, backend=VettedBackend(inner=Recording(connected)))
        tool = OpenTool(PATIENT, ledger=NoCache(), sandbox=None, max_chars=8000, fetcher=fetcher)  # type: ignore[arg-type]
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
        fetcher = Fetcher(PATIENT, backend=backend)
        tool = OpenTool(PATIENT, ledger=NoCache(), sandbox=None, max_chars=8000, fetcher=fetcher)  # type: ignore[arg-type]
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
