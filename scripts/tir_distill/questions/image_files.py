"""Pictures of the chosen questions under the names of the hand-over: ``images/<source>/<id>.<ext>``.

They are hard links into the content store where the file system allows, copies elsewhere. The folder is built beside
the old one and takes its place when whole, so no picture of an earlier selection stays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..records.errors import TirError
from ..records.hashing import text_digest

FOLDER = "images"


LONGEST_NAME = 200
"""Bytes of a file name without number and extension; file systems take 255 in all."""


def safe_name(name: str) -> str:
    """The id as a file name on any system: everything but ASCII letters, digits, ``_ . - ~`` is percent-encoded.

    A name that would be too long for a file system ends in a hash of the whole.
    """
    text = quote(name, safe="")
    text = "%2E" + text[1:] if text.startswith(".") else text
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 17]}~{text_digest(name)[:16]}"


def image_paths(row: dict[str, Any]) -> list[str]:
    """Paths of a question's pictures, relative to the hand-over. The first has the plain id, others a number."""
    folder, name = safe_name(row["source"]), safe_name(row["id"])
    return [
        f"{FOLDER}/{folder}/{name}{f'.{number}' if number > 1 else ''}.{picture['ext']}"
        for number, picture in enumerate(row["images"], start=1)
    ]


class ImageFolder:
    """Collects the pictures of one hand-over."""

    def __init__(self, out: Path, store: Path) -> None:
        self._final = out / FOLDER
        self._part = out / f".{FOLDER}.part"
        self._store = store
        shutil.rmtree(self._part, ignore_errors=True)
        self._part.mkdir(parents=True)
        self._made: set[str] = set()

    def add(self, paths: Sequence[str], pictures: Sequence[dict[str, Any]]) -> None:
        """Place each picture of the store at its path. Raises TirError for a missing picture or a repeated path."""
        for path, picture in zip(paths, pictures, strict=True):
            if path.casefold() in self._made:
                raise TirError(f"two pictures would be {path}; ids of one source must differ by more than case")
            self._made.add(path.casefold())
            target = self._part / Path(path).relative_to(FOLDER)
            target.parent.mkdir(exist_ok=True)
            sha256 = picture["sha256"]
            _link(self._store / sha256[:2] / f"{sha256}.{picture['ext']}", target)

    def finish(self) -> int:
        """Put the folder in place of the old one; returns the number of pictures."""
        old = self._final.with_name(f".{FOLDER}.old")
        shutil.rmtree(old, ignore_errors=True)
        if self._final.exists():
            self._final.replace(old)
        self._part.replace(self._final)
        shutil.rmtree(old, ignore_errors=True)
        return len(self._made)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
        return
    except FileNotFoundError:
        raise TirError(f"{source}: picture is missing from the store; run read_questions.py again") from None
    except OSError:  # another file system, or one without links
        pass
    shutil.copyfile(source, target)
    target.chmod(0o644)
