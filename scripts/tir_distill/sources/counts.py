"""Counting at one stage: read = kept + rejected (DESIGN section 4.9), and notes that lose no row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Counts:
    """What happened to the rows of one table."""

    read: int = 0
    """Rows that belong to this bucket or set."""
    kept: int = 0
    elsewhere: int = 0
    """Rows of the same files that belong to another bucket; not part of ``read``."""
    rejects: Counter[str] = field(default_factory=Counter)
    """Reason -> rows."""
    notes: Counter[str] = field(default_factory=Counter)
    """Things worth knowing that cost no row, such as a picture of an evaluation item that cannot be decoded."""

    def to_dict(self) -> dict[str, Any]:
        """The ``.counts.json`` beside the table, reasons in alphabetical order."""
        return {
            "read": self.read,
            "kept": self.kept,
            "rejects": dict(sorted(self.rejects.items())),
            "elsewhere": self.elsewhere,
            "notes": dict(sorted(self.notes.items())),
        }
