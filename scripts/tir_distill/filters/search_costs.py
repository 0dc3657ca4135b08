"""Where a run's paid searches went: by what became of each question, and the dearest ones (seed section 12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

FATES = ("accepted", "rejected", "unanswered")
DEAREST = 20
"""Questions listed by name."""


class SearchCosts:
    """Collects samples' answers and questions' bills; memory grows by a few bytes per question."""

    def __init__(self) -> None:
        self._answered: set[str] = set()
        self._kept: set[str] = set()
        self._bills: dict[str, tuple[int, str]] = {}

    def add_sample(self, question_id: str, *, answered: bool, accepted: bool) -> None:
        """``accepted``: the filter stage's word."""
        if answered:
            self._answered.add(question_id)
        if accepted:
            self._kept.add(question_id)

    def add_questions(self, rows: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
        """Lines of a ``.questions.jsonl`` file, handed on."""
        for row in rows:
            self._bills[row["id"]] = (row.get("searches_billed", 0), row["status"])
            yield row

    def result(self) -> dict[str, Any]:
        """``per_question``: mean billed searches of a question that gave a row, was answered in vain, or never was."""
        bills: dict[str, list[int]] = {fate: [] for fate in FATES}
        for question_id, (billed, _) in self._bills.items():
            bills[self._fate(question_id)].append(billed)
        dearest = sorted(self._bills.items(), key=lambda item: (-item[1][0], item[0]))[:DEAREST]
        return {
            "per_question": {fate: round(sum(b) / len(b), 3) if b else None for fate, b in bills.items()},
            "questions": {fate: len(b) for fate, b in bills.items()},
            "most_expensive": [
                {"id": question_id, "searches": billed, "status": status}
                for question_id, (billed, status) in dearest
                if billed
            ],
        }

    def _fate(self, question_id: str) -> str:
        if question_id in self._kept:
            return "accepted"
        return "rejected" if question_id in self._answered else "unanswered"
