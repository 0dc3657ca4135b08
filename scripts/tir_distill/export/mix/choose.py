"""Which rows of a mix's parts are in, how often, on which side of the split, and in which order.

Everything is decided by hashes of (seed, row id), so neither the order of rows in a file nor the number of workers
changes anything; the order of the *parts* matters once: of two equal questions, the earlier part's stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    alike = Alike.among(rows, near, settings.near_duplicate_bits)
    keep(_new_questions(rows, alike), "duplicate")
    keep(_far_from_earlier(rows, settings, near, alike), "near_duplicate")
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


@dataclass(frozen=True, slots=True)
class Alike:
    """Which picture files show the same: re-encoded and resized ones differ by a few bits of their hashes."""

    others: Mapping[str, set[str]]
    """sha256 of a picture -> those of other files of it."""

    @classmethod
    def among(cls, rows: Sequence[Entry], near: Near, max_bits: int) -> Alike:
        """The pictures of these rows, compared all with all."""
        hashes = _hashes(rows)
        files = sorted(hashes)
        others: dict[str, set[str]] = defaultdict(set)
        for left, right in near.pictures([hashes[sha256] for sha256 in files], max_bits):
            others[files[left]].add(files[right])
            others[files[right]].add(files[left])
        return cls(others)

    def files(self, entry: Entry) -> set[str]:
        """Every file of an entry's first picture; an empty name where it has none."""
        first = next(iter(entry.pictures), "")
        return {first, *self.others.get(first, ())}

    def same(self, left: Entry, right: Entry) -> bool:
        """Whether two questions show the same pictures in the same order."""
        return len(left.pictures) == len(right.pictures) and all(
            one == two or two in self.others.get(one, ())
            for one, two in zip(left.pictures, right.pictures, strict=True)
        )


def _hashes(rows: Sequence[Entry]) -> dict[str, int]:
    """Perceptual hash of each picture that has one."""
    return {
        sha256: value
        for entry in rows
        for sha256, value in zip(entry.pictures, entry.prints, strict=True)
        if value is not None
    }


def _new_questions(rows: Sequence[Entry], alike: Alike) -> list[bool]:
    """A question (text and pictures) stays in the first part that has it; within that part, trajectories may differ."""
    # Rows of earlier parts by text and first picture: one text may be asked about thousands of pictures.
    known: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    keep: list[bool] = []
    for _, part in groupby(rows, key=lambda entry: entry.part):
        fresh = list(part)
        for entry in fresh:
            there = (e for sha256 in alike.files(entry) for e in known.get((entry.text_key, sha256), ()))
            keep.append(not any(alike.same(entry, earlier) for earlier in there))
        for entry in fresh:
            known[entry.text_key, next(iter(entry.pictures), "")].append(entry)
    return keep


def _far_from_earlier(rows: Sequence[Entry], settings: MixSettings, near: Near, alike: Alike) -> list[bool]:
    """No long question of a later part is nearly one of an earlier part about the same pictures."""
    long = [n for n, entry in enumerate(rows) if len(entry.shingles) >= settings.near_duplicate_min_units]
    keep = [True] * len(rows)
    for left, right in near.texts([rows[n].shingles for n in long]):
        first, second = rows[long[left]], rows[long[right]]
        if first.part != second.part and alike.same(first, second):
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
    """Whether each row is held out. Rows that share a question text or a picture always go together.

    A group larger than all that is to be held out stays in training: one text may be asked about thousands of pictures.
    """
    leader: dict[str, str] = {}

    def find(key: str) -> str:
        while leader.setdefault(key, key) != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    def join(left: str, right: str) -> None:
        low, high = sorted((find(left), find(right)))
        leader[high] = low

    for entry in rows:
        for sha256 in entry.pictures:
            join(f"text {entry.text_key}", f"picture {sha256}")
    for sha256, others in Alike.among(rows, near, SPLIT_BITS).others.items():
        for other in others:
            join(f"picture {sha256}", f"picture {other}")
    groups = [find(f"text {entry.text_key}") for entry in rows]
    sizes = Counter(groups)
    most = max(1.0, settings.validation_share * len(rows))
    return [
        sizes[group] <= most and stable_unit(settings.seed, "split", group) < settings.validation_share
        for group in groups
    ]
