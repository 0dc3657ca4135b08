"""A question to distil, exactly as in ``phase_10k.jsonl`` (seed section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from .errors import BadRow

TASK_TYPES = ("image_search", "text_search", "image_reasoning")
PRIORITIES = ("P0", "P1", "P2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One line of the hand-over file. Field order is the file's key order."""

    id: str
    source: str
    bucket: str
    priority: str
    phase: str
    """``pilot`` or ``full``; the pilot is a subset of the full run."""
    task_type: str
    """``image_search`` (picture, usually searched), ``text_search`` (no picture, several hops) or
    ``image_reasoning`` (picture, computed, not searched)."""
    question: str
    answer: str
    candidate_answers: str = "[]"
    """A JSON *string* that holds a list of strings."""
    images: tuple[str, ...] = ()
    """Paths relative to the hand-over folder."""
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def references(self) -> tuple[str, ...]:
        """The answer, then each other accepted form, without repeats."""
        return tuple(dict.fromkeys([self.answer, *orjson.loads(self.candidate_answers)]))

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Question:
        """Build from a parsed line. Raises BadRow naming the id and the first field that is wrong."""
        name = row.get("id", "?")
        for key in ("id", "source", "bucket", "priority", "phase", "task_type", "question", "answer"):
            if not isinstance(row.get(key), str):
                raise BadRow("bad_question", f"{name}: field '{key}' must be a string, found {row.get(key)!r}")
        if row["task_type"] not in TASK_TYPES:
            raise BadRow("bad_question", f"{name}: task_type {row['task_type']!r} is none of {TASK_TYPES}")
        candidates = row.get("candidate_answers", "[]")
        try:
            parsed = orjson.loads(candidates)
        except (orjson.JSONDecodeError, TypeError):
            parsed = None
        if not isinstance(parsed, list) or not all(isinstance(item, str) for item in parsed):
            raise BadRow("bad_question", f"{name}: candidate_answers must be a JSON list of strings in a string")
        images = row.get("images", [])
        if not isinstance(images, list) or not all(isinstance(item, str) for item in images):
            raise BadRow("bad_question", f"{name}: images must be a list of paths")
        return cls(
            id=row["id"],
            source=row["source"],
            bucket=row["bucket"],
            priority=row["priority"],
            phase=row["phase"],
            task_type=row["task_type"],
            question=row["question"],
            answer=row["answer"],
            candidate_answers=candidates,
            images=tuple(images),
            meta=dict(row.get("meta") or {}),
        )

    def to_dict(self) -> dict[str, Any]:
        """The line as written: keys in seed order."""
        return {
            "id": self.id,
            "source": self.source,
            "bucket": self.bucket,
            "priority": self.priority,
            "phase": self.phase,
            "task_type": self.task_type,
            "question": self.question,
            "answer": self.answer,
            "candidate_answers": self.candidate_answers,
            "images": list(self.images),
            "meta": dict(self.meta),
        }
