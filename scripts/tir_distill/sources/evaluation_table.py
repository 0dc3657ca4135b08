"""One evaluation set, read into fingerprints: hashes of pictures and texts, nothing that can be read.

An item whose picture cannot be decoded keeps its text print, one whose text cannot be read keeps its pictures' prints,
and the loss is noted; an item with neither is rejected. A set that gives no item, or whose tables lack text or pictures
wholly, is an error even where the layout is not certain: without it, its items would stay in training. Decrypted text
is dropped as soon as its hashes are taken.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.errors import BadRow, TirError
from ..records.jsonl import write_json
from ..records.protocols import Progress
from .bucket_table import DEFAULT_WORKERS, Reject, check_layout, printable
from .candidate import EvaluationItem
from .counts import Counts
from .json_table import DamagedLine
from .ordered import ordered_map
from .parquet_out import EVALUATION, table_writer
from .phash import PicturePrint, picture_print
from .pictures import prepare
from .readers import EvaluationReader, evaluation_reader
from .settings import ReadSettings
from .text_units import TextPrint

log = logging.getLogger("tir_distill")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One evaluation item as the index holds it."""

    id: str
    pictures: tuple[PicturePrint, ...]
    text: TextPrint
    problems: tuple[str, ...]
    """Reasons for which pictures or the text of the item are not in the index."""

    @classmethod
    def of(cls, item: EvaluationItem, flat_max_std: float) -> Fingerprint:
        """Decode the pictures and hash everything. Raises BadRow when nothing is left to hash."""
        prints, problems = [], list(item.problems)
        for data in item.pictures:
            try:
                stored, pixels = prepare(data)
            except BadRow as error:
                problems.append(error.reason)
                continue
            prints.append(picture_print(pixels, stored.sha256, flat_max_std))
        if not item.text and not prints:
            raise BadRow(problems[0] if problems else "empty_item")
        return cls(id=item.id, pictures=tuple(prints), text=TextPrint.of(item.text), problems=tuple(problems))

    def to_row(self, name: str) -> dict[str, Any]:
        """The row of ``evaluation/<set>.parquet``."""
        return {
            "set": name,
            "id": self.id,
            "images": [{"phash": p.phash, "flat": p.flat, "sha256": p.sha256} for p in self.pictures],
            "shingles": list(self.text.shingles),
            "units": self.text.units,
            "text_key": self.text.text_key,
            "script": self.text.script,
            "grams": list(self.text.grams),
        }


def evaluation_items(reader: EvaluationReader) -> Iterator[EvaluationItem | Reject]:
    """All items of a set, in memory only; for this module and for a contact sheet that a person looks at."""
    for index, row in enumerate(reader.raw_rows()):
        if isinstance(row, DamagedLine):
            yield Reject(f"{reader.source}#{index}", BadRow("damaged_line", row.detail))
            continue
        try:
            yield reader.parse(row, index)
        except BadRow as error:
            # The detail may quote the row; an evaluation row must not reach a log or a file.
            yield Reject(printable(reader.row_id(row, index)), BadRow(error.reason))


def _check_essential(reader: EvaluationReader) -> None:
    """Raise TirError when a table lacks a column without which its items could not be found in training data."""
    for name, spellings, found in reader.lacking():
        raise TirError(
            f"{reader.folder / name}: the evaluation reader {reader.source} needs a column {' or '.join(spellings)}; "
            f"found {', '.join(map(str, found)) or 'no column'}; without it the set's items would stay in training: "
            "check sources.sets revision"
        )


def _nothing_kept(reader: EvaluationReader, counts: Counts) -> TirError:
    files = ", ".join(path.relative_to(reader.folder).as_posix() for path in reader.files())
    why = ", ".join(f"{reason} {number}" for reason, number in sorted(counts.rejects.items())) or "no rows"
    return TirError(
        f"{reader.folder}: none of {counts.read} rows of {files} gives an item of {reader.source} ({why}); "
        f"expected columns {', '.join(reader.required)}; an empty evaluation set would leave its items in training"
    )


def read_evaluation(
    settings: ReadSettings,
    folder: Path,
    *,
    out: Path,
    workers: int = DEFAULT_WORKERS,
    progress: Progress | None = None,
) -> Counts:
    """Read one set. Raises UsageError for an unknown reader and TirError when a table as such cannot be read, lacks an
    essential column, or when no row gives an item.
    """
    reader = evaluation_reader(settings.reader)(folder, tolerant=settings.tolerant)
    counts = Counts()

    def work(item: EvaluationItem | Reject) -> Fingerprint | Reject:
        if isinstance(item, Reject):
            return item
        try:
            return Fingerprint.of(item, settings.flat_max_std)
        except BadRow as error:
            return Reject(printable(item.id), error)

    try:
        check_layout(reader, settings.tolerant)
        _check_essential(reader)
        with table_writer(out, EVALUATION) as table:
            for done in ordered_map(work, evaluation_items(reader), workers):
                counts.read += 1
                if isinstance(done, Reject):
                    counts.rejects[done.error.reason] += 1
                    log.warning("%s: item %s not in the index: %s", settings.name, done.id, done.error.reason)
                else:
                    counts.kept += 1
                    for reason in done.problems:
                        counts.notes[reason] += 1
                    table.add(done.to_row(settings.name))
                if progress is not None:
                    progress.update(done=counts.read, kept=counts.kept)
            if counts.kept == 0:
                raise _nothing_kept(reader, counts)
    finally:
        reader.close()
    write_json(out.with_suffix(".counts.json"), counts.to_dict())
    return counts
