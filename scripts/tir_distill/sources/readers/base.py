"""What a reader is: it says which rows are its own and turns one row into one candidate or item.

Readers hold no loop, no pictures' decoding and no error handling: ``bucket_table`` and ``evaluation_table`` do that
once for all. A row that cannot be used raises BadRow; no other exception leaves a reader, whatever a row holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from ...records.errors import BadRow
from ..candidate import Candidate, EvaluationItem
from ..fields import Row
from ..json_table import DamagedLine
from ..tables import columns_of, rows, table_files

NOT_OURS = object()
"""Given by ``parse`` for a row that belongs to another bucket of the same source: neither kept nor rejected."""


class Reader:
    """One source's layout. Subclasses override the class variables, ``parse`` and, where needed, ``raw_rows``."""

    source: ClassVar[str]
    """Name in the records' ``source`` field and the head of generated ids."""
    columns: ClassVar[tuple[str, ...]]
    """Columns that are read."""
    required: ClassVar[tuple[str, ...]]
    """Columns without which the layout is not the expected one."""

    def __init__(self, folder: Path, *, tolerant: bool = False, answer_chars: tuple[int, int] = (2, 60)) -> None:
        self.folder = folder
        self.tolerant = tolerant
        self.answer_chars = answer_chars

    def files(self) -> list[Path]:
        """The tables to read, in order."""
        return table_files(self.folder)

    def raw_rows(self) -> Iterator[dict[str, Any] | DamagedLine]:
        """All rows of all tables. What a reader counts (ids by position) it counts over these."""
        for path in self.files():
            yield from rows(path, self.columns or None)

    def missing_columns(self) -> dict[str, list[str]]:
        """Table -> required columns that it lacks."""
        out = {}
        for path in self.files():
            if (names := columns_of(path)) is not None:
                missing = [name for name in self.required if name not in names]
                if missing:
                    out[path.relative_to(self.folder).as_posix()] = missing
        return out

    def row_id(self, row: Row, index: int) -> str:
        """A name for a row in the list of rejects, whatever is in it."""
        return f"{self.source}#{index}"

    def close(self) -> None:
        """Let go of open files."""


class QuestionReader(Reader):
    """Gives training candidates."""

    def parse(self, row: Row, index: int) -> Any:
        """A Candidate, a list of them (and of BadRow), or NOT_OURS. Raises BadRow. ``index`` counts all raw rows."""
        raise NotImplementedError


class EvaluationReader(Reader):
    """Gives items that must never be trained on."""

    essential: ClassVar[tuple[tuple[str, ...], ...]]
    """Columns without which nothing can be told from training data, each with its other spellings."""

    def lacking(self) -> Iterator[tuple[str, tuple[str, ...], list[str]]]:
        """(table, spellings of an essential column, columns found) for each that no row of the table has."""
        for path in self.files():
            found = columns_of(path)
            if found is None:
                found = list(dict.fromkeys(key for row in rows(path) if isinstance(row, dict) for key in row))
            for spellings in self.essential:
                if not set(spellings) & set(found):
                    yield path.relative_to(self.folder).as_posix(), spellings, found

    def parse(self, row: Row, index: int) -> EvaluationItem:
        """The item. Raises BadRow only when neither its text nor a picture can be had."""
        raise NotImplementedError


__all__ = ["NOT_OURS", "BadRow", "Candidate", "EvaluationItem", "EvaluationReader", "QuestionReader", "Reader"]
