"""The hand-over's question file, read when it is there and read anew when it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

MARK_CHARS = 12
"""Length of a picture's mark: the first characters of the sha256 of its file."""


@dataclass(frozen=True)
class KnownQuestion:
    """What the embedded servers take from one line of the file."""

    id: str
    task_type: str
    text: str
    answer: str
    images: tuple[str, ...]
    folder: Path

    def mark(self) -> str:
        """What tells its picture from others: ``picture 3fa9…``. Empty without a picture or when it cannot be read."""
        if not self.images:
            return ""
        try:
            return picture_mark((self.folder / self.images[0]).read_bytes())
        except OSError:
            return ""


def picture_mark(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:MARK_CHARS]


class QuestionFile:
    """Lazy view of ``phase_10k.jsonl``, which a workflow writes after the servers have started."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._questions: Sequence[KnownQuestion] = ()
        self._by_text: Mapping[str, Sequence[KnownQuestion]] = {}

    def refresh(self) -> bool:
        """Read the file if it is new or has changed; True when the questions are other ones than before."""
        if self._path is None:
            return False
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return False
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        folder = self._path.parent
        self._questions = [
            _known(orjson.loads(line), folder) for line in self._path.read_bytes().split(b"\n") if line.strip()
        ]
        by_text: dict[str, list[KnownQuestion]] = {}
        for question in self._questions:
            by_text.setdefault(question.text, []).append(question)
        self._by_text = by_text
        return True

    def all(self) -> Sequence[KnownQuestion]:
        self.refresh()
        return self._questions

    def find(self, text: str, mark: str = "") -> KnownQuestion | None:
        """The question with this text; among several, the one whose picture has this mark."""
        self.refresh()
        same = self._by_text.get(text, ())
        if len(same) > 1 and mark:
            return next((question for question in same if question.mark() == mark), same[0])
        return same[0] if same else None


def _known(row: Mapping[str, Any], folder: Path) -> KnownQuestion:
    return KnownQuestion(
        id=row["id"],
        task_type=row["task_type"],
        text=row["question"],
        answer=row["answer"],
        images=tuple(row.get("images", ())),
        folder=folder,
    )
