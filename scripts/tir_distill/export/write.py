"""The rows of a run: one accepted sample per question, a complete row first, everything else counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..records import BadRow, Progress, Trajectory, atomic_writer, dumps, read_jsonl
from .places import PicturePlaces
from .rows import Row, to_row
from .settings import ExportSettings


@dataclass
class ExportCounts:
    """What became of every filtered sample: the numbers add up to ``samples``."""

    samples: int = 0
    not_accepted: int = 0
    duplicates: int = 0
    """Further accepted samples of a question that already has a row."""
    rows: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    """Reason -> accepted samples that cannot be exported faithfully."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "not_accepted": self.not_accepted,
            "duplicates": self.duplicates,
            "rows": self.rows,
            "rejected": dict(sorted(self.rejected.items())),
        }


def is_complete(row: Mapping[str, Any]) -> bool:
    """The row holds something in every field: a picture, a call, tools.

    Readers of JSON Lines take a column's type from what they see first (datasets: 10 MB, pyarrow: 1 MB), so the first
    row of a file must leave no type open.
    """
    return bool(row["images"]) and any(message.get("tool_calls") for message in row["messages"])


MAX_HELD = 1000
"""Rows that may wait for a complete one: a file of text alone has none, and may be of any size."""


def complete_first(rows: Iterable[Row], *, at_most: int = MAX_HELD) -> Iterator[Row]:
    """The rows, with the first complete one moved to the front; order is kept otherwise.

    Only the first ``at_most`` rows and the one after them are looked at; they are the only ones held in memory.
    """
    held: list[Row] = []
    source = iter(rows)
    for row in source:
        if is_complete(row):
            yield row
            break
        held.append(row)
        if len(held) > at_most:
            break
    yield from held
    yield from source


def export_rows(
    filtered: Iterable[Path],
    *,
    settings: ExportSettings,
    places: PicturePlaces,
    out: Path,
    rejects: Path,
    samples_of: Mapping[str, int] | None = None,
    check: Callable[[Row, Trajectory], None] | None = None,
    progress: Progress | None = None,
) -> ExportCounts:
    """Filtered shards -> ``out`` and ``rejects`` ({"id", "sample_index", "reason", "detail"} lines), both whole or not
    at all. Memory holds the ids, and at most ``MAX_HELD`` rows before the first complete one.

    ``samples_of``: question id -> samples taken, where the filtered files do not hold all of them. ``check`` may refuse
    a row with BadRow (the commands give one that compares renderings).
    """
    files = list(filtered)
    taken = Counter(dict(samples_of)) if samples_of is not None else _samples_taken(files)
    counts = ExportCounts()
    done: set[str] = set()

    with atomic_writer(rejects) as bad, atomic_writer(out) as good:

        def accepted() -> Iterator[Row]:
            for path in files:
                for line in read_jsonl(path):
                    counts.samples += 1
                    if progress is not None:
                        progress.update(done=counts.samples, rows=counts.rows)
                    if not line["accepted"]:
                        counts.not_accepted += 1
                        continue
                    if line["id"] in done:
                        counts.duplicates += 1
                        continue
                    trajectory = Trajectory.from_dict(line)
                    try:
                        row = to_row(
                            trajectory, places=places, settings=settings, n_samples=taken[trajectory.question.id]
                        )
                        if check is not None:
                            check(row, trajectory)
                    except BadRow as error:
                        counts.rejected[error.reason] += 1
                        reject = {"id": line["id"], "sample_index": trajectory.sample_index}
                        bad.write(dumps({**reject, "reason": error.reason, "detail": error.detail}) + b"\n")
                        continue
                    done.add(trajectory.question.id)
                    counts.rows += 1
                    yield row

        for row in complete_first(accepted()):
            good.write(dumps(row) + b"\n")
    return counts


def _samples_taken(files: Iterable[Path]) -> Counter[str]:
    """Samples per question id, as the filtered files hold them."""
    return Counter(line["id"] for path in files for line in read_jsonl(path))
