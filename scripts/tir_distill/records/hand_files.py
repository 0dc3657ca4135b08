"""JSON Lines that people write (labels, predictions, questions): a bad line is named, counted, set aside.

Files of the workflow itself are read by ``read_jsonl``, which stops at a bad line: there it means damage.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

log = logging.getLogger(__name__)
SHOWN = 5
"""Bad lines named one by one; all are counted."""


@dataclass(slots=True)
class SetAside:
    """Lines of one file that could not be used."""

    path: Path
    reasons: Counter[str] = field(default_factory=Counter)
    first: str = ""
    """The first of them, in words."""

    def add(self, number: int, reason: str, detail: str) -> None:
        """``reason`` in snake case, ``detail`` for a reader."""
        words = f"{self.path}:{number}: {detail}"
        self.first = self.first or words
        self.reasons[reason] += 1
        if self.total <= SHOWN:
            log.warning("set aside: %s", words)

    @property
    def total(self) -> int:
        return sum(self.reasons.values())

    def __str__(self) -> str:
        counts = ", ".join(f"{reason} {count}" for reason, count in sorted(self.reasons.items()))
        return f"{self.total} line(s) set aside ({counts})"


def objects(path: Path, aside: SetAside) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of each line that holds one; empty lines are skipped. Raises OSError."""
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                aside.add(number, "not_json", f"not JSON ({error})")
                continue
            if isinstance(value, dict):
                yield number, value
            else:
                aside.add(number, "not_an_object", f"expected a JSON object, found {type(value).__name__}")
