"""One bucket: a source folder read into ``<bucket>.parquet``, its pictures stored once, every loss counted.

Rows stay in the order of the upstream tables. Beside the table lie ``<bucket>.rejects.jsonl`` (id, reason, detail) and
``<bucket>.counts.json``. Memory holds a few batches, whatever the source's size.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ..records.errors import BadRow, TirError
from ..records.jsonl import atomic_writer, dumps, write_json
from ..records.protocols import Progress
from .candidate import Candidate, unsafe_reference
from .counts import Counts
from .fields import is_writable
from .json_table import DamagedLine
from .ordered import ordered_map
from .parquet_out import QUESTIONS, table_writer
from .phash import grey_std, phash_of
from .picture_store import PictureStore
from .pictures import prepare
from .print_cache import KnownPicture, PrintCache
from .readers import NOT_OURS, QuestionReader, Reader, question_reader
from .settings import ReadSettings

log = logging.getLogger("tir_distill")

DEFAULT_WORKERS = 2


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that was set aside."""

    id: str
    error: BadRow


def check_layout(reader: Reader, tolerant: bool) -> None:
    """Raise TirError when a table lacks columns that the reader needs; only warn for a source marked tolerant."""
    for name, missing in reader.missing_columns().items():
        text = f"{name}: the reader for {reader.source} expects columns {missing}, which are not there"
        if not tolerant:
            raise TirError(f"{text}; check sources.sets revision, or set tolerant: true to read what there is")
        log.warning("%s; reading on, rows without them are counted as rejects", text)


def candidates(reader: QuestionReader, counts: Counts) -> Iterator[Candidate | Reject]:
    """Everything that the source holds for this reader, damaged rows as rejects. Never raises for a row."""
    seen: set[str] = set()
    for index, row in enumerate(reader.raw_rows()):
        for item in _items(reader, row, index):
            if item is NOT_OURS:
                counts.elsewhere += 1
                continue
            counts.read += 1
            if isinstance(item, Candidate) and item.id in seen:
                item = Reject(item.id, BadRow("duplicate_id", "an earlier row has this id"))
            elif isinstance(item, Candidate):
                seen.add(item.id)
            yield item


def _items(reader: QuestionReader, row: dict[str, Any] | DamagedLine, index: int) -> list[Any]:
    if isinstance(row, DamagedLine):
        return [Reject(f"{reader.source}#{index}", BadRow("damaged_line", row.detail))]
    name = printable(reader.row_id(row, index))
    try:
        parsed = reader.parse(row, index)
    except BadRow as error:
        return [Reject(name, error)]
    items = parsed if isinstance(parsed, list) else [parsed]
    return [_checked(name, item) for item in items]


def _checked(name: str, item: Any) -> Any:
    """The item itself, or a reject when it is one or must not become a question."""
    if isinstance(item, BadRow):
        return Reject(name, item)
    if isinstance(item, Candidate):
        for field in ("id", "question", "answer", "group"):
            if not is_writable(getattr(item, field)):
                return Reject(name, BadRow("undecodable_text", f"the {field} holds half a surrogate pair"))
        if reason := unsafe_reference(item.answer):
            return Reject(name, BadRow(reason, item.answer[:60]))
    return item


def printable(name: str) -> str:
    """The name without what UTF-8 cannot hold."""
    return name.encode("utf-8", "replace").decode()


class PictureWork:
    """Prepares, stores and prints pictures; one that is known is not decoded again."""

    def __init__(self, store: PictureStore, flat_max_std: float) -> None:
        self._store = store
        self._cache = PrintCache(store)
        self._flat_max_std = flat_max_std
        self._seen: dict[str, KnownPicture] = {}

    def __call__(self, item: Candidate | Reject) -> tuple[Candidate, list[dict[str, Any]]] | Reject:
        """The candidate with the ``images`` cells of its row, or a reject. Runs on worker threads."""
        if isinstance(item, Reject):
            return item
        try:
            return item, [self._one(data).cell(self._flat_max_std) for data in item.pictures]
        except BadRow as error:
            return Reject(item.id, error)

    def _one(self, data: bytes) -> KnownPicture:
        key = hashlib.sha256(data).hexdigest()
        known = self._seen.get(key) or self._cache.get(key)
        if known is None:
            stored, pixels = prepare(data)
            grey = pixels.convert("L")
            self._store.add(stored)
            known = KnownPicture(
                sha256=stored.sha256,
                ext=stored.ext,
                width=stored.width,
                height=stored.height,
                size=len(stored.data),
                phash=phash_of(grey),
                grey_std=grey_std(grey),
            )
            self._cache.put(key, known)
        self._seen[key] = known
        return known


def question_row(item: Candidate, images: list[dict[str, Any]], settings: ReadSettings, source: str) -> dict[str, Any]:
    """The row of the bucket's table."""
    group = item.group or (images[0]["sha256"] if images else item.id)
    return {
        "id": item.id,
        "source": source,
        "bucket": settings.name,
        "task_type": settings.task_type,
        "question": item.question,
        "answer": item.answer,
        "candidate_answers": orjson.dumps(list(item.candidates)).decode(),
        "group": group,
        "images": images,
        "meta": orjson.dumps(dict(item.meta)).decode(),
    }


def read_questions(
    settings: ReadSettings,
    folder: Path,
    *,
    images: Path,
    out: Path,
    workers: int = DEFAULT_WORKERS,
    progress: Progress | None = None,
) -> Counts:
    """Read one bucket. Raises UsageError for an unknown reader and TirError when a table as such cannot be read."""
    reader = question_reader(settings.reader)(folder, tolerant=settings.tolerant, answer_chars=settings.answer_chars)
    counts = Counts()
    try:
        check_layout(reader, settings.tolerant)
        work = PictureWork(PictureStore(images), settings.flat_max_std)
        with table_writer(out, QUESTIONS) as table, atomic_writer(out.with_suffix(".rejects.jsonl")) as rejects:
            for done in ordered_map(work, candidates(reader, counts), workers):
                if isinstance(done, Reject):
                    counts.rejects[done.error.reason] += 1
                    line = {"id": done.id, "reason": done.error.reason, "detail": printable(done.error.detail)}
                    rejects.write(dumps(line) + b"\n")
                else:
                    counts.kept += 1
                    table.add(question_row(*done, settings, reader.source))
                if progress is not None:
                    progress.update(done=counts.read, kept=counts.kept, rejected=counts.rejects.total())
    finally:
        reader.close()
    write_json(out.with_suffix(".counts.json"), counts.to_dict())
    return counts
