"""Rules over what the tools returned, off by default: answer without support, nothing ever found, evaluation text."""

from __future__ import annotations

import re
import unicodedata

from ..records import Trajectory
from .report import Fail
from .settings import FilterSettings

NOTHING_FOUND = "No results."
_SPACE_OR_MARK = re.compile(r"[\s\W_]+")


def _bare(text: str) -> str:
    return _SPACE_OR_MARK.sub("", unicodedata.normalize("NFKC", text)).casefold()


def unsupported_answer(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    """A searched answer, or an accepted form of it, stands in at least one result. Numbers and names alike, as text."""
    if trajectory.question.task_type not in settings.self_search_task_types or not trajectory.answer:
        return None
    forms = [form for text in (trajectory.answer, *trajectory.question.references) if (form := _bare(text))]
    for turn in trajectory.turns:
        for result in turn.results:
            seen = _bare(result.content)
            if any(form in seen for form in forms):
                return None
    return Fail("unsupported_answer", "not_in_results")


def empty_search(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    """At least one search found something, when there were searches."""
    searches = [result for turn in trajectory.turns for result in turn.results if result.name == "search"]
    answered = [result for result in searches if not result.meta.get("cap")]
    if answered and all(result.content.strip() == NOTHING_FOUND for result in answered):
        return Fail("empty_search", "no_results")
    return None


def evaluation_text(trajectory: Trajectory, settings: FilterSettings) -> Fail | None:
    """No result holds text of an evaluation set (n-gram overlap with the fingerprints, which are handed in)."""
    if settings.evaluation is None:
        return None
    for turn in trajectory.turns:
        for result in turn.results:
            item = settings.evaluation.find(result.content) if result.content else None
            if item is not None:
                return Fail("evaluation_text", f"in_result:{item}")
    return None
