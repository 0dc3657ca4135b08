"""The three rules of decontamination, over a batch of questions at a time.

* ``phash``: two pictures, neither of them flat, whose hashes differ in at most the allowed bits.
* ``jaccard``: two texts, both long, that share enough of their units.
* ``same_picture_text``: a short question with exactly the tokens of an evaluation item, and a picture of each within
  the allowed bits, flat ones too; or neither has a picture. Short templated questions ("What is the name of this
  building?") meet by text alone all the time, and flat pictures meet by hash alone; together they are evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..sources.phash import distance
from ..sources.text_units import shingles, text_key
from .fingerprints import Fingerprints, Item
from .hamming import HammingIndex, as_hashes
from .jaccard import JaccardIndex, Sets
from .match import JACCARD, PHASH, SAME_PICTURE_TEXT, Match
from .settings import DecontaminationSettings
from .spans import Floats


@dataclass(frozen=True, slots=True)
class Subject:
    """What is compared of a question."""

    text: str
    pictures: tuple[tuple[str, bool], ...] = ()
    """(pHash as 16 hex digits, flat?) of each picture."""


class Matcher:
    """Finds the evaluation items that questions must not be."""

    def __init__(self, fingerprints: Fingerprints, settings: DecontaminationSettings) -> None:
        self._prints = fingerprints
        self._settings = settings
        self._pictures = HammingIndex(fingerprints.hashes, settings.phash_max_distance)
        self._texts = JaccardIndex(fingerprints.texts, settings.jaccard_min, settings.long_text_min_units)

    def matches(self, subjects: Sequence[Subject]) -> list[list[Match]]:
        """For each subject its matches, closest first; one per rule and evaluation item."""
        found: list[dict[tuple[str, int], float]] = [{} for _ in subjects]
        self._by_picture(subjects, found)
        self._by_text(subjects, found)
        return [sorted(map(self._match, best.items()), key=lambda match: match.rank) for best in found]

    def _match(self, entry: tuple[tuple[str, int], float]) -> Match:
        (rule, index), value = entry
        item = self._prints.items[index]
        return Match(rule=rule, evaluation_set=item.set, evaluation_id=item.id, value=value)

    def _by_picture(self, subjects: Sequence[Subject], found: list[dict[tuple[str, int], float]]) -> None:
        sharp = [(phash, i) for i, s in enumerate(subjects) for phash, flat in s.pictures if not flat]
        if not sharp:
            return
        left, right, bits = self._pictures.pairs(as_hashes(phash for phash, _ in sharp))
        owners = self._prints.hash_owner[right]
        for query, item, value in zip(left.tolist(), owners.tolist(), bits.tolist(), strict=True):
            best = found[sharp[query][1]]
            best[PHASH, item] = min(value, best.get((PHASH, item), value))

    def _by_text(self, subjects: Sequence[Subject], found: list[dict[tuple[str, int], float]]) -> None:
        units = [shingles(subject.text) for subject in subjects]
        left, right, values = self._texts.pairs(Sets.of(units))
        for query, item, value in zip(left.tolist(), right.tolist(), values.tolist(), strict=True):
            found[query][JACCARD, item] = value
        if not self._settings.same_picture_text:
            return
        for index, subject in enumerate(subjects):
            if not 0 < len(units[index]) < self._settings.long_text_min_units:
                continue
            for item in self._prints.by_text_key.get(text_key(subject.text), ()):
                bits = picture_distance(subject, self._prints.items[item])
                if bits is not None and bits <= self._settings.phash_max_distance:
                    found[index][SAME_PICTURE_TEXT, item] = float(bits)


def picture_distance(subject: Subject, item: Item) -> int | None:
    """Bits between the closest pictures, flat ones too; 0 when neither has one, None when only one side has."""
    if not subject.pictures and not item.pictures:
        return 0
    pairs = [distance(left, right) for left, _ in subject.pictures for right, _ in item.pictures]
    return min(pairs, default=None)


def text_similarities(fingerprints: Fingerprints, text: str) -> Floats:
    """Jaccard of a text with every item, whatever the lengths: for explanations, not for rules."""
    mine = np.array(shingles(text), dtype=np.uint64)
    sets = fingerprints.texts
    hits = np.concatenate([[0], np.cumsum(np.isin(sets.units, mine))])
    shared = hits[sets.offsets[1:]] - hits[sets.offsets[:-1]]
    values: Floats = shared / np.maximum(sets.sizes + len(mine) - shared, 1)
    return values
