"""``images.tar`` with reproducible bytes: sorted names, no times, owners or machine-dependent modes.

One picture is in memory at a time. Each file's hash is taken while it is written, so nothing is read twice; the hashes
are kept in a file of their own, so that a manifest can be written again without the pictures.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from ..records.errors import TirError
from ..records.jsonl import atomic_writer, read_json, write_json
from ..records.protocols import Progress


@dataclass(frozen=True, slots=True)
class FileHash:
    """What a manifest says of a file."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class PackedPictures:
    """An archive and what is in it."""

    archive: FileHash
    files: Mapping[str, FileHash]
    """By path in the archive, which is the path in the hand-over."""

    def write(self, path: Path) -> None:
        files = {name: asdict(found) for name, found in self.files.items()}
        write_json(path, {"archive": asdict(self.archive), "files": files})

    @classmethod
    def read(cls, path: Path) -> PackedPictures:
        """Raises TirError when there is none or it is something else."""
        try:
            document = read_json(path)
            files = {name: FileHash(**found) for name, found in document["files"].items()}
            return cls(archive=FileHash(**document["archive"]), files=files)
        except (KeyError, TypeError, AttributeError) as error:
            raise TirError(f"{path}: no hashes of packed pictures ({error}); pack the pictures again") from error


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


def write_tar(root: Path, folder: str, out: Path, progress: Progress | None = None) -> PackedPictures:
    """Pack ``root/folder``; names in the archive are relative to ``root``."""
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
    return PackedPictures(FileHash(stream.hash.hexdigest(), stream.size), files)
