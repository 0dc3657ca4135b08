"""SearXNG: a metasearch server of one's own, free of charge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx

from ...ledger import Door, Fetched
from ...records import UsageError
from ..search_results import SearchResult, distinct
from ..search_settings import SearchSettings
from . import http
from .base import ProviderStop, QueryRefused, TryAgain, answer


class SearxngBackend:
    """SEARXNG_URL is the server's root; its settings must allow ``format=json``."""

    name = "searxng"
    paid = False

    def __init__(self, settings: SearchSettings, *, url: str) -> None:
        self._settings = settings
        self._url = f"{url.rstrip('/')}/search"
        self._client: httpx.AsyncClient | None = None

    @classmethod
    def from_env(cls, settings: SearchSettings) -> SearxngBackend:
        """Raises UsageError when no server is named."""
        url = os.environ.get("SEARXNG_URL", "").strip()
        if not url:
            raise UsageError("SEARXNG_URL is not set; it names the server, e.g. http://localhost:8080")
        return cls(settings, url=url)

    def params(self) -> Mapping[str, Any]:
        return {"num": self._settings.results, **self._settings.region}

    async def ask(self, query: str, _door: Door) -> Fetched:
        if self._client is None:
            self._client = http.new_client(self._settings.timeout_s)
        region = dict(self._settings.region)
        language = region.pop("hl", None)
        fields = {"q": query, "format": "json", **({"language": language} if language else {}), **region}
        response = await http.send(self._client, "GET", self._url, params=fields)
        http.raise_if_passing(response, "")
        if response.status_code == 403:
            raise ProviderStop("bad_key", "SearXNG answered 403: allow the json format in its settings")
        if response.status_code == 400:
            raise QueryRefused(http.excerpt(response, ""))
        body = http.json_object(response)
        if body is None or not isinstance(body.get("results"), list):
            raise TryAgain("garbled", f"{response.status_code} without a list of results")
        hits = (
            SearchResult.of(hit.get("title"), hit.get("url"), hit.get("content"), hit.get("publishedDate"))
            for hit in body["results"]
            if isinstance(hit, Mapping)
        )
        return answer(distinct(hits, self._settings.results))

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None
