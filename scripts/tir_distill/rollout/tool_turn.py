"""The calls of one reply: at once where they do not touch each other, in order where they do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ..records import Stopped, ToolCall, ToolResult
from ..teacher import AskedCall
from .faults import SampleFault
from .memory import Memory
from .ports import Recorder, Session

STATEFUL = "python"
"""Calls of this tool share one session, so those of one turn run one after the other, in call order."""

SEARCH = "search"


def keep_calls(asked: Sequence[AskedCall], turn: int, limit: int) -> tuple[ToolCall, ...]:
    """The first ``limit`` calls, named by us: servers send empty and repeated ids."""
    return tuple(
        ToolCall(
            id=f"call_{turn}_{position}",
            name=call.name,
            arguments=call.arguments,
            recovered=call.recovered,
            malformed=call.malformed,
        )
        for position, call in enumerate(asked[:limit])
    )


def is_search(result: ToolResult) -> bool:
    """A search that was answered, billed or cached: what the trajectory's limit counts."""
    return result.name == SEARCH and result.status == "ok" and "cap" not in result.meta


async def run_calls(
    calls: Sequence[ToolCall],
    turn: int,
    session: Session,
    memory: Memory,
    recorder: Recorder,
    *,
    made: int,
    searches_in_order: bool = False,
) -> tuple[ToolResult, ...]:
    """Results in call order; each is recorded the moment it is there.

    ``made``: searches of the earlier turns. ``searches_in_order``: searches run one after the other, because not all of
    them may be answered and which ones are must not depend on speed.

    Raises SampleFault when a tool failed on our side, Stopped when the run must end; not before the other calls of the
    turn have ended and are recorded, because they are paid for.
    """
    here = {position: memory.results.get((turn, position)) for position in range(len(calls))}

    def before(position: int) -> int:
        """Searches before this one; those of this turn that run beside it count as answered: then no limit is near."""
        earlier = [here[p] for p in range(position) if calls[p].name == SEARCH]
        return made + sum(result is None or is_search(result) for result in earlier)

    async def one(position: int, call: ToolCall) -> ToolResult:
        known = here[position]
        if known is not None:
            return known
        result = await session.call(call, made=before(position))
        if result.status == "infrastructure":
            raise SampleFault(f"tool_{call.name}", result.content[:200])
        if result.meta.get("cap") == "run":  # nothing was searched: the call is made again when the budget is raised
            raise Stopped("budget_searches", "the run's limit of billed searches is reached")
        if result.call_id != call.id:
            result = replace(result, call_id=call.id)
        here[position] = result
        recorder.result(turn, position, result)
        return result

    async def in_order(positions: Sequence[int]) -> list[ToolResult]:
        return [await one(position, calls[position]) for position in positions]

    if len(calls) == 1:
        return (await one(0, calls[0]),)
    groups = _groups(calls, {STATEFUL, SEARCH} if searches_in_order else {STATEFUL})
    done = await asyncio.gather(*(in_order(group) for group in groups), return_exceptions=True)
    results: dict[int, ToolResult] = {}
    for group, outcome in zip(groups, done, strict=True):
        if isinstance(outcome, BaseException):
            raise outcome
        results.update(zip(group, outcome, strict=True))
    return tuple(results[position] for position in range(len(calls)))


def _groups(calls: Sequence[ToolCall], in_order: set[str]) -> list[list[int]]:
    """Positions that run one after the other; groups run at once. ``in_order``: tools that make one group each."""
    groups: dict[str, list[int]] = {}
    for position, call in enumerate(calls):
        groups.setdefault(call.name if call.name in in_order else call.id, []).append(position)
    return list(groups.values())
