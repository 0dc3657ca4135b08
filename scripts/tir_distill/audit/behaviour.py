"""Check 4: figures over the whole file, against the bad cases that the data is meant to correct (seed section 11)."""

from __future__ import annotations

import statistics
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..records.behaviour import CODE_TOOLS, SEARCH_TOOLS, fenced_code, find_answer, has_image_code
from ..records.letters import is_letter
from .findings import Finding, unreadable
from .settings import AuditSettings
from .view import Reply, View

CHECK = "4_behaviour"
MIN_AS_REFERENCE = 0.2
"""Least share of answers that are written as the row's reference, or hold it, or stand in it. A judge also takes other
names and other languages, so no single row is held against this; a file whose answers have slipped against its
references has hardly any."""
ENOUGH_ANSWERS = 50
"""Answers that the share needs to say something."""


@dataclass
class Behaviour:
    """Collects per row; a few bytes a row are kept for the median."""

    settings: AuditSettings
    rows: int = 0
    search_rows: int = 0
    """Rows of a task that is to be searched (or of no stated task)."""
    searched_rows: int = 0
    searches: int = 0
    answers: int = 0
    short_answers: int = 0
    think_chars: array[int] = field(default_factory=lambda: array("L"))
    letters: list[tuple[str, int, Finding]] = field(default_factory=list)
    image_code: list[tuple[str, int, Finding]] = field(default_factory=list)
    unsearched: list[tuple[str, int, Finding]] = field(default_factory=list)
    unread: list[tuple[str, int, Finding]] = field(default_factory=list)
    """Rows that could not be counted."""
    learned_rows: int = 0
    """Rows with a reply that is trained on."""
    compared: int = 0
    """Answers beside a row's reference."""
    as_reference: int = 0

    def add(self, view: View, row_id: str, line: int) -> None:
        """One row's part in every figure. ``think_chars`` of a row: all its turns together."""
        try:
            self._add(view, row_id, line)
        except (RecursionError, MemoryError):
            raise
        except Exception as error:
            self.unread.append((row_id, line, unreadable(error)))

    def _add(self, view: View, row_id: str, line: int) -> None:
        self.rows += 1
        self.learned_rows += any(view.messages[reply.message].get("loss") in (None, True) for reply in view.replies)
        task = view.row.get("task_type")
        if not isinstance(task, str):
            task = ""
        names = [call.name for _, call in view.calls]
        searches = sum(name in SEARCH_TOOLS for name in names)
        if not task or task in self.settings.search_task_types:
            self.search_rows += 1
            self.searches += searches
            if searches:
                self.searched_rows += 1
            else:
                self.unsearched.append((row_id, line, _finding("no_self_search")))
        if not view.images:
            for reply, code in _codes(view):
                if has_image_code(code):
                    item = _finding("image_code_without_picture", reply.message, code)
                    self.image_code.append((row_id, line, item))
        self.think_chars.append(sum(len(reply.thinking or "") for reply in view.replies))
        answer = find_answer(view.replies[-1].visible) if view.replies else None
        if answer is None:
            return
        self.answers += 1
        self.short_answers += len(answer) <= self.settings.max_answer_chars
        if isinstance(reference := view.row.get("answer"), str) and reference:
            self.compared += 1
            self.as_reference += _agree(answer, reference)
        if is_letter(answer):
            self.letters.append((row_id, line, _finding("letter_answer", view.replies[-1].message, answer)))

    def figures(self) -> dict[str, float]:
        """The numbers of check 4; a rate over nothing is 1, a mean or median over nothing 0."""
        return {
            "self_search_rate": self.searched_rows / self.search_rows if self.search_rows else 1.0,
            "mean_searches": self.searches / self.search_rows if self.search_rows else 0.0,
            "image_code_without_picture": len(self.image_code),
            "letter_answers": len(self.letters),
            "median_think_chars": statistics.median(self.think_chars) if self.think_chars else 0,
            "short_answer_rate": self.short_answers / self.answers if self.answers else 1.0,
            "answers_as_reference": self.as_reference / self.compared if self.compared else 1.0,
        }

    def thresholds(self) -> list[dict[str, Any]]:
        """Each figure beside its limit. One that the profile does not enforce is shown and cannot fail."""
        settings, figures = self.settings, self.figures()
        limits: dict[str, tuple[str, float]] = {
            "self_search_rate": (">=", settings.min_self_search_rate),
            "mean_searches": (">=", settings.min_mean_searches),
            "image_code_without_picture": ("<=", settings.max_image_code_text),
            "letter_answers": ("<=", settings.max_letter_answers),
            "median_think_chars": (">=", settings.min_median_think_chars),
            "short_answer_rate": (">=", settings.min_short_answer_rate),
            "answers_as_reference": (">=", MIN_AS_REFERENCE),
        }
        out = []
        for name, (sign, limit) in limits.items():
            value = figures[name]
            applies = bool(self.rows) and (name != "mean_searches" or self.search_rows > 0)
            applies = applies and (name != "answers_as_reference" or self.compared >= ENOUGH_ANSWERS)
            met = not applies or (value >= limit if sign == ">=" else value <= limit)
            enforced = name in settings.profile.enforced
            out.append({"name": name, "value": value, "limit": f"{sign} {limit:g}", "met": met, "enforced": enforced})
        return out

    def failures(self) -> list[tuple[str, int, Finding]]:
        """(row id, line, finding): one for each broken figure, and the rows behind it."""
        behind = {
            "self_search_rate": self.unsearched,
            "image_code_without_picture": self.image_code,
            "letter_answers": self.letters,
        }
        found = list(self.unread)
        if self.rows and not self.learned_rows:
            nothing = Finding(check=CHECK, reason="nothing_learned", detail="loss is false on every reply of the file")
            found.append(("", 0, nothing))
        for item in self.thresholds():
            if item["met"] or not item["enforced"]:
                continue
            detail = f"{item['value']:.4g}, expected {item['limit']}"
            found.append(("", 0, Finding(check=CHECK, reason=f"threshold_{item['name']}", detail=detail)))
            found += behind.get(item["name"], [])
        return found


def _finding(reason: str, message: int | None = None, excerpt: str = "") -> Finding:
    return Finding(check=CHECK, reason=reason, message=message, excerpt=excerpt)


def _agree(answer: str, reference: str) -> bool:
    """Alike but for case, width, marks and spaces, or one inside the other."""
    ours, theirs = _plain(answer), _plain(reference)
    return bool(ours and theirs) and (ours in theirs or theirs in ours)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _codes(view: View) -> Iterator[tuple[Reply, str]]:
    """Code that a row runs, and code that it only writes out: F4 counts both."""
    for reply, call in view.calls:
        if call.name in CODE_TOOLS:
            yield reply, str((call.arguments or {}).get("code", ""))
    for reply in view.replies:
        for code in fenced_code(reply.text):
            yield reply, code
