"""One evaluation set, read into fingerprints: hashes of pictures and texts, nothing that can be read.

An item whose picture cannot be decoded keeps its text print, and the loss is noted; an item without readable text is
rejected. Decrypted text is dropped as soon as its hashes are taken.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.errors import BadRow
from ..records.jsonl import write_json
from ..records.protocols import Progress
from .bucket_table import DEFAULT_WORKERS, Reject, check_layout, printable
from .candidate import EvaluationItem
from .counts import Counts
from .ordered import ordered_map
from .parquet_out import EVALUATION, table_writer
from .phash import PicturePrint, picture_print
from .pictures import prepare
from .readers import EvaluationReader, evaluation_reader
from .settings import ReadSettings
from .tables import DamagedLine
from .text_units import TextPrint

log = logging.getLogger("tir_distill")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One evaluation item as the index holds it."""

    id: str
    pictures: tuple[PicturePrint, ...]
    text: TextPrint
    problems: tuple[str, ...]
    """Reasons for which pictures of the item are not in the index."""

    @classmethod
    def of(cls, item: EvaluationItem, flat_max_std: float) -> Fingerprint:
        """Decode the pictures and hash everything."""
        prints, problems = [], list(item.problems)
        for data in item.pictures:
            try:
                stored, pixels = prepare(data)
            except BadRow as error:
                problems.append(error.reason)
                continue
            prints.append(picture_print(pixels, stored.sha256, flat_max_std))
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


def read_evaluation(
    settings: ReadSettings,
    folder: Path,
    *,
    out: Path,
    workers: int = DEFAULT_WORKERS,
    progress: Progress | None = None,
) -> Counts:
    """Read one set. Raises UsageError for an unknown reader and TirError when a table as such cannot be read."""
    reader = evaluation_reader(settings.reader)(folder, tolerant=settings.tolerant)
    counts = Counts()

    def work(item: EvaluationItem | Reject) -> Fingerprint | Reject:
        return item if isinstance(item, Reject) else Fingerprint.of(item, settings.flat_max_std)

    try:
        check_layout(reader, settings.tolerant)
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
    finally:
        reader.close()
    write_json(out.with_suffix(".counts.json"), counts.to_dict())
    return counts
