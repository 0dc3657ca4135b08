"""Which addresses are public, by hand-made lists (IANA special-purpose registries)."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

import httpcore
import pytest

from tir_distill.records import ToolCall, ToolResult
from tir_distill.tools.fetching import Fetcher, OpenFailed, tidy
from tir_distill.tools.open_page import OpenTool
from tir_distill.tools.settings import OpenSettings
from tir_distill.tools.vetting import Resolver, ResolverDown, VettedBackend, is_public

PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2001:4860:4860::8888", "185.199.108.153"]
PRIVATE = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
    *("169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.19.255.255"),
    *("198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    *(
        "168.63.129.16",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "::8.8.8.8",
        "64:ff9b::7f00:1",
    ),
    *("64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::", "2001::1", "2001:db8::1", "fe80::1", "fec0::1", "fc00::1"),
    *("192.0.0.192", "192.0.0.9", "100.100.100.200", "fd00:ec2::254", "::ffff:0:7f00:1", "4000::1", "2001:2::1"),
    *("fd00::1", "ff02::1", "3fff::1", "5f00::1", "100::1", "fe80::1%eth0"),
]


@pytest.mark.parametrize("text", PUBLIC)
def test_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PRIVATE)
def test_not_public(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com", "http://example.com"),
        (" https://example.com/a#part ", "https://example.com/a"),
        ("www.example.com/a", "https://www.example.com/a"),
        ("<https://example.com/>", "https://example.com/"),
        ("https://例え.jp/川", "https://xn--r8jz45g.jp/%E5%B7%9D"),
    ],
)
def test_tidy(url: str, expected: str) -> None:
    assert tidy(url) == expected


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://a.b/", "http://", "http://a b/", "http://u:p@a.b/", "http://a\\b/", "javascript:x"]
)
def test_tidy_refuses(url: str) -> None:
    with pytest.raises(OpenFailed):
        tidy(url)


def lookup(broken: set[str], code: int) -> tuple[Resolver, list[str]]:
    asked: list[str] = []

    async def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        if host in broken or "*" in broken:
            raise socket.gaierror(code, "no")
        return ["93.184.216.34"]

    return resolver, asked


@pytest.mark.parametrize(
    ("broken", "code", "error"),
    [
        ({"*"}, socket.EAI_AGAIN, ResolverDown),  # our resolver is down
        ({"page.test"}, socket.EAI_AGAIN, httpcore.ConnectError),  # this domain's own servers are broken
        ({"*"}, socket.EAI_NONAME, httpcore.ConnectError),  # there is no such name
    ],
)
def test_a_resolver_that_is_down_is_told_from_a_name_that_is_not_there(
    broken: set[str], code: int, error: type[Exception]
) -> None:
    resolver, asked = lookup(broken, code)
    with pytest.raises(error):
        asyncio.run(VettedBackend(resolver=resolver, pause_s=0).connect_tcp("page.test", 443))
    assert asked.count("page.test") == (1 if code == socket.EAI_NONAME else 2)


def test_a_resolver_that_is_down_is_no_fault_of_the_model() -> None:
    class Pages:
        async def cached_page(self, url: str, *, max_age_s: float | None, fetch: Any) -> tuple[dict[str, Any], bool]:
            return await fetch(), False

    async def main() -> ToolResult:
        settings = OpenSettings(deadline_s=5)
        backend = VettedBackend(resolver=lookup({"*"}, socket.EAI_AGAIN)[0], pause_s=0)
        fetcher = Fetcher(settings, backend=backend)
        tool = OpenTool(settings, ledger=Pages(), sandbox=None, max_chars=500, fetcher=fetcher)  # type: ignore[arg-type]
        result = await tool.call(ToolCall(id="c", name="open", arguments='{"url": "https://page.test/"}'))
        await tool.close()
        return result

    assert asyncio.run(main()).status == "infrastructure"
