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
from .index import Drops, Entry, Print
from .settings import MixSettings

SPLIT_BITS = 2
"""Perceptual hashes this near are one picture for the split. Nearly all re-encoded and halved pictures stay within it;
at more bits, different charts look alike and chain into one group that would take the whole split with it."""


class Near(Protocol):
    """The joins that the command hands in."""

    def texts(self, sets: Sequence[tuple[int, ...]]) -> Iterable[tuple[int, int]]:
        """All pairs (i, j), i < j, of shingle sets that are near duplicates."""

    def pictures(self, prints: Sequence[Print], max_bits: int) -> Iterable[tuple[int, int]]:
        """All pairs (i, j), i < j, of prints whose hashes are within that many bits and whose thumbnails are alike."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One line of the mix."""

    entry: Entry
    id: str
    """As the row calls itself, made different from every other."""
    copy: int
    validation: bool


def choose(entries: Sequence[Entry], settings: MixSettings, near: Near, drops: Drops) -> list[Chosen]:
    """The mix in its final order."""
    names = [part.name for part in settings.parts]

    def place(entry: Entry, what: str, copy: int = 0) -> tuple[int, str, str, int]:
        drawn = stable_int(settings.seed, what, names[entry.part], entry.id, entry.digest, str(copy))
        return drawn, entry.id, entry.digest, copy

    rows = sorted(entries, key=lambda entry: (entry.part, *place(entry, "row")))

    def leave_out(reasons: Iterable[str]) -> None:
        """One reason for each row; an empty one keeps it."""
        nonlocal rows
        kept = []
        for entry, reason in zip(rows, reasons, strict=True):
            if reason:
                drops.add(names[entry.part], entry.id, reason)
            else:
                kept.append(entry)
        rows = kept

    def keep(wanted: Iterable[bool], reason: str) -> None:
        leave_out("" if good else reason for good in wanted)

    if not settings.non_commercial:
        keep([not forbids_commerce(entry.licence) for entry in rows], "non_commercial")
    keep(_first_of_each_line(rows), "repeated_row")
    leave_out(_asked_before(rows, settings, near))
    keep(_within(rows, settings.cap_per_bucket, lambda entry: entry.bucket), "cap_per_bucket")
    keep(_within(rows, settings.cap_per_source, lambda entry: entry.source), "cap_per_source")
    copies = _copies(rows, settings)
    keep([count > 0 for count in copies], "weight")
    counts = [count for count in copies if count]
    side = validation_side(rows, settings, near)
    lines = [
        Chosen(entry, name, copy, validation)
        for entry, name, count, validation in zip(rows, _names(rows), counts, side, strict=True)
        for copy in range(1 if validation else count)
    ]
    lines.sort(key=lambda line: place(line.entry, "order", line.copy))
    return lines


def _names(rows: Sequence[Entry]) -> list[str]:
    """An id of its own for every row: the first keeps the one it has, later ones get a piece of their line's hash."""
    seen: set[str] = set()
    names = []
    for entry in rows:
        name = entry.id if entry.id not in seen else f"{entry.id}+{entry.digest}"
        seen.add(name)
        names.append(name)
    return names


def _first_of_each_line(rows: Sequence[Entry]) -> list[bool]:
    """Of lines that are equal to the letter one is enough, also within a part."""
    first: dict[str, int] = {}
    return [first.setdefault(entry.digest, number) == number for number, entry in enumerate(rows)]


@dataclass(frozen=True, slots=True)
class Alike:
    """Which picture files show the same: re-encoded and resized ones differ by a few bits of their hashes."""

    others: Mapping[str, set[str]]
    """sha256 of a picture -> those of other files of it."""

    @classmethod
    def among(cls, rows: Sequence[Entry], near: Near, max_bits: int) -> Alike:
        """The pictures of these rows, compared all with all."""
        prints = {
            sha256: seen
            for entry in rows
            for sha256, seen in zip(entry.pictures, entry.prints, strict=True)
            if seen is not None
        }
        files = sorted(prints)
        others: dict[str, set[str]] = defaultdict(set)
        for left, right in near.pictures([prints[sha256] for sha256 in files], max_bits):
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


def _asked_before(rows: Sequence[Entry], settings: MixSettings, near: Near) -> list[str]:
    """``duplicate`` or ``near_duplicate`` for a question that an earlier part has; within a part trajectories may
    differ. Long questions are nearly equal by their words; the pictures must be the same.
    """
    alike = Alike.among(rows, near, settings.near_duplicate_bits)
    long = {e.text_key: e.shingles for e in rows if len(e.shingles) >= settings.near_duplicate_min_units}
    keys = sorted(long)
    nearly: dict[str, list[str]] = defaultdict(list)
    for left, right in near.texts([long[key] for key in keys]):
        nearly[keys[left]].append(keys[right])
        nearly[keys[right]].append(keys[left])
    # Rows of earlier parts by text and first picture: one text may be asked about thousands of pictures.
    known: dict[tuple[str, str], list[Entry]] = defaultdict(list)

    def is_known(entry: Entry, text_key: str) -> bool:
        there = (earlier for sha256 in alike.files(entry) for earlier in known.get((text_key, sha256), ()))
        return any(alike.same(entry, earlier) for earlier in there)

    reasons: list[str] = []
    for _, part in groupby(rows, key=lambda entry: entry.part):
        fresh = list(part)
        for entry in fresh:
            if is_known(entry, entry.text_key):
                reasons.append("duplicate")
            else:
                near_one = any(is_known(entry, key) for key in nearly.get(entry.text_key, ()))
                reasons.append("near_duplicate" if near_one else "")
        for entry in fresh:
            known[entry.text_key, next(iter(entry.pictures), "")].append(entry)
    return reasons


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
