"""What a hub must be able to do, and the files it offers."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

NEVER = ("*.pkl", "*.pickle", "*.pt", "*.pth", "*.bin", "*.py")
"""Never fetched, whatever a pattern says: unpickling such a file or running it would run what is in it."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a data set at one revision."""

    path: str
    size: int | None
    """Bytes; None when the hub does not say."""
    sha256: str | None
    """None when the hub does not say (small files kept in git)."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of a data set at one revision."""

    revision: str
    """Resolved: a commit where the hub has commits."""
    files: tuple[RemoteFile, ...]
    licence: str = ""
    """As the hub's card states it."""


class Backend(Protocol):
    """One hub. Both methods raise TirError with one clear sentence (see ``faults``)."""

    name: str

    def listing(self) -> Listing:
        """Resolve the revision and list the files."""
        ...

    def download(self, file: RemoteFile, listing: Listing, folder: Path) -> None:
        """Bring one file to ``folder / file.path``, continuing what an earlier attempt left."""
        ...


def select(files: Iterable[RemoteFile], patterns: Sequence[str]) -> tuple[list[RemoteFile], list[str]]:
    """(files that a pattern names, by path; patterns that name none)."""
    allowed = [file for file in files if not any(fnmatch.fnmatchcase(file.path.lower(), never) for never in NEVER)]
    chosen: dict[str, RemoteFile] = {}
    unmatched = []
    for pattern in patterns:
        found = [file for file in allowed if fnmatch.fnmatchcase(file.path, pattern)]
        chosen.update({file.path: file for file in found})
        if not found:
            unmatched.append(pattern)
    return [chosen[path] for path in sorted(chosen)], unmatched
