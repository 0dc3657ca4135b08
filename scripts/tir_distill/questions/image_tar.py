"""``images.tar`` with reproducible bytes: sorted names, no times, owners or machine-dependent modes.

One picture is in memory at a time. Each file's hash is taken while it is written, so nothing is read twice.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..records.jsonl import atomic_writer
from ..records.protocols import Progress


@dataclass(frozen=True, slots=True)
class FileHash:
    """What a manifest says of a file."""

    sha256: str
    size: int


class _Hashing(io.RawIOBase):
    """Passes bytes on and hashes them."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._handle = handle
        self.hash = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # tarfile hands over bytes only
        self._handle.write(data)
        self.hash.update(data)
        self.size += len(data)
        return len(data)


def write_tar(
    root: Path, folder: str, out: Path, progress: Progress | None = None
) -> tuple[FileHash, dict[str, FileHash]]:
    """Pack ``root/folder``; returns the archive's hash, and each file's by its path relative to ``root``."""
    files: dict[str, FileHash] = {}
    paths = sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("*") if path.is_file())
    with atomic_writer(out) as handle:
        stream = _Hashing(handle)
        with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:
            for name in paths:
                data = (root / name).read_bytes()
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                entry.mode = 0o644
                archive.addfile(entry, io.BytesIO(data))
                files[name] = FileHash(hashlib.sha256(data).hexdigest(), len(data))
                if progress is not None:
                    progress.update(done=len(files))
    return FileHash(stream.hash.hexdigest(), stream.size), files
