"""Which rows of a mix's parts are in, how often, on which side of the split, and in which order.

Everything is decided by hashes of (seed, row id), so neither the order of rows in a file nor the number of workers
changes anything; the order of the *parts* matters once: of two equal questions, the earlier part's stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ...records import stable_int, stable_unit
from ...records.licences import forbids_commerce
from .index import Drops, Entry
from .settings import MixSettings

NearPairs = Callable[[Sequence[tuple[int, ...]]], Iterable[tuple[int, int, float]]]
"""All pairs (i, j, Jaccard), i < j, of shingle sets that are near duplicates; given by the command."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One line of the mix."""

    entry: Entry
    copy: int
    validation: bool


def choose(entries: Sequence[Entry], settings: MixSettings, near_pairs: NearPairs, drops: Drops) -> list[Chosen]:
    """The mix in its final order."""
    names = [part.name for part in settings.parts]
    rows = sorted(entries, key=lambda e: (e.part, stable_int(settings.seed, "row", names[e.part], e.id), e.id))

    def keep(wanted: Iterable[bool], reason: str) -> None:
        nonlocal rows
        kept = []
        for entry, good in zip(rows, wanted, strict=True):
            if good:
                kept.append(entry)
            else:
                drops.add(names[entry.part], entry.id, reason)
        rows = kept

    if not settings.non_commercial:
        keep([not forbids_commerce(entry.licence) for entry in rows], "non_commercial")
    keep(_first_of_each_question(rows), "duplicate")
    keep(_far_from_earlier(rows, settings, near_pairs), "near_duplicate")
    keep(_within(rows, settings.cap_per_bucket, lambda entry: entry.bucket), "cap_per_bucket")
    keep(_within(rows, settings.cap_per_source, lambda entry: entry.source), "cap_per_source")
    copies = _copies(rows, settings)
    keep([count > 0 for count in copies], "weight")
    counts = [count for count in copies if count]
    side = validation_side(rows, settings)
    lines = [
        Chosen(entry, copy, validation)
        for entry, count, validation in zip(rows, counts, side, strict=True)
        for copy in range(1 if validation else count)
    ]
    lines.sort(key=lambda c: (stable_int(settings.seed, "order", names[c.entry.part], c.entry.id, str(c.copy)), c.copy))
    return lines


def _first_of_each_question(rows: Sequence[Entry]) -> list[bool]:
    """A question (text and pictures) stays in the first part that has it; within that part, trajectories may differ."""
    owner: dict[object, int] = {}
    return [owner.setdefault(entry.question_key, entry.part) == entry.part for entry in rows]


def _far_from_earlier(rows: Sequence[Entry], settings: MixSettings, near_pairs: NearPairs) -> list[bool]:
    """No long question of a later part is nearly one of an earlier part about the same pictures."""
    long = [n for n, entry in enumerate(rows) if len(entry.shingles) >= settings.near_duplicate_min_units]
    keep = [True] * len(rows)
    for left, right, _ in near_pairs([rows[n].shingles for n in long]):
        first, second = sorted((long[left], long[right]))
        if rows[first].part != rows[second].part and rows[first].pictures == rows[second].pictures:
            keep[second] = False
    return keep


def _within(rows: Sequence[Entry], cap: int | None, key: Callable[[Entry], str]) -> list[bool]:
    seen: Counter[str] = Counter()
    keep = []
    for entry in rows:
        seen[key(entry)] += 1
        keep.append(cap is None or seen[key(entry)] <= cap)
    return keep


def _copies(rows: Sequence[Entry], settings: MixSettings) -> list[int]:
    """How often each row stands in the mix: a part of n rows and weight w gives round(w * n) lines."""
    places: dict[int, list[int]] = defaultdict(list)
    for number, entry in enumerate(rows):
        places[entry.part].append(number)
    copies = [0] * len(rows)
    for part, numbers in places.items():
        weight = settings.parts[part].weight
        whole = int(weight)
        extra = round(weight * len(numbers)) - whole * len(numbers)
        for rank, number in enumerate(numbers):
            copies[number] = whole + (rank < extra)
    return copies


def validation_side(rows: Sequence[Entry], settings: MixSettings) -> list[bool]:
    """Whether each row is held out. Rows that share a question text or a picture always go together."""
    leader: dict[str, str] = {}

    def find(key: str) -> str:
        while leader.setdefault(key, key) != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    def keys(entry: Entry) -> list[str]:
        return [f"text {entry.text_key}", *(f"picture {sha256}" for sha256 in entry.pictures)]

    for entry in rows:
        first, *others = map(find, keys(entry))
        for other in others:
            low, high = sorted((find(first), find(other)))
            leader[high] = low
    return [
        stable_unit(settings.seed, "split", find(keys(entry)[0])) < settings.validation_share if rows else False
        for entry in rows
    ]
