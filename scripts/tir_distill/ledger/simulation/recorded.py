"""Questions as a run recorded them in ``trajectories_raw.jsonl``: what would other caps have done to them?

A recorded sample says what it did under its own caps only. Cut shorter, one that was accepted stays so with chance
``forced``, and one that was not never is; the draw is fixed by the sample's key. A plan that allows more than the
recorded run did sees no more than was recorded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...records import read_jsonl, stable_unit
from .plans import Outcome, Question


@dataclass(frozen=True, slots=True)
class RecordedSample:
    """One line of the file, reduced to its searches and its end."""

    billed: tuple[int, ...]
    """Per search call that was answered, in order: 1 if it was paid for, 0 if it came from the cache."""
    answered: bool
    accepted: bool
    luck: float
    forced: float

    def under(self, cap: int) -> Outcome:
        if len(self.billed) <= cap:
            return Outcome(len(self.billed), sum(self.billed), self.answered, self.accepted)
        accepted = self.accepted and self.luck < self.forced
        return Outcome(cap, sum(self.billed[:cap]), answered=True, accepted=accepted)


def search_bills(row: Mapping[str, Any]) -> tuple[int, ...]:
    """Bills of a raw record's answered search calls, in order."""
    return tuple(
        int(result["meta"].get("billed", 0))
        for turn in row["turns"]
        for result in turn.get("results", ())
        if result["name"] == "search" and result["status"] == "ok" and "cap" not in result["meta"]
    )


def read_questions(paths: Iterable[Path], *, forced: float = 0.5) -> list[Question]:
    """Questions of raw record files, in order of their ids. Raises TirError naming a line that is no JSON."""
    samples: dict[str, dict[int, RecordedSample]] = defaultdict(dict)
    text: dict[str, bool] = {}
    for path in paths:
        for row in read_jsonl(path):
            name, index = row["id"], row["sample_index"]
            samples[name][index] = RecordedSample(
                billed=search_bills(row),
                answered=row["answer"] is not None,
                accepted=bool(row["accepted"]),
                luck=stable_unit(0, "simulate", name, str(index)),
                forced=forced,
            )
            text[name] = row["question"]["task_type"] == "text_search"
    return [
        Question(id=name, text=text[name], samples=[found[index] for index in sorted(found)])
        for name, found in sorted(samples.items())
    ]
