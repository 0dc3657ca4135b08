"""Folders whose content must never leave: a marker file in them, and a check for whoever packs or mixes.

Evaluation questions and the answers to them live in such folders only (RULINGS 20, issue 10).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .errors import TirError

MARK = "PRIVATE"
TEXT = "private: true\nHolds evaluation questions. Never pack, publish or train on anything below this folder.\n"


def mark_private(folder: Path) -> None:
    """Make the folder, if need be, and put the marker into it."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / MARK
    if not mark.exists():
        mark.write_text(TEXT, encoding="utf-8")


def private_folder(path: Path) -> Path | None:
    """The marked folder that the path is or lies in, links followed; None when there is none."""
    real = path.resolve()
    return next((folder for folder in (real, *real.parents) if (folder / MARK).is_file()), None)


def refuse_private(paths: Iterable[Path]) -> None:
    """Raise TirError for the first path that lies in a private folder, or is a folder that holds one."""
    for path in paths:
        found = private_folder(path)
        if found is None and path.is_dir():
            found = next((mark.parent for mark in path.rglob(MARK) if mark.is_file()), None)
        if found is not None:
            raise TirError(f"{path}: {found} is marked private (evaluation questions); it must not be packed or mixed")
