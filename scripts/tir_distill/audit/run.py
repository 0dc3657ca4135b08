"""One pass over a file of rows: every check on every row, never stopping at a bad one.

Tokens are counted in a second thread (the encoder releases the interpreter), the loader check runs in a second process;
memory holds a few numbers per row and per picture.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from ..export import Row, Tokens
from ..records import BadRow, Progress, TirError
from . import behaviour, loader, rendering, shape
from .conversation import check_conversation
from .duplicates import Duplicates
from .findings import CHECKS, Book, Finding
from .overlap import CHECK as OVERLAP
from .overlap import EvaluationIndex, check_observations, check_overlap
from .pictures import Pictures
from .prompt import OnePrompt
from .provenance import check_licence, check_lineage
from .repeated import repeated_key
from .report import AuditReport
from .secrets import Secrets
from .settings import AuditSettings
from .thinking import check_thinking
from .truncation import CHECK as TRUNCATION
from .truncation import check_length, check_truncation
from .view import View

WAITING = 64
"""Rendered rows that may wait for their count."""

DeepCheck = Callable[[Row], Iterator[Finding]]


@dataclass
class Lengths:
    """Token figures of the file."""

    total: int = 0
    longest: int = 0
    counted: int = 0
    histogram: dict[str, int] = field(default_factory=dict)
    """Upper bound of a 4,096-token step -> rows."""

    def add(self, tokens: int) -> None:
        self.total += tokens
        self.counted += 1
        self.longest = max(self.longest, tokens)
        step = str((tokens // 4096 + 1) * 4096)
        self.histogram[step] = self.histogram.get(step, 0) + 1

    def to_dict(self) -> dict[str, Any]:
        steps = dict(sorted(self.histogram.items(), key=lambda item: int(item[0])))
        return {"rows": self.counted, "total": self.total, "longest": self.longest, "up_to": steps}


@dataclass
class Auditor:
    """Holds what one pass gathers."""

    settings: AuditSettings
    pictures: Pictures
    tokens: Tokens | None
    index: EvaluationIndex | None
    secrets: Secrets
    deep: DeepCheck | None = None
    book: Book = field(default_factory=Book)
    lengths: Lengths = field(default_factory=Lengths)
    duplicates: Duplicates = field(default_factory=Duplicates)
    prompt: OnePrompt = field(default_factory=OnePrompt)
    first: dict[str, type] | None = None
    rows: int = 0
    _waiting: deque[tuple[str, int, Future[int]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.behaviour = behaviour.Behaviour(self.settings)
        self.duplicates.fingerprints = self.settings.profile.provenance

    def line(self, number: int, data: bytes, pool: ThreadPoolExecutor) -> None:
        """All checks of one line."""
        self.rows += 1
        place = f"line {number}"
        leaked = self.secrets.check(data)  # in the bytes, so that no shape of a row hides a key
        if data.startswith(codecs.BOM_UTF8):
            data = data[len(codecs.BOM_UTF8) :]
            detail = "a byte order mark in front: save the file without one"
            self.book.add(place, number, [Finding(check=shape.CHECK, reason="byte_order_mark", detail=detail)])
        try:
            row = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            bad = Finding(check=shape.CHECK, reason="bad_json", detail=str(error))
            self.book.add(place, number, [*leaked, bad])
            return
        if not isinstance(row, dict):
            detail = f"{type(row).__name__}; one JSON object a line is expected"
            self.book.add(place, number, [*leaked, Finding(check=shape.CHECK, reason="not_an_object", detail=detail)])
            return
        self.book.add(str(row.get("id", place)), number, leaked)
        if again := repeated_key(data):
            detail = f"{again!r} stands twice in one object: readers keep different ones"
            bad = Finding(check=shape.CHECK, reason="repeated_key", detail=detail)
            self.book.add(str(row.get("id", place)), number, [bad])
        try:
            self._row(row, number, pool)
        except RecursionError:
            bad = Finding(check=shape.CHECK, reason="too_deep", detail="lists or objects inside each other without end")
            self.book.add(str(row.get("id", place)), number, [bad])

    def _row(self, row: Row, number: int, pool: ThreadPoolExecutor) -> None:
        if self.first is None:
            self.first = {name: type(value) for name, value in row.items()}
        row_id = str(row.get("id", f"line {number}"))
        found, view = shape.check_shape(row, self.settings.profile, self.first)
        self.book.add(row_id, number, found)
        if view is not None:
            self._view(view, row_id, number, pool)

    def _view(self, view: View, row_id: str, number: int, pool: ThreadPoolExecutor) -> None:
        settings, book = self.settings, self.book
        book.add(row_id, number, check_thinking(view, settings))
        book.add(row_id, number, check_conversation(view, settings))
        book.add(row_id, number, check_truncation(view))
        book.add(row_id, number, self.pictures.check(view))
        book.add(row_id, number, self.duplicates.check(view, number))
        if settings.profile.one_prompt:
            book.add(row_id, number, self.prompt.check(view))
        if settings.profile.provenance:
            book.add(row_id, number, check_licence(view))
            book.add(row_id, number, check_lineage(view))
        if self.index is not None:
            book.add(row_id, number, check_overlap(view, self.index, self.pictures))
            said = check_observations(view, self.index)
            book.add(row_id, number, said, warning=not settings.evaluation_text_fails)
        self.behaviour.add(view, row_id, number)
        if self.tokens is not None:
            text, wrong = rendering.render(view, self.tokens.renderer)
            book.add(row_id, number, wrong)
            if text is not None:
                sizes = self.pictures.sizes(view)
                self._waiting.append((row_id, number, pool.submit(self.tokens.length, text, sizes)))
                self._settle(WAITING)
        if self.deep is not None:
            book.add(row_id, number, self.deep(dict(view.row)))

    def _settle(self, allowed: int) -> None:
        """Take counts in until at most ``allowed`` are still waiting."""
        while len(self._waiting) > allowed:
            row_id, number, future = self._waiting.popleft()
            try:
                length = future.result()
            except BadRow as error:
                self.book.add(row_id, number, [Finding(check=TRUNCATION, reason=error.reason, detail=error.detail)])
                continue
            self.lengths.add(length)
            self.book.add(row_id, number, check_length(length, self.settings))

    def finish(self) -> None:
        """What can only be said at the end."""
        self._settle(0)
        for row_id, number, finding in self.behaviour.failures():
            self.book.add(row_id, number, [finding])


def audit_file(
    path: Path,
    settings: AuditSettings,
    *,
    img_root: Path,
    tokens: Tokens | None,
    index: EvaluationIndex | None,
    flat_max_std: float = 4.0,
    secret_values: tuple[str, ...] = (),
    deep: DeepCheck | None = None,
    no_tokens_because: str = "",
    loading: bool = True,
    progress: Progress | None = None,
) -> AuditReport:
    """Audit one file. Raises TirError when it does not exist; everything else is in the report.

    Without ``tokens`` (no template) checks 3 and 6 fail, without ``index`` check 5 fails: what was not checked did not
    pass. ``flat_max_std``: see ``decontamination.flat_max_std``. ``loading`` false leaves the loader check out, for a
    caller that has made it or will make it on a file that holds this one.
    """
    if not path.is_file():
        raise TirError(f"{path}: no such file")
    if not img_root.is_dir():
        raise TirError(f"{img_root}: no such folder; --img-root is the one that picture paths in rows are relative to")
    other = _other_format(path)
    pictures = Pictures(img_root, hashes=index is not None, flat_max_std=flat_max_std)
    auditor = Auditor(settings, pictures, tokens, index, Secrets(secret_values), deep)
    missing = []
    if tokens is None:
        missing.append(Finding(check=rendering.CHECK, reason="no_template", detail=no_tokens_because))
        missing.append(Finding(check=TRUNCATION, reason="not_counted", detail="no template to render with"))
    if index is None:
        missing.append(Finding(check=OVERLAP, reason="no_index", detail="no evaluation index was given"))
    if other:
        missing.append(Finding(check=shape.CHECK, reason="not_json_lines", detail=other))
    auditor.book.add("", 0, missing)
    if other:  # no line of it means anything
        auditor.finish()
        return _report(path, auditor, loading=False)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as second, ThreadPoolExecutor(1) as pool:
        loaded = second.submit(loader.check_loader, path) if loading else None
        with path.open("rb") as handle:
            for number, data in enumerate(handle, start=1):
                if data.strip():
                    auditor.line(number, data, pool)
                    if progress is not None:
                        progress.update(done=auditor.rows, failures=len(auditor.book.failures))
        if not auditor.rows:
            none = Finding(check=shape.CHECK, reason="no_rows", detail="a file without rows holds nothing to train on")
            auditor.book.add("", 0, [none])
        auditor.finish()
        if loaded is not None:
            auditor.book.add("", 0, loaded.result())
    return _report(path, auditor, loading)


FORMATS = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PAR1", "Parquet"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def _other_format(path: Path) -> str:
    """What the file is when it is no text of lines at all; empty for JSON Lines, good or bad."""
    with path.open("rb") as handle:
        head = handle.read(8)
    for start, name in FORMATS:
        if head.startswith(start):
            return f"the file is {name}; JSON Lines in UTF-8 are expected"
    return "the file is UTF-16 or UTF-32; UTF-8 is expected" if b"\x00" in head else ""


def _report(path: Path, auditor: Auditor, loading: bool) -> AuditReport:
    left_out = set() if auditor.settings.profile.provenance else {"licence", "lineage"}
    left_out |= set() if loading else {loader.CHECK}
    checks = tuple(check for check in CHECKS if check not in left_out)
    if auditor.deep is not None:
        checks = (*checks, "deep")
    book = auditor.book
    return AuditReport(
        file=path.name,
        profile=auditor.settings.profile.name,
        rows=auditor.rows,
        template=auditor.tokens.renderer.source.sha256 if auditor.tokens else "",
        checks=book.table(checks),
        thresholds=auditor.behaviour.thresholds(),
        figures={"tokens": auditor.lengths.to_dict(), "pictures": auditor.pictures.distinct},
        failures=sorted(book.failures, key=lambda item: (item["line"], item["check"], item["message"] or 0)),
        warnings=book.warnings,
        excerpts=book.excerpts,
    )
