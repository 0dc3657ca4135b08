"""One page from the net: redirects by hand, a deadline over everything, sizes capped before and after unpacking."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
import time
import urllib.request
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

import httpcore
import httpx

from ..records.blocked_urls import blocked
from .settings import OpenSettings
from .vetting import Refused, VettedBackend

_CHUNK = 1 << 16
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = [
    (b"User-Agent", b"Mozilla/5.0 (compatible; tir-distill)"),
    (b"Accept", b"text/html,application/xhtml+xml,application/pdf,text/plain,application/json;q=0.9,*/*;q=0.5"),
    (b"Accept-Language", b"en,zh;q=0.8,*;q=0.5"),
    (b"Accept-Encoding", b"gzip"),
]


class OpenFailed(Exception):
    """The page cannot be shown; the text says why in words for the model."""

    def __init__(self, reason: str, *, blocked: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.blocked = reason, blocked
        self.hops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A page as it came, unpacked."""

    final_url: str
    hops: tuple[str, ...]
    """Addresses asked, the first one included."""
    content_type: str
    """Lower case, without parameters."""
    charset: str
    data: bytes
    cut: bool
    """There was more than the cap."""


def tidy(url: str) -> str:
    """A URL that may be asked for: http or https, no user name, no fragment. Raises OpenFailed."""
    url = url.strip().strip("<>\"'")
    if _UNSAFE.search(url) or len(url) > 4000:
        raise OpenFailed("this is not a valid address")
    if re.match(r"[\w-]+(\.[\w-]+)+(/|$)", url) and "://" not in url:
        url = "https://" + url
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise OpenFailed("this is not a valid address") from None
    if parsed.scheme not in ("http", "https"):
        raise OpenFailed("only http and https addresses can be opened")
    if not parsed.host:
        raise OpenFailed("this is not a valid address")
    if parsed.userinfo:
        raise OpenFailed("addresses with a user name are not opened")
    return str(parsed.copy_with(fragment=None))


@dataclass(slots=True)
class Politeness:
    """Few connections to one host at a time, with a pause between them."""

    per_host: int
    delay_s: float
    _busy: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    _next: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextlib.asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Hold one of the host's places."""
        async with self._busy.setdefault(host, asyncio.Semaphore(self.per_host)):
            now = time.monotonic()
            start = max(now, self._next[host])
            self._next[host] = start + self.delay_s
            await asyncio.sleep(start - now)
            yield


class Fetcher:
    """An HTTP client that trusts no server. No cookies, no credentials, no keys."""

    def __init__(self, settings: OpenSettings, *, backend: httpcore.AsyncNetworkBackend | None = None) -> None:
        self._settings = settings
        self._polite = Politeness(settings.per_host, settings.host_delay_s)
        self._backend = backend or VettedBackend(ports=settings.ports)
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def get(self, url: str) -> Body:
        """Fetch a page. Raises OpenFailed, also when the deadline passes, with the hops so far; ResolverDown."""
        hops: list[str] = []
        try:
            return await self._follow(tidy(url), hops)
        except OpenFailed as known:
            known.hops = tuple(hops)
            raise
        except Refused as refused:
            reason = str(refused)
        except TimeoutError:
            reason = f"it took longer than {self._settings.deadline_s:g} s"
        except (
            httpcore.TimeoutException,
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.UnsupportedProtocol,
            httpcore.ProxyError,
            ssl.SSLError,
            OSError,
        ) as error:
            reason = _words(error)
        failed = OpenFailed(reason)
        failed.hops = tuple(hops)
        raise failed

    async def close(self) -> None:
        """Close kept connections."""
        if self._pool is not None:
            await self._pool.aclose()

    async def _follow(self, url: str, hops: list[str]) -> Body:
        left = self._settings.deadline_s  # waiting for a busy host's turn does not count: that is our doing
        while True:
            hops.append(url)
            if blocked(url, self._settings.blocked):
                raise OpenFailed("this address is on the list of pages that must not be used", blocked=True)
            if len(hops) > self._settings.max_redirects + 1:
                raise OpenFailed("it redirects too often")
            async with self._polite.turn(httpx.URL(url).host):
                started = time.monotonic()
                async with asyncio.timeout(left):
                    answer = await self._ask(url, tuple(hops))
                left -= time.monotonic() - started
            if isinstance(answer, Body):
                return answer
            url = tidy(urljoin(url, answer))

    async def _ask(self, url: str, hops: tuple[str, ...]) -> Body | str:
        """The page, or the address it redirects to."""
        if self._pool is None:
            self._pool = _pool(self._backend, self._settings.trust_env)
        parsed = httpx.URL(url)
        headers = [(b"Host", parsed.netloc), *_HEADERS]
        target = httpcore.URL(scheme=parsed.raw_scheme, host=parsed.raw_host, port=parsed.port, target=parsed.raw_path)
        seconds = self._settings.deadline_s
        limits = {"timeout": {"connect": 10.0, "read": seconds, "write": 10.0, "pool": seconds}}
        async with self._pool.stream("GET", target, headers=headers, extensions=limits) as response:
            fields = {name.lower(): value.decode("latin-1") for name, value in response.headers}
            if response.status in _REDIRECTS and fields.get(b"location"):
                return fields[b"location"]
            if response.status >= 400:
                raise OpenFailed(f"the server answered {response.status}")
            content_type, _, parameters = fields.get(b"content-type", "").lower().partition(";")
            charset = re.search(r"charset=\s*[\"']?([\w.:-]{1,40})", parameters)
            is_pdf = content_type.strip() == "application/pdf"
            limit = self._settings.max_pdf_bytes if is_pdf else self._settings.max_bytes
            coding = fields.get(b"content-encoding", "").strip().lower()
            data, cut = await _read(response.aiter_stream(), coding, limit)
        return Body(url, hops, content_type.strip(), charset.group(1) if charset else "", data, cut)


