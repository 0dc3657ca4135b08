"""A trusted reader endpoint: ``GET <reader_url><target>`` answers with the page as plain text or Markdown."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from typing import Any

import httpx

from ..records.blocked_urls import blocked
from .fetching import OpenFailed
from .settings import OpenSettings
from .vetting import is_public

_HEAD = re.compile(r"\ATitle: (?P<title>[^\n]*)\n(?P<rest>.*?)^Markdown Content:\n", re.DOTALL | re.MULTILINE)
_SOURCE = re.compile(r"^URL Source: (\S+)", re.MULTILINE)


class ReaderFault(Exception):
    """The endpoint itself cannot be used: our side, not the model's."""


class Reader:
    """One per process. The endpoint is ours; what it returns is as little trusted as any page."""

    def __init__(self, address: str, settings: OpenSettings) -> None:
        self._address, self._settings = address, settings
        self._client: httpx.AsyncClient | None = None

    async def get(self, url: str) -> dict[str, Any]:
        """The page's payload. Raises OpenFailed, or ReaderFault after a second attempt."""
        self._check(url)
        for last in (False, True):
            try:
                return await self._ask(url)
            except ReaderFault:
                if last:
                    raise
                await asyncio.sleep(1.0)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _check(self, url: str) -> None:
        if blocked(url, self._settings.blocked):
            raise OpenFailed("this address is on the list of pages that must not be used", blocked=True)
        try:
            literal = ipaddress.ip_address(httpx.URL(url).host)
        except ValueError:
            return  # a name; the endpoint resolves it
        if not is_public(literal):
            raise OpenFailed("it points to an address that is not on the public Internet")

    async def _ask(self, url: str) -> dict[str, Any]:
        settings = self._settings
        if self._client is None:
            self._client = httpx.AsyncClient(trust_env=settings.trust_env, timeout=settings.deadline_s)
        data = bytearray()
        try:
            async with (
                asyncio.timeout(settings.deadline_s),
                self._client.stream(
                    "GET", self._address + url, headers={"Accept": "text/plain", "Accept-Encoding": "identity"}
                ) as response,
            ):
                if response.status_code >= 500 or response.status_code in (401, 402, 429):
                    raise ReaderFault(f"the reader endpoint answered {response.status_code}")
                if response.status_code >= 400:
                    raise OpenFailed(f"the server answered {response.status_code}")
                async for chunk in response.aiter_raw():
                    data += chunk
                    if len(data) > settings.max_bytes:
                        break
        except TimeoutError:
            raise OpenFailed(f"it took longer than {settings.deadline_s:g} s") from None
        except httpx.HTTPError as error:
            raise ReaderFault(f"the reader endpoint cannot be reached ({type(error).__name__})") from None
        text = bytes(data[: settings.max_bytes]).decode("utf-8", "replace").replace("\r\n", "\n")
        return self._payload(url, text, len(data))

    def _payload(self, url: str, text: str, size: int) -> dict[str, Any]:
        title, final = "", url
        if head := _HEAD.search(text[:20_000]):
            title = head["title"].strip()[:300]
            if source := _SOURCE.search(head["rest"]):
                final = source[1]
            text = text[head.end() :]
        if blocked(final, self._settings.blocked):
            raise OpenFailed("this address is on the list of pages that must not be used", blocked=True)
        text = text.strip()
        if not text:
            raise OpenFailed("it holds no readable text")
        hops = [url] if final == url else [url, final]
        return {
            "title": title,
            "text": text[:200_000],
            "final_url": final,
            "hops": hops,
            "kind": "reader",
            "bytes": size,
        }
