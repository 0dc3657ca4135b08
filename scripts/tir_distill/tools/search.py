"""The search tool: the model's query through the ledger to a provider, and back as text.

Neutralising of template-like text and cutting to the length limit are done by the caller, alike for all tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Self

import orjson
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from ..ledger import Door, Fetched, Ledger, Owner, SearchFault, SearchOutcome, normalise_query
from ..records import Stopped, ToolCall, ToolResult
from .backends import ProviderStop, QueryRefused, SearchBackend, TryAgain, backend_from_env
from .search_results import SearchResult, render
from .search_settings import SearchSettings

LONGEST_NAMED_WAIT_S = 120.0
"""A provider that asks for more than this is not waited for: the search fails, and failing searches stop the run."""
AT_THE_DOOR = 8
"""Conversations of a process that stand before the rate's door with a connection; the others wait without one, because
servers close connections that stay silent."""
CAP_TEXT = "Search budget used up: this search was not run."


class SearchTool:
    """One per process; all trajectories share its connections."""

    def __init__(self, ledger: Ledger, settings: SearchSettings, backend: SearchBackend) -> None:
        self._ledger = ledger
        self._settings = settings
        self._backend = backend
        self._faults_in_a_row = 0
        self._entrance = asyncio.Semaphore(AT_THE_DOOR)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], ledger: Ledger) -> SearchTool:
        """The configured backend. Raises UsageError when its address or key is missing."""
        settings = SearchSettings.from_config(config)
        return cls(ledger, settings, backend_from_env(settings))

    async def call(self, owner: Owner, call: ToolCall, *, made: int) -> ToolResult:
        """Run one call. Raises Stopped when the run must stop; everything else is said in the result.

        ``made``: searches that the trajectory has made before this one.
        """
        query, problem = read_query(call)
        if query is None:
            return self._result(call, "model_error", problem)
        meta: dict[str, Any] = {"query": query, "billed": 0, "cached": False, "urls": [], "blocked": 0}
        try:
            params = self._backend.params()
        except ProviderStop as error:
            raise self._stopped(error) from None
        try:
            outcome = await self._ledger.search(
                owner,
                query,
                call_id=call.id,
                made=made,
                caps=self._settings.caps[owner.task_type],
                backend=self._backend.name,
                params=params,
                fetch=lambda door: self._fetch(query, door),
                paid=self._backend.paid,
            )
        except QueryRefused:
            return self._result(call, "model_error", "The search engine refused this query.", meta)
        except SearchFault as fault:
            return self._result(call, "infrastructure", f"The search engine could not be reached ({fault.kind}).", meta)
        if outcome.kind == "cap":
            return self._result(call, "ok", CAP_TEXT, meta | {"cap": outcome.scope})
        return self._shown(call, outcome, meta)

    async def close(self) -> None:
        """Free the provider's connections."""
        await self._backend.close()

    async def _fetch(self, query: str, door: Door) -> Fetched:
        """Ask the provider, again where that may help. Raises SearchFault, QueryRefused or Stopped.

        Faults in a row are counted here, where each stands for one query that was asked: neither those who waited for
        it nor answers from the cache say anything about the provider.
        """
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._settings.attempts),
            wait=self._wait,
            retry=retry_if_exception(_worth_waiting),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    fetched = await self._ask_once(query, door)
                    self._faults_in_a_row = 0
                    return fetched
        except TryAgain as error:
            fault = SearchFault(error.kind, error.detail)
            self._count_fault(fault)
            raise fault from None
        except ProviderStop as error:
            raise self._stopped(error) from None
        except SearchFault as fault:  # the door's
            self._count_fault(fault)
            raise
        except QueryRefused:
            self._faults_in_a_row = 0
            raise
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _stopped(self, error: ProviderStop) -> Stopped:
        """The flag is up before the query is given back: none of those who wait for it asks once more."""
        self._ledger.stop(error.reason, error.detail)
        return Stopped(error.reason, error.detail)

    async def _ask_once(self, query: str, door: Door) -> Fetched:
        if not self._backend.paid:
            return await self._backend.ask(query, door)
        try:
            async with _Entrance(self._entrance) as entrance:

                async def pass_through() -> None:
                    await door()
                    entrance.leave()

                return await self._backend.ask(query, pass_through)
        except TryAgain as error:
            if error.kind == "rate_limited":
                await self._ledger.slow_down(self._backend.name, error.retry_after_s)
            raise

    def _wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt: the provider's own time where it names one, else growing with chance."""
        settings = self._settings
        error = state.outcome.exception() if state.outcome else None
        named = error.retry_after_s if isinstance(error, TryAgain) else None
        grown: float = wait_random_exponential(multiplier=settings.first_wait_s, max=settings.longest_wait_s)(state)
        return named if named is not None else grown

    def _count_fault(self, fault: SearchFault) -> None:
        self._faults_in_a_row += 1
        if self._faults_in_a_row >= self._settings.faults_to_stop:
            detail = f"{self._faults_in_a_row} searches in a row failed, the last with {fault}"
            self._ledger.stop("endpoint_saturated", detail)
            raise Stopped("endpoint_saturated", detail)

    def _shown(self, call: ToolCall, outcome: SearchOutcome, meta: dict[str, Any]) -> ToolResult:
        """Results without blocked sources; the cache keeps them, so a changed list needs no new search."""
        found = [SearchResult.from_dict(row) for row in outcome.payload["results"]]
        shown = [item for item in found if self._settings.show_blocked or not self._settings.is_blocked(item.url)]
        meta |= {
            "billed": outcome.billed,
            "cached": outcome.cached,
            "urls": [item.url for item in shown],
            "blocked": len(found) - len(shown),
        }
        return self._result(call, "ok", render(shown), meta)

    @staticmethod
    def _result(call: ToolCall, status: Any, content: str, meta: Mapping[str, Any] | None = None) -> ToolResult:
        return ToolResult(call_id=call.id, name=call.name, status=status, content=content, meta=dict(meta or {}))


class _Entrance:
    """A place before the door, given up when the door has been passed or there is no way to it."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._held = False

    async def __aenter__(self) -> Self:
        await self._places.acquire()
        self._held = True
        return self

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Let the next one in; done once."""
        if self._held:
            self._held = False
            self._places.release()


def _worth_waiting(error: BaseException) -> bool:
    """A passing failure whose named time is bearable; asking before that time would only be refused again."""
    return isinstance(error, TryAgain) and (error.retry_after_s or 0.0) <= LONGEST_NAMED_WAIT_S


def read_query(call: ToolCall) -> tuple[str | None, str]:
    """The query as the model wrote it, or None and what was wrong with the call, in words for the model."""
    if call.malformed:
        return None, f'This search call could not be run ({call.malformed}). Give a JSON object with a "query" string.'
    try:
        arguments = orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        arguments = None
    query = arguments.get("query") if isinstance(arguments, dict) else None
    if not isinstance(query, str) or not normalise_query(query):
        return None, 'This search call could not be run: give a JSON object with a non-empty "query" string.'
    return query, ""
