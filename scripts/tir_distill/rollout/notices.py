"""When the model is told to answer now, and how: at the end of its last tool result (seed sections 9 and 12).

Never as a user message: the official template would strip all earlier thinking, and the trainer refuses such a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..records import ToolResult, Turn
from .settings import Limits
from .tool_turn import is_search

ENDING = "Do not call tools any more: give your final answer now inside <answer></answer>."


def searches(turns: Sequence[Turn]) -> int:
    """Searches of these turns that were answered."""
    return sum(is_search(result) for turn in turns for result in turn.results)


def with_notice(results: tuple[ToolResult, ...], earlier: Sequence[Turn], limits: Limits) -> tuple[ToolResult, ...]:
    """The turn's results, the last one with a notice when a limit is reached. Fixed by the conversation alone."""
    reached = _reached(results, earlier, limits)
    if reached is None:
        return results
    return (*results[:-1], replace(results[-1], notice=f"[notice] {reached} {ENDING}"))


def _reached(results: tuple[ToolResult, ...], earlier: Sequence[Turn], limits: Limits) -> str | None:
    here = sum(map(is_search, results))
    capped = any("cap" in result.meta for result in results)
    if capped or (here and searches(earlier) + here >= limits.max_searches):
        return "The search limit of this question is reached."
    if len(earlier) + 1 >= limits.max_turns:
        return "The turn limit of this question is reached."
    return None


def is_forced(turns: Sequence[Turn]) -> bool:
    """The next reply is the one that a notice asked for."""
    return bool(turns) and bool(turns[-1].results) and bool(turns[-1].results[-1].notice)
