"""Whole files: convert with a report, clean with a report. Streaming, output in input order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from ..export import Row, complete_first
from ..records import BadRow, Progress, atomic_writer, dumps, read_jsonl
from .clean import NoThinking, check_answer, letter_to_text, without_thinking
from .convert import LegacySettings, convert
from .pictures import PictureStore
from .readers import read_rows
from .shapes import read_row

SHOWN_EVERY = 64
"""Rows between two signs of progress."""


@dataclass
class LegacyReport:
    """Counts of a conversion; ``rows_read`` = ``rows_written`` + the sum of ``dropped``."""

    rows_read: int = 0
    rows_written: int = 0
    rows_with_code: int = 0
    prompts_replaced: int = 0
    image_path: int = 0
    """Rows whose code names IMAGE_PATH."""
    input_image: int = 0
    """Rows whose code names input_image.jpg."""
    without_thinking: int = 0
    letter_answers: int = 0
    ids_repeated: int = 0
    """Rows whose id another row had before: they get a number behind it, since rows are told apart by id."""
    dropped: Counter[str] = field(default_factory=Counter)
    per_source: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        return {
            **{key: getattr(self, key) for key in self.__dataclass_fields__},
            "dropped": dict(sorted(self.dropped.items())),
            "per_source": dict(sorted(self.per_source.items())),
        }


def convert_file(
    source: Path,
    out: Path,
    rejects: Path,
    *,
    settings: LegacySettings,
    images_out: Path,
    progress: Progress | None = None,
) -> LegacyReport:
    """Write native rows to ``out`` and dropped rows ({"id", "reason", "detail"}) to ``rejects``."""
    report = LegacyReport()
    store = PictureStore(images_out)
    with atomic_writer(rejects) as bad, atomic_writer(out) as good:

        def drop(name: str, error: BadRow) -> None:
            report.dropped[error.reason] += 1
            bad.write(dumps({"id": name, "reason": error.reason, "detail": error.detail}) + b"\n")

        def converted() -> Iterator[Row]:
            seen: set[str] = set()
            for number, raw in enumerate(read_rows(source)):
                report.rows_read += 1
                if progress is not None and number % SHOWN_EVERY == 0:
                    progress.update(done=report.rows_read, kept=report.rows_written)
                name = ""
                if isinstance(raw, BadRow):
                    drop(f"row_{number}", raw)
                    continue
                try:
                    legacy = read_row(raw, default_id=str(number), default_source=settings.name)
                    name = legacy.id
                    if name in seen:
                        legacy = legacy._replace(id=fresh(name, seen))
                        report.ids_repeated += 1
                    seen.add(legacy.id)
                    result = convert(legacy, settings, store)
                except BadRow as error:
                    drop(name or f"row_{number}", error)
                    continue
                except (AttributeError, KeyError, TypeError, ValueError) as error:
                    # a row of yet another shape must never end a conversion of thousands; its words are kept
                    name = name or f"row_{number}"
                    drop(name, BadRow("unreadable_row", f"{name}: {type(error).__name__}: {error}"))
                    continue
                report.rows_written += 1
                report.prompts_replaced += 1
                report.rows_with_code += result.has_code
                report.image_path += result.image_path
                report.input_image += result.input_image
                report.without_thinking += result.without_thinking
                report.letter_answers += result.letter
                report.per_source[legacy.source] += 1
                yield result.row

        for row in complete_first(converted()):
            good.write(dumps(row) + b"\n")
        if progress is not None:
            progress.update(done=report.rows_read, kept=report.rows_written)
    return report


def fresh(name: str, taken: Container[str]) -> str:
    """The id with the first number from 2 on that makes it another."""
    return next(new for number in count(2) if (new := f"{name}_{number}") not in taken)


@dataclass
class CleanReport:
    """Counts of a cleaning; ``rows_read`` = ``rows_written`` + ``queued`` + the sum of ``dropped``."""

    rows_read: int = 0
    rows_written: int = 0
    letters_replaced: int = 0
    queued: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in self.__dataclass_fields__} | {
            "dropped": dict(sorted(self.dropped.items()))
        }


def clean_file(
    source: Path, out: Path, queue: Path, *, no_thinking: NoThinking, letters: bool, min_think_chars: int = 1
) -> CleanReport:
    """Native rows without what the audit would refuse: letters become option texts, rows without thinking or without
    an answer go.

    ``no_thinking="queue"`` puts rows with too short a thought into ``queue`` for a teacher to write what is missing.
    ``min_think_chars``: shorter thoughts are none (the command takes F10's 20); they are counted apart.
    """
    report = CleanReport()
    with atomic_writer(queue) as waiting, atomic_writer(out) as good:

        def cleaned() -> Iterator[Row]:
            for row in read_jsonl(source):
                report.rows_read += 1
                try:
                    check_answer(row)
                    if letters:
                        row, replaced = letter_to_text(row)
                        report.letters_replaced += replaced
                except BadRow as error:
                    report.dropped[error.reason] += 1
                    continue
                if no_thinking != "keep" and without_thinking(row, min_think_chars):
                    if no_thinking == "queue":
                        report.queued += 1
                        waiting.write(dumps(row) + b"\n")
                    else:
                        report.dropped["no_thinking" if without_thinking(row) else "short_thinking"] += 1
                    continue
                report.rows_written += 1
                yield row

        for row in complete_first(cleaned()):
            good.write(dumps(row) + b"\n")
    return report
