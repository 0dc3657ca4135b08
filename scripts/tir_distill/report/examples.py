"""A few samples of a run to look at: for each bucket some that were kept and some per reason for dropping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..records.jsonl import read_jsonl
from ..records.trajectory import Trajectory

KEPT = "kept"


@dataclass(frozen=True)
class Example:
    """A sample as the filters left it, under the reason by which it was chosen."""

    reason: str
    """``kept``, or the first rule that failed."""
    trajectory: Trajectory


def examples(filtered: Iterable[Path], each: int) -> list[Example]:
    """At most ``each`` samples per bucket and reason, the first in the order of the files. Streams the files."""
    seen: Counter[tuple[str, str]] = Counter()
    return [item for path in filtered for item in _of_file(path, each, seen)]


def _of_file(path: Path, each: int, seen: Counter[tuple[str, str]]) -> Iterator[Example]:
    for row in read_jsonl(path):
        reason = KEPT if row["accepted"] else row["filter_fails"][0]
        key = (row["question"]["bucket"], reason)
        if seen[key] < each:
            seen[key] += 1
            yield Example(reason, Trajectory.from_dict(row))
