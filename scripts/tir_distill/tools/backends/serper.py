"""Serper (Google results by a paid API)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from ...ledger import Door, Fetched
from ...records import UsageError
from ..search_results import SearchResult, distinct
from ..search_settings import SearchSettings
from . import http
from .base import ProviderStop, QueryRefused, TryAgain, answer

DEFAULT_URL = "https://google.serper.dev/search"
_CREDITS = re.compile(r"\bcredits?\b")
"""In the provider's own words beside a 4xx: the account is empty. A 400 in practice, 402 and 403 elsewhere (seed
section 12), with changing words ("Not enough credits", "You have no credits left")."""
_NO_CREDITS = re.compile(r"\b(?:not enough|insufficient|no|(?:run|ran)? ?out of) (?:more )?credits?\b|\bcredit limit\b")
"""Beside any other status, and beside 429, which may speak of credits a second."""
_REFUSES = range(400, 500)
MAX_PRICE = 1000
"""Credits for one search beyond this are a slip of the provider."""


class SerperBackend:
    """SERPER_URL and SERPER_API_KEY come from the environment."""

    name = "serper"
    paid = True

    def __init__(self, settings: SearchSettings, *, url: str, key: str) -> None:
        self._settings = settings
        self._url = url
        self._key = key
        self._client: httpx.AsyncClient | None = None

    @classmethod
    def from_env(cls, settings: SearchSettings) -> SerperBackend:
        """Raises UsageError when there is no key."""
        key = os.environ.get("SERPER_API_KEY", "").strip()
        if not key:
            raise UsageError("SERPER_API_KEY is not set; put it into the environment or .env")
        return cls(settings, url=os.environ.get("SERPER_URL") or DEFAULT_URL, key=key)

    def params(self) -> Mapping[str, Any]:
        return {"num": self._settings.results, **self._settings.region}

    async def ask(self, query: str, door: Door) -> Fetched:
        if self._client is None:
            self._client = http.new_client(self._settings.timeout_s)
        response = await http.send(
            self._client,
            "POST",
            self._url,
            json={"q": query, **self.params()},
            headers={"X-API-KEY": self._key},
            extensions=http.at_the_door(door),
        )
        body = http.json_object(response)
        self._raise_for_status(query, response, body)
        if body is None:
            raise TryAgain("garbled", f"{response.status_code} without a JSON object")
        if not isinstance(body.get("organic"), list) and not _is_billed(body):
            raise TryAgain("garbled", "neither results nor a sign that the search was billed")
        return answer(distinct(_hits(body), self._settings.results), _price(body))

    def _raise_for_status(self, query: str, response: httpx.Response, body: Mapping[str, Any] | None) -> None:
        status = response.status_code
        said = http.excerpt(response, self._key)
        no_answer = body is None or not body.get("organic")
        if no_answer and (status == 402 or _says_no_credits(status, _message(body, said), query)):
            raise ProviderStop("credits_exhausted", f"the search provider answered {status}: {said}")
        http.raise_if_passing(response, self._key)
        if status in (401, 403):
            raise ProviderStop("bad_key", f"the search provider answered {status}: {said}; check SERPER_API_KEY")
        if status == 400 and body is not None:
            raise QueryRefused(said)
        if status != 200:
            raise TryAgain("unexpected_status", f"{status} {said}")

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def _says_no_credits(status: int, message: str, query: str) -> bool:
    """Whether the account is empty, in the provider's words: a refusal may quote the query, which may say anything."""
    asked = " ".join(query.lower().split())
    if _NO_CREDITS.search(asked):
        message = message.replace(asked, " ")
    wide = status in _REFUSES and status != 429 and not _CREDITS.search(asked)
    return (_CREDITS if wide else _NO_CREDITS).search(message) is not None


def _is_billed(body: Mapping[str, Any]) -> bool:
    """An answer without a list of results: it repeats what was asked or names its price, and complains of nothing."""
    return ("searchParameters" in body or "credits" in body) and not _message(body, "").strip()


def _price(body: Mapping[str, Any]) -> float:
    """Credits that were taken; one where the answer names none."""
    credits = body.get("credits")
    named = isinstance(credits, int | float) and 0 < credits < MAX_PRICE
    return float(credits) if named else 1.0  # type: ignore[arg-type]


def _message(body: Mapping[str, Any] | None, said: str) -> str:
    """What the provider says in its own words, in lower case: an answer repeats the query, which may say anything."""
    if body is None:
        return said.lower()
    return " ".join(str(body.get(name) or "") for name in ("message", "error", "detail")).lower()


def _hits(body: Mapping[str, Any]) -> Iterator[SearchResult | None]:
    """A direct answer with its source first, then the ordinary results; the subject's panel where there is room."""
    box = body.get("answerBox")
    if isinstance(box, Mapping):
        yield SearchResult.of(
            box.get("title"), box.get("link"), box.get("answer") or box.get("snippet"), box.get("date")
        )
    organic = body.get("organic")
    for hit in organic if isinstance(organic, list) else ():
        if isinstance(hit, Mapping):
            yield SearchResult.of(hit.get("title"), hit.get("link"), hit.get("snippet"), hit.get("date"))
    panel = body.get("knowledgeGraph")
    if isinstance(panel, Mapping):
        address = panel.get("website") or panel.get("descriptionLink")
        yield SearchResult.of(panel.get("title"), address, panel.get("description"))
