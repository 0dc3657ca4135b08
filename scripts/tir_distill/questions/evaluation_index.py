"""``eval_text_index.json``: the evaluation sets as hashes in one small file that travels with the hand-over.

The audit reuses it at another site, where no evaluation set lies. It holds no readable text: units, grams and token
sequences are hashes, pictures are 64-bit hashes. It names the versions of Pillow and ImageHash that made the picture
hashes, because other versions may give another bit or two for the same file.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..records.errors import TirError
from ..records.jsonl import read_json, write_json
from ..sources.print_cache import made_by, versions_of
from ..sources.text_units import GRAM_TOKENS
from .fingerprints import Fingerprints, Item, hashed_by, read_items
from .gram_index import GramIndex
from .match import JACCARD, Match
from .matcher import Matcher, Subject
from .settings import DecontaminationSettings
from .spans import Hashes

log = logging.getLogger("tir_distill")

FORMAT = 2
"""2: grams are hashed by their tokens' hashes (``text_units.gram_hash``); 1 hashed their text."""
GRAMS = "grams"
"""Rule name of matches inside long texts; ``value`` is the share of the item's grams that were found."""

VERSION_SLACK = 2
"""Bits by which hashes of the same file may differ between library versions."""


def picture_versions() -> dict[str, str]:
    """Versions of the installed libraries that decide a picture's hash."""
    return versions_of(made_by())


def _pack(numbers: Hashes) -> str:
    return base64.b64encode(numbers.astype("<u8").tobytes()).decode()


def _unpack(text: str) -> Hashes:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<u8").astype(np.uint64)


def write_index(tables: Sequence[Path], settings: DecontaminationSettings, out: Path) -> int:
    """Write the index of all items of the tables; the same bytes for any order of them. Returns the items.

    Raises TirError for tables of another format, or of which some were made by other library versions.
    """
    items = read_items(tables)
    write_json(
        out,
        {
            "format": FORMAT,
            "gram_tokens": GRAM_TOKENS,
            "rules": settings.to_dict(),
            "versions": versions_of(hashed_by(tables)) or picture_versions(),
            "items": [
                {
                    "set": item.set,
                    "id": item.id,
                    "units": item.units,
                    "script": item.script,
                    "text_key": item.text_key,
                    "shingles": _pack(item.shingles),
                    "grams": _pack(item.grams),
                    "pictures": [{"phash": phash, "flat": flat} for phash, flat in item.pictures],
                }
                for item in items
            ],
        },
    )
    return len(items)


class EvaluationIndex:
    """Answers which evaluation items a question, a picture or a long text touches."""

    def __init__(self, items: Sequence[Item], settings: DecontaminationSettings) -> None:
        self.settings = settings
        self._items = items
        self._matcher = Matcher(Fingerprints.of(items), settings)

    @classmethod
    def load(cls, path: Path) -> EvaluationIndex:
        """Raises TirError when the file is no index. Other library versions widen the picture limit by two bits."""
        try:
            document: Mapping[str, Any] = read_json(path)
            if document["format"] != FORMAT or document["gram_tokens"] != GRAM_TOKENS:
                raise TirError(f"{path}: an index of another format; build the hand-over again with this version")
            settings = DecontaminationSettings(**document["rules"])
            items = [_item(entry) for entry in document["items"]]
            made_with = dict(document["versions"])
        except (KeyError, TypeError, ValueError) as error:
            raise TirError(f"{path}: not an evaluation index ({error}); build the hand-over again") from error
        if made_with != picture_versions():
            log.warning(
                "%s: picture hashes were made with %s, installed are %s; the limit is widened by %d bits",
                path.name, made_with, picture_versions(), VERSION_SLACK,
            )  # fmt: skip
            settings = replace(settings, phash_max_distance=settings.phash_max_distance + VERSION_SLACK)
        return cls(items, settings)

    def __len__(self) -> int:
        return len(self._items)

    def match_text(self, text: str, pictures: Sequence[tuple[str, bool]] | None = None) -> list[Match]:
        """Items that this question is. A short text alone is no evidence: without ``pictures`` only long ones match.

        ``pictures`` are (pHash, flat?) of the question's pictures, empty for a question without any; when given, the
        rules on pictures apply too.
        """
        if pictures is None:
            alone = self._matcher.matches([Subject(text=text)])[0]
            return [match for match in alone if match.rule == JACCARD]
        return self._matcher.matches([Subject(text=text, pictures=tuple(pictures))])[0]

    def match_phash(self, phash: str, flat: bool) -> list[Match]:
        """Items with this picture, closest first; nothing for a flat one."""
        return self._matcher.matches([Subject(text="", pictures=((phash, flat),))])[0]

    def match_grams(self, text: str) -> list[Match]:
        """Items of which a run of 13 tokens or more stands in this text."""
        return [
            Match(GRAMS, self._items[index].set, self._items[index].id, hits / len(self._items[index].grams))
            for index, hits in self._grams.hits(text)
        ]

    @cached_property
    def _grams(self) -> GramIndex:
        return GramIndex([item.grams for item in self._items])


def _item(entry: Mapping[str, Any]) -> Item:
    return Item(
        set=entry["set"],
        id=entry["id"],
        units=entry["units"],
        text_key=entry["text_key"],
        script=entry["script"],
        shingles=_unpack(entry["shingles"]),
        grams=_unpack(entry["grams"]),
        pictures=tuple((picture["phash"], picture["flat"]) for picture in entry["pictures"]),
    )
