"""The open tool: a page as text, from the ledger's cache, a trusted reader endpoint, or the net."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ..records.trajectory import ToolCall, ToolResult
from ..sandbox import Sandbox, SandboxFault, TaskFailed
from .calls import argument
from .fetching import Body, Fetcher, OpenFailed, tidy
from .reader import Reader, ReaderFault
from .settings import OpenSettings
from .text import for_model
from .vetting import ResolverDown

STORED_CHARS = 200_000
"""Kept of a page in the cache, whatever ``max_obs_chars`` is today."""
_TASK = "tir_distill.tools.extract:page"


class PageCache(Protocol):
    """What is needed of the ledger."""

    async def cached_page(
        self, url: str, *, max_age_s: float | None, fetch: Callable[[], Awaitable[Any]]
    ) -> tuple[dict[str, Any], bool]: ...


class OpenTool:
    """One per process."""

    def __init__(
        self,
        settings: OpenSettings,
        *,
        ledger: PageCache,
        sandbox: Sandbox,
        max_chars: int,
        fetcher: Fetcher | None = None,
    ) -> None:
        self._settings, self._ledger, self._sandbox, self._max_chars = settings, ledger, sandbox, max_chars
        self._fetcher = fetcher or Fetcher(settings)
        address = os.environ.get(settings.reader_url_env, "").strip()
        self._reader = Reader(address, settings) if address else None

    async def call(self, call: ToolCall) -> ToolResult:
        """Open the page. Raises BadCall before anything is asked for."""
        asked = argument(call)
        meta: dict[str, Any] = {
            "url": asked, "final_url": asked, "hops": [asked], "kind": "", "bytes": 0, "cached": False, "blocked": False
        }  # fmt: skip
        try:
            url = tidy(asked)
            page, cached = await self._ledger.cached_page(
                url, max_age_s=self._settings.max_age_s, fetch=lambda: self._page(url)
            )
        except OpenFailed as failed:
            hops = list(failed.hops) or [asked]
            meta |= {"hops": hops, "final_url": hops[-1], "blocked": failed.blocked}
            text, _ = for_model(f"Could not open {asked[:500]}: {failed.reason}.", self._max_chars)
            return ToolResult(call_id=call.id, name=call.name, status="model_error", content=text, meta=meta)
        except (SandboxFault, ReaderFault, ResolverDown) as fault:
            text, _ = for_model(f"Could not open {asked[:500]}: {fault}.", self._max_chars)
            return ToolResult(call_id=call.id, name=call.name, status="infrastructure", content=text, meta=meta)
        title = f"# {page['title']}\n\n" if page["title"] else ""
        text, cut = for_model(f"{title}{page['text']}", self._max_chars)
        meta |= {name: page[name] for name in ("final_url", "hops", "kind", "bytes")}
        meta |= {"cached": cached, "truncated": cut}
        return ToolResult(call_id=call.id, name=call.name, status="ok", content=text, meta=meta)

    async def close(self) -> None:
        """Close kept connections."""
        await self._fetcher.close()
        if self._reader is not None:
            await self._reader.close()

    async def _page(self, url: str) -> dict[str, Any]:
        if self._reader is not None:
            return await self._reader.get(url)
        body = await self._fetcher.get(url)
        try:
            return await self._parsed(body)
        except OpenFailed as failed:
            failed.hops = body.hops
            raise

    async def _parsed(self, body: Body) -> dict[str, Any]:
        kind = kind_of(body)
        if kind == "pdf" and body.cut:
            raise OpenFailed("the PDF is too large")
        header = {
            "kind": kind,
            "charset": body.charset,
            "simple": False,
            "max_pages": self._settings.max_pdf_pages,
            "max_chars": STORED_CHARS,
        }
        answer, text = await self._extract(header, body.data)
        if not text.strip():
            raise OpenFailed("it holds no readable text")
        if answer.get("note"):
            text += f"\n\n{answer['note']}"
        return {
            "title": str(answer.get("title", "")),
            "text": text,
            "final_url": body.final_url,
            "hops": list(body.hops),
            "kind": kind,
            "bytes": len(body.data),
        }

    async def _extract(self, header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], str]:
        """Parse in a locked worker; HTML that defeats one parser goes to a plainer one."""
        ways = [False, True] if header["kind"] == "html" else [False]
        for simple in ways:
            try:
                answer, blobs = await self._sandbox.task(
                    _TASK, {**header, "simple": simple}, [data], seconds=self._settings.parse_s, max_bytes=4 << 20
                )
                return answer, b"".join(blobs).decode("utf-8", "replace")
            except TaskFailed:
                continue
        raise OpenFailed("its content cannot be read")


def kind_of(body: Body) -> str:
    """``html``, ``pdf``, ``json``, ``image`` or ``text``, by content where servers err. Raises OpenFailed."""
    declared, start = body.content_type, body.data[:1024].lstrip()
    if start.startswith(b"%PDF-"):
        return "pdf"
    if declared.startswith("image/") and declared != "image/svg+xml":
        return "image"
    if declared in ("text/html", "application/xhtml+xml") or start[:15].lower().startswith(
        (b"<!doctype html", b"<html")
    ):
        return "html"
    if declared == "application/json" or declared.endswith("+json"):
        return "json"
    if declared == "application/pdf":
        raise OpenFailed("it is not the PDF that it claims to be")
    textual = declared.startswith("text/") or declared.endswith(("xml", "javascript", "yaml", "csv"))
    if textual or (declared in ("", "application/octet-stream") and b"\x00" not in body.data[:4096]):
        return "text"
    raise OpenFailed(f"it is a file of the kind {declared[:80] or 'unknown'}, which cannot be shown as text")
