"""F2: nothing opened, asked for or cited may match the list of blocked addresses (seed section 5).

Looked at: all arguments of all calls (so also code and queries), where an open ended up and every hop on its way,
thinking, visible text and the answer, and search results that the teacher cites by title or number. A blocked address
that merely stands in a page or a result, and is not used, is no reason to drop.
"""

from __future__ import annotations

import re

from ..records import ToolResult, Trajectory
from ..records.blocked_urls import any_blocked, blocked
from .calls import texts
from .report import Fail
from .settings import FilterSettings

RULE = "F2"
_RESULT = re.compile(r"^(\d+)\. (.*)\nURL: (\S+)", re.MULTILINE)
_SHORTEST_TITLE = 12
"""Characters below which a title is too common to prove a citation."""


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    patterns = settings.blocked_urls
    if not patterns:
        return None
    for turn in trajectory.turns:
        for call in turn.calls:
            if any_blocked(texts(call), patterns):
                return Fail(RULE, f"call_{call.name}")
        for result in turn.results:
            if result.name == "open" and any_blocked(_visited(result), patterns):
                return Fail(RULE, "opened")
        if blocked(turn.thinking, patterns) or blocked(turn.content, patterns):
            return Fail(RULE, "cited")
    if trajectory.answer and blocked(trajectory.answer, patterns):
        return Fail(RULE, "cited")
    return _cited_results(trajectory, patterns)


def _visited(result: ToolResult) -> list[str]:
    meta = result.meta
    hops = meta.get("hops")
    places = [meta.get("url"), meta.get("final_url"), *(hops if isinstance(hops, (list, tuple)) else ())]
    return [place for place in places if isinstance(place, str)]


def _cited_results(trajectory: Trajectory, patterns: tuple[str, ...]) -> Fail | None:
    """A blocked search result whose title or number a later turn names."""
    for position, turn in enumerate(trajectory.turns):
        for result in turn.results:
            if result.name != "search" or not blocked_in_results(result, patterns):
                continue
            later = trajectory.turns[position + 1 :]
            said = "\n".join(f"{t.thinking}\n{t.content}" for t in later).casefold()
            for number, title, url in _RESULT.findall(result.content):
                if not blocked(url, patterns):
                    continue
                by_number = re.search(
                    rf"\bresults? #?{number}\b|\[{number}\]|结果 ?{number}(?!\d)|第 ?{number} ?[条个]", said
                )
                by_title = len(title) >= _SHORTEST_TITLE and title.strip().casefold() in said
                if by_number or by_title:
                    return Fail(RULE, "cited_result")
    return None


def blocked_in_results(result: ToolResult, patterns: tuple[str, ...]) -> bool:
    """Whether a search result shows a blocked address at all."""
    urls = result.meta.get("urls")
    if isinstance(urls, (list, tuple)):
        return any_blocked((url for url in urls if isinstance(url, str)), patterns) is not None
    return blocked(result.content, patterns) is not None
