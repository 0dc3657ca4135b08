"""What a hub must be able to do, and the files it offers."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..records.hashing import file_sha256

NEVER = ("*.pkl", "*.pickle", "*.pt", "*.pth", "*.bin", "*.py")
"""Never fetched, whatever a pattern says: unpickling such a file or running it would run what is in it."""


def git_sha1(path: Path) -> str:
    """Git's blob name of a file: sha1 over its size and its bytes."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a data set at one revision."""

    path: str
    size: int | None
    """Bytes; None when the hub does not say."""
    sha256: str | None
    """None when the hub does not say (small files kept in git)."""
    git_sha1: str | None = None
    """Git's name for the content, where there is no sha256."""

    @property
    def digest(self) -> str:
        """What tells this content from another revision's, as far as the hub says."""
        return self.sha256 or self.git_sha1 or ""

    def matches(self, path: Path) -> bool:
        """Whether the file there is what the hub lists, by every means that the hub gives."""
        if not path.is_file() or (self.size is not None and path.stat().st_size != self.size):
            return False
        if self.sha256 is not None:
            return file_sha256(path) == self.sha256
        return self.git_sha1 is None or git_sha1(path) == self.git_sha1


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
