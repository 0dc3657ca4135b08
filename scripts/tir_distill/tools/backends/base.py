"""What a search backend is, and the ways in which one request can end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ...ledger import Door, Fetched
from ..search_results import SearchResult


class SearchBackend(Protocol):
    """One provider. Retries, pacing, caching and budgets are the caller's."""

    name: str
    """Part of the cache key, and the name of the rate queue."""
    paid: bool
    """False: only the trajectory's cap counts its searches, and it is not paced."""

    def params(self) -> Mapping[str, Any]:
        """What else decides an answer: part of the cache key."""
        ...

    async def ask(self, query: str, door: Door) -> Fetched:
        """Send one request; a paid backend passes ``door`` when it is about to write it. Raises TryAgain, QueryRefused
        or ProviderStop.
        """
        ...

    async def close(self) -> None:
        """Free connections."""
        ...


class TryAgain(Exception):
    """The request failed in a way that may pass: timeout, connection, 429, 5xx, a body that is no answer."""

    def __init__(self, kind: str, detail: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail
        self.retry_after_s = retry_after_s
        """The provider's own time, in seconds from now."""


class QueryRefused(Exception):
    """The provider will not answer this query, however often it is asked: the model's mistake."""


class ProviderStop(Exception):
    """Nothing will be answered until a person has done something. ``reason`` is one of the ledger's stop reasons."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def answer(results: Iterable[SearchResult], credits: float = 1.0) -> Fetched:
    """Normalised results as a cacheable answer; an empty list is doubtful."""
    rows = [result.to_dict() for result in results]
    return Fetched(payload={"results": rows}, doubtful=not rows, credits=credits)
