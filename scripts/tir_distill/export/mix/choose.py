"""Which rows of a mix's parts are in, how often, on which side of the split, and in which order.

Everything is decided by hashes of (seed, row id), so neither the order of rows in a file nor the number of workers
changes anything; the order of the *parts* matters once: of two equal questions, the earlier part's stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from ...records import stable_int, stable_unit
from ...records.licences import forbids_commerce
from .index import Drops, Entry
from .settings import MixSettings

SPLIT_BITS = 2
"""Perceptual hashes this near are one picture for the split. Nearly all re-encoded and halved pictures stay within it;
at more bits, different charts look alike and chain into one group that would take the whole split with it."""


class Near(Protocol):
    """The joins that the command hands in."""

    def texts(self, sets: Sequence[tuple[int, ...]]) -> Iterable[tuple[int, int]]:
        """All pairs (i, j), i < j, of shingle sets that are near duplicates."""

    def pictures(self, hashes: Sequence[int], max_bits: int) -> Iterable[tuple[int, int]]:
        """All pairs (i, j), i < j, of perceptual hashes within that many bits."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One line of the mix."""

    entry: Entry
    copy: int
    validation: bool


def choose(entries: Sequence[Entry], settings: MixSettings, near: Near, drops: Drops) -> list[Chosen]:
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
    keep(_new_questions(rows, settings.near_duplicate_bits), "duplicate")
    keep(_far_from_earlier(rows, settings, near), "near_duplicate")
    keep(_within(rows, settings.cap_per_bucket, lambda entry: entry.bucket), "cap_per_bucket")
    keep(_within(rows, settings.cap_per_source, lambda entry: entry.source), "cap_per_source")
    copies = _copies(rows, settings)
    keep([count > 0 for count in copies], "weight")
    counts = [count for count in copies if count]
    side = validation_side(rows, settings, near)
    lines = [
        Chosen(entry, copy, validation)
        for entry, count, validation in zip(rows, counts, side, strict=True)
        for copy in range(1 if validation else count)
    ]
    lines.sort(key=lambda c: (stable_int(settings.seed, "order", names[c.entry.part], c.entry.id, str(c.copy)), c.copy))
    return lines


def _new_questions(rows: Sequence[Entry], max_bits: int) -> list[bool]:
    """A question (text and pictures) stays in the first part that has it; within that part, trajectories may differ."""
    known: dict[str, dict[tuple[str, ...], Entry]] = defaultdict(dict)  # of earlier parts: text -> pictures -> a row
    keep: list[bool] = []
    for _, part in groupby(rows, key=lambda entry: entry.part):
        fresh = list(part)
        for entry in fresh:
            there = known[entry.text_key]
            keep.append(
                entry.pictures not in there and not any(entry.shows_the_same(e, max_bits) for e in there.values())
            )
        for entry in fresh:
            known[entry.text_key].setdefault(entry.pictures, entry)
    return keep


def _far_from_earlier(rows: Sequence[Entry], settings: MixSettings, near: Near) -> list[bool]:
    """No long question of a later part is nearly one of an earlier part about the same pictures."""
    long = [n for n, entry in enumerate(rows) if len(entry.shingles) >= settings.near_duplicate_min_units]
    keep = [True] * len(rows)
    for left, right in near.texts([rows[n].shingles for n in long]):
        first, second = rows[long[left]], rows[long[right]]
        if first.part != second.part and first.shows_the_same(second, settings.near_duplicate_bits):
            keep[long[right]] = False
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


def validation_side(rows: Sequence[Entry], settings: MixSettings, near: Near) -> list[bool]:
    """Whether each row is held out. Rows that share a question text or a picture always go together."""
    leader: dict[str, str] = {}

    def find(key: str) -> str:
        while leader.setdefault(key, key) != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    def join(left: str, right: str) -> None:
        low, high = sorted((find(left), find(right)))
        leader[high] = low

    hashes: dict[str, int] = {}
    for entry in rows:
        for sha256, value in zip(entry.pictures, entry.prints, strict=True):
            join(f"text {entry.text_key}", f"picture {sha256}")
            if value is not None:
                hashes[sha256] = value
    files = sorted(hashes)
    for left, right in near.pictures([hashes[sha256] for sha256 in files], SPLIT_BITS):
        join(f"picture {files[left]}", f"picture {files[right]}")
    return [
        stable_unit(settings.seed, "split", find(f"text {entry.text_key}")) < settings.validation_share
        for entry in rows
    ]
