"""F2: nothing opened, asked for or cited may match the list of blocked addresses (seed section 5).

Looked at: all arguments of all calls (so also code and queries), where an open ended up and every hop on its way,
thinking, visible text and the answer, and search results that the teacher cites by title, number, place or site. A
blocked address that merely stands in a page or a result, and is not used, is no reason to drop.
"""

from __future__ import annotations

from ..records import ToolResult, Trajectory
from ..records.blocked_urls import any_blocked, blocked
from .calls import texts
from .citations import listed, numbers_cited, plain, site_cited, title_cited
from .report import Fail
from .settings import FilterSettings

RULE = "F2"


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
    """A blocked search result that a later turn leans on."""
    for position, turn in enumerate(trajectory.turns):
        for result in turn.results:
            if result.name != "search" or not blocked_in_results(result, patterns):
                continue
            said = plain("\n".join(f"{later.thinking}\n{later.content}" for later in trajectory.turns[position + 1 :]))
            shown = listed(result.content)
            bad = [item for item in shown if blocked(item.url, patterns)]
            good = [item.url for item in shown if item not in bad]
            numbers = numbers_cited(said, shown[-1].number) if bad else set()
            for item in bad:
                if item.number in numbers or title_cited(said, item.title) or site_cited(said, item.url, good):
                    return Fail(RULE, "cited_result")
    return None


def blocked_in_results(result: ToolResult, patterns: tuple[str, ...]) -> bool:
    """Whether a search result shows a blocked address at all."""
    urls = result.meta.get("urls")
    if isinstance(urls, (list, tuple)):
        return any_blocked((url for url in urls if isinstance(url, str)), patterns) is not None
    return blocked(result.content, patterns) is not None
