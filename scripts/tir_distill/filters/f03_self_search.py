"""F3: a question that needs searching was searched, by the teacher's own decision (seed section 5).

There is no search before the first turn, so every kept call is the teacher's own. A call that was
refused before anything was asked for (malformed, an empty query, no address, over its cap, a blocked address) never
ran, and does not count; a page that was asked for and is not there does.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from ..records import ToolCall, ToolResult, Trajectory
from .calls import paired
from .report import Fail
from .settings import FilterSettings

RULE = "F3"


def self_searches(trajectory: Trajectory) -> tuple[int, int]:
    """How many searches and opens the teacher started and got an answer to (an unreachable page counts)."""
    counts = {"search": 0, "open": 0}
    for turn in trajectory.turns:
        for call, result in paired(turn):
            if call.name in counts and result is not None and _ran(call, result):
                counts[call.name] += 1
    return counts["search"], counts["open"]


def _ran(call: ToolCall, result: ToolResult) -> bool:
    """Whether the tool did what was asked, or tried to."""
    if call.malformed is not None or any(result.meta.get(key) for key in ("malformed", "cap")):
        return False
    if result.status == "ok":
        return call.name == "open" or result.meta.get("query") is None or bool(str(result.meta["query"]).strip())
    return call.name == "open" and result.meta.get("blocked") is not True and _is_address(result.meta.get("url"))


def _is_address(url: object) -> bool:
    """Whether ``open`` would ask for it: http or https, with or without saying so, and a host of several parts."""
    if not isinstance(url, str):
        return False
    url = url.strip().strip("<>\"'")
    if not url or any(sign.isspace() for sign in url):
        return False
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme.lower() in {"http", "https"} and "." in host.strip(".") and "@" not in parts.netloc


def check(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    if trajectory.question.task_type not in settings.self_search_task_types:
        return None
    return None if any(self_searches(trajectory)) else Fail(RULE, "no_search")
