"""``lock.json``: what exactly a source folder holds, so that a later run can tell whether it still is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.errors import TirError
from ..records.jsonl import read_json, write_json

NAME = "lock.json"


@dataclass(frozen=True, slots=True)
class LockedFile:
    """One fetched file."""

    path: str
    """Relative to the source folder, as on the hub."""
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Lock:
    """What a source folder holds. No machine path and no time is in it: the same files give the same lock."""

    source: str
    repo: str
    hub: str
    revision: str
    """The resolved commit; ``mirror-<digest of the files>`` for a mirror folder."""
    requested_revision: str
    licence: str
    licence_upstream: str
    """The licence that the hub's card states; empty when it states none."""
    files: tuple[LockedFile, ...]
    rows: int | None
    """Rows over all parquet tables; None when there is a table of another kind only."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "repo": self.repo,
            "hub": self.hub,
            "revision": self.revision,
            "requested_revision": self.requested_revision,
            "licence": self.licence,
            "licence_upstream": self.licence_upstream,
            "rows": self.rows,
            "files": [{"path": f.path, "size": f.size, "sha256": f.sha256} for f in self.files],
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Lock:
        files = tuple(LockedFile(path=f["path"], size=f["size"], sha256=f["sha256"]) for f in row["files"])
        return cls(**{**row, "files": files})

    def write(self, folder: Path) -> None:
        write_json(folder / NAME, self.to_dict())

    @classmethod
    def read(cls, folder: Path) -> Lock:
        """Raises TirError when there is none or it cannot be read."""
        try:
            return cls.from_dict(read_json(folder / NAME))
        except (KeyError, TypeError) as error:
            raise TirError(f"{folder / NAME}: not a lock file ({error}); fetch the source again") from error


def source_files(folder: Path) -> list[Path]:
    """Files of a source in the order of their names: those of its lock, or all of a folder without one.

    Raises TirError when the folder is missing, or when a locked file is gone or has another size. Files that an
    earlier revision left behind are not in the lock and so are never read.
    """
    if not folder.is_dir():
        raise TirError(f"{folder}: no such folder; fetch the source first")
    if (folder / NAME).exists():
        files = Lock.read(folder).files
        for file in files:
            path = folder / file.path
            if not path.is_file() or path.stat().st_size != file.size:
                raise TirError(f"{path}: not as locked in {NAME}; fetch the source again")
        return sorted(folder / file.path for file in files)
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
