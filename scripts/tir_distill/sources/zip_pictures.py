"""Pictures read straight out of zip archives, found by path or, when the folders differ, by their unique name."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ..records.errors import BadRow, TirError
from .picture_bytes import MAX_FILE_BYTES

_AMBIGUOUS = ""
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
)
"""What the standard library raises on damaged, encrypted or unknown archives and members."""


class ZipPictures:
    """An index over the members of some archives. Archives stay packed; one member is in memory at a time."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)
        self._archives: list[zipfile.ZipFile] = []
        self._members: dict[str, tuple[int, str]] = {}
        self._by_name: dict[str, str] = {}
        for path in self.files:
            self._add(path)

    def _add(self, path: Path) -> None:
        try:
            archive = zipfile.ZipFile(path)
        except _DAMAGE as error:
            raise TirError(f"{path}: not a readable zip archive ({error}); fetch the source again") from error
        self._archives.append(archive)
        for info in archive.infolist():
            if info.is_dir() or "__MACOSX" in info.filename:
                continue
            self._members.setdefault(info.filename, (len(self._archives) - 1, info.filename))
            name = PurePosixPath(info.filename).name
            known = self._by_name.setdefault(name, info.filename)
            if known != info.filename:
                self._by_name[name] = _AMBIGUOUS

    def read(self, path: str) -> bytes:
        """Bytes of the picture. Raises BadRow: missing, ambiguous, too large or unreadable."""
        number, member = self._find(path)
        archive = self._archives[number]
        info = archive.getinfo(member)
        if info.file_size > MAX_FILE_BYTES:
            raise BadRow("picture_file_too_large", f"{path}: {info.file_size} bytes, at most {MAX_FILE_BYTES}")
        try:
            with archive.open(info) as handle:
                data = handle.read(MAX_FILE_BYTES + 1)
        except _DAMAGE as error:
            raise BadRow("picture_unreadable", f"{path} in {self.files[number].name}: {error}") from None
        if len(data) > MAX_FILE_BYTES:
            raise BadRow("picture_file_too_large", f"{path}: more than {MAX_FILE_BYTES} bytes")
        return data

    def _find(self, path: str) -> tuple[int, str]:
        parts = [part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in (".", "/")]
        for start in range(len(parts)):
            if found := self._members.get("/".join(parts[start:])):
                return found
        name = self._by_name.get(parts[-1]) if parts else None
        if name == _AMBIGUOUS:
            raise BadRow("picture_ambiguous", f"several members are named {parts[-1]!r}")
        if name is None:
            raise BadRow("picture_missing", f"no member {path!r} in {', '.join(file.name for file in self.files)}")
        return self._members[name]

    def close(self) -> None:
        for archive in self._archives:
            archive.close()