async def _read(stream: AsyncIterator[bytes], coding: str, limit: int) -> tuple[bytes, bool]:
    """At most ``limit`` bytes, unpacked in small steps: one packed chunk can stand for a gigabyte."""
    if coding in ("", "identity"):
        unpack = None
    elif coding in ("gzip", "x-gzip", "deflate"):
        unpack = zlib.decompressobj(47)
    else:
        raise OpenFailed("it is packed in a way that was not asked for")
    parts = bytearray()
    received, bare, before = 0, False, b""
    async for chunk in stream:
        received += len(chunk)
        if unpack is None:
            parts += chunk
        else:
            todo = chunk
            while todo and len(parts) <= limit and not unpack.eof:
                try:
                    parts += unpack.decompress(todo, _CHUNK)
                except zlib.error:
                    if parts or coding != "deflate" or bare:
                        raise OpenFailed("its packed data are broken") from None
                    unpack, bare = zlib.decompressobj(-15), True  # some servers send deflate without its envelope
                    todo = before + todo
                    continue
                before = todo if not parts and len(before) < 2 else b""  # an envelope is known by its first two bytes
                todo = unpack.unconsumed_tail
        if len(parts) > limit or received > limit:
            del parts[limit:]
            return bytes(parts), True
        if unpack is not None and unpack.eof:
            break
    return bytes(parts), False


def _pool(backend: httpcore.AsyncNetworkBackend, trust_env: bool) -> httpcore.AsyncConnectionPool:
    context = httpx.create_ssl_context()
    proxies = urllib.request.getproxies() if trust_env else {}
    proxy = proxies.get("https") or proxies.get("http")
    if proxy:
        return httpcore.AsyncHTTPProxy(proxy, ssl_context=context, max_connections=64, max_keepalive_connections=8)
    return httpcore.AsyncConnectionPool(
        ssl_context=context,
        max_connections=64,
        max_keepalive_connections=0,  # a kept connection would outlive the check of its address
        network_backend=backend,
    )


def _words(error: Exception) -> str:
    """A plain reason without addresses of ours or Python's names."""
    if isinstance(error, httpcore.TimeoutException):
        return "the server does not answer"
    text = str(error)
    if "resolved" in text:
        return "its name cannot be resolved"
    if isinstance(error, ssl.SSLError) or "SSL" in text or "certificate" in text.lower():
        return "its certificate is not valid"
    if isinstance(error, httpcore.ProtocolError):
        return "the server does not speak proper HTTP"
    return "the server cannot be reached"
