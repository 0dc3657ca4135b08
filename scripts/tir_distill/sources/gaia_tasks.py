"""GAIA validation with answers, levels and files, for a student's private run; the index reads less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..records.errors import BadRow
from .fields import Row, optional_text, text
from .json_table import DamagedLine
from .picture_bytes import inside, is_file
from .pictures import prepare
from .readers.evaluation import Gaia


@dataclass(frozen=True, slots=True)
class GaiaTask:
    """One row, or why it cannot be asked."""

    id: str
    question: str = ""
    answer: str = ""
    level: str = ""
    """``1``, ``2`` or ``3``."""
    file: Path | None = None
    reject: str = ""
    """Reason in snake_case; empty for a usable row."""


class _Tasks(Gaia):
    columns = (*Gaia.columns, "Level", "level", "Final answer", "final_answer")  # type: ignore[assignment]  # longer

    def task(self, row: Row, index: int) -> GaiaTask:
        """Raises BadRow."""
        place = optional_text(row, "file_path") or optional_text(row, "file_name")
        file = inside(self.folder, self._find(place)) if place else None
        if file is not None and not is_file(file):
            raise BadRow("file_missing", f"{place!r} was not fetched")
        return GaiaTask(
            id=self.row_id(row, index),
            question=text(row, "Question", "question"),
            answer=text(row, "Final answer", "final_answer"),
            level=text(row, "Level", "level").removeprefix("Level").strip(),
            file=file,
        )


def gaia_tasks(folder: Path) -> Iterator[GaiaTask]:
    """Every row of the source in ``folder``, in order. Raises TirError when the source is not there."""
    reader = _Tasks(folder, tolerant=True)
    seen: set[str] = set()
    for index, row in enumerate(reader.raw_rows()):
        if isinstance(row, DamagedLine):
            yield GaiaTask(f"gaia#{index}", reject="damaged_line")
            continue
        name = reader.row_id(row, index)
        if name in seen:
            yield GaiaTask(f"{name}#{index}", reject="repeated_id")
            continue
        seen.add(name)
        try:
            yield reader.task(row, index)
        except BadRow as error:
            yield GaiaTask(reader.row_id(row, index), reject=error.reason)


def shown_picture(data: bytes) -> tuple[str, bytes] | None:
    """Extension and bytes of a picture file as teacher and sandbox get it; None when it cannot be decoded."""
    try:
        stored, _ = prepare(data)
    except BadRow:
        return None
    return stored.ext, stored.data
