"""What is known of a picture file, kept beside the pictures, so that no file is decoded twice.

Decoding and resizing are nearly the whole cost of reading a source. Levels 1 and 2 of LiveVQA share their photos, and
a changed rule reads everything again: both then cost a hash of the file's bytes. An entry is used only when the picture
policy and the libraries that made it are the same, and when the stored picture is there whole.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import orjson

from .picture_store import PictureStore, replace_with

POLICY_VERSION = 1
"""Raise it when ``pictures`` or ``phash`` gives another result for the same file."""

_MADE_BY = re.compile(r"policy \d+, Pillow (\S+), ImageHash (\S+)")


@dataclass(frozen=True, slots=True)
class KnownPicture:
    """A stored picture and its prints."""

    sha256: str
    ext: str
    width: int
    height: int
    size: int
    """Bytes of the stored file."""
    phash: str
    grey_std: float

    def cell(self, flat_max_std: float) -> dict[str, object]:
        """The struct in the ``images`` column."""
        return {
            "sha256": self.sha256,
            "ext": self.ext,
            "width": self.width,
            "height": self.height,
            "phash": self.phash,
            "flat": self.grey_std <= flat_max_std,
        }


def made_by() -> str:
    """What decides the bytes of a stored picture and its hash."""
    return f"policy {POLICY_VERSION}, Pillow {version('pillow')}, ImageHash {version('ImageHash')}"


def versions_of(mark: str) -> dict[str, str]:
    """Library versions in what ``made_by`` gave; empty when it is none of its marks."""
    found = _MADE_BY.fullmatch(mark)
    return {"pillow": found[1], "imagehash": found[2]} if found else {}


class PrintCache:
    """Entries under ``<images>/.prints/``, named by the sha256 of the file as it came."""

    def __init__(self, store: PictureStore) -> None:
        self._store = store
        self._root = store.root / ".prints"
        self._made_by = made_by()

    def _path(self, key: str) -> Path:
        return self._root / key[:2] / f"{key}.json"

    def get(self, key: str) -> KnownPicture | None:
        """The entry, or None when there is none that can be trusted."""
        try:
            entry = orjson.loads(self._path(key).read_bytes())
            if entry.pop("made_by") != self._made_by:
                return None
            known = KnownPicture(**entry)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None  # absent, or cut off by a crash
        return known if self._store.holds(known.sha256, known.ext, known.size) else None

    def put(self, key: str, known: KnownPicture) -> None:
        replace_with(self._path(key), orjson.dumps({"made_by": self._made_by, **asdict(known)}))
