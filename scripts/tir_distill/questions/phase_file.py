"""The selected questions counted: what the manifest, the card and the metadata say of ``phase_10k.jsonl``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..records.errors import BadRow, TirError
from ..records.jsonl import read_jsonl
from ..records.question import PRIORITIES, TASK_TYPES, Question


@dataclass
class PhaseCounts:
    """Questions by every label that the hand-over note uses (seed sections 1 and 2)."""

    total: int = 0
    pictures: int = 0
    cells: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """(bucket, priority, task_type, phase) -> questions; buckets in file order."""
    images: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> PhaseCounts:
        """Streaming. Raises TirError when there is no such file, or a line is no question."""
        out = cls()
        if not path.is_file():
            raise TirError(f"{path}: no such file; select first")
        for row in read_jsonl(path):
            try:
                question = Question.from_dict(row)
            except BadRow as error:
                raise TirError(f"{path}: {error.detail}; select again") from error
            out.total += 1
            out.pictures += len(question.images)
            out.images.update(question.images)
            out.cells[question.bucket, question.priority, question.task_type, question.phase] += 1
        if not out.total:
            raise TirError(f"{path}: holds no question")
        return out

    def by(self, index: int) -> Counter[str]:
        """Totals by one label of ``cells``."""
        out: Counter[str] = Counter()
        for cell, number in self.cells.items():
            out[cell[index]] += number
        return out

    def buckets(self) -> dict[str, dict[str, Any]]:
        """By bucket, in file order: priority, task type, questions in all and in the pilot."""
        out: dict[str, dict[str, Any]] = {}
        for (bucket, priority, task_type, phase), number in self.cells.items():
            entry = out.setdefault(bucket, {"priority": priority, "task_type": task_type, "count": 0, "pilot": 0})
            entry["count"] += number
            entry["pilot"] += number if phase == "pilot" else 0
        return out

    def to_dict(self) -> dict[str, Any]:
        by_priority, by_task, by_phase = self.by(1), self.by(2), self.by(3)
        return {
            "total": self.total,
            "pilot": by_phase["pilot"],
            "pictures": self.pictures,
            "by_bucket": self.buckets(),
            "by_priority": {name: by_priority[name] for name in PRIORITIES if by_priority[name]},
            "by_task_type": {name: by_task[name] for name in TASK_TYPES if by_task[name]},
            "by_phase": {name: by_phase[name] for name in ("pilot", "full")},
        }
