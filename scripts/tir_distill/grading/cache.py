"""Verdicts that were paid for, one JSON line each, safe to append to from several processes and after a kill."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from ..records import digest, dumps

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One judge's decided verdict."""

    correct: bool
    model: str
    reason: str = ""


def verdict_key(
    question: str, references: Sequence[str], answer: str, model: str, prompt_hash: str, picture: str = ""
) -> str:
    """What a verdict depends on. References count as a set: their order changes nothing."""
    return digest([question, sorted(set(references)), answer, model, prompt_hash, picture])


class VerdictCache:
    """An append-only file of verdicts, or memory alone when there is no path. Undecided replies are never kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[str, Judged] = {}
        self.skipped = 0
        """Lines that could not be read: torn by a kill, or not ours."""
        if path is not None and path.exists():
            self._load(path)

    def _load(self, path: Path) -> None:
        with path.open("rb") as handle:
            for line in handle:
                try:
                    row = orjson.loads(line)
                    if not isinstance(row["correct"], bool):
                        raise TypeError("correct is neither true nor false")
                    self._known[row["key"]] = Judged(correct=row["correct"], model=row["model"], reason=row["reason"])
                except (orjson.JSONDecodeError, KeyError, TypeError):
                    self.skipped += 1
        if self.skipped:
            log.warning("%s: %d unreadable line(s) left out; those verdicts are asked for again", path, self.skipped)

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> Judged | None:
        return self._known.get(key)

    def put(self, key: str, judged: Judged) -> None:
        """Keep a verdict, in memory and on disk. A torn last line is closed first, so it takes no other with it."""
        self._known[key] = judged
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = dumps({"key": key, **asdict(judged)}) + b"\n"
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
