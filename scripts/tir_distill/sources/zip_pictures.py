"""Pictures read straight out of zip archives, found by path or, when only one side names more folders, by name."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ..records.errors import BadRow, TirError
from .picture_bytes import MAX_FILE_BYTES

_UTF8_NAME = 0x800
"""The flag of a member whose name is marked as UTF-8; others are read as code page 437, whatever they are."""
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
        self._by_name: dict[str, dict[tuple[int, str], tuple[str, ...]]] = {}
        """Name -> members of that name, each with its folders."""
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
            for name in _names(info):
                member = self._members.setdefault(name, (len(self._archives) - 1, info.filename))
                *folders, last = PurePosixPath(name).parts or ("",)
                self._by_name.setdefault(last, {}).setdefault(member, tuple(folders))

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
        named = self._by_name.get(parts[-1], {}) if parts else {}
        fitting = [member for member, folders in named.items() if _agree(folders, parts[:-1])]
        if len(fitting) > 1:
            raise BadRow("picture_ambiguous", f"several members are named {parts[-1]!r}")
        if not fitting:
            elsewhere = f"; {next(iter(named))[1]!r} lies in another folder" if named else ""
            archives = ", ".join(file.name for file in self.files)
            raise BadRow("picture_missing", f"no member {path!r} in {archives}{elsewhere}")
        return fitting[0]

    def close(self) -> None:
        for archive in self._archives:
            archive.close()


def _names(info: zipfile.ZipInfo) -> list[str]:
    """The member's name, and what it says as UTF-8 or GBK when nothing says how it is written."""
    names = [info.filename]
    if not info.flag_bits & _UTF8_NAME and not info.filename.isascii():
        for encoding in ("utf-8", "gbk"):
            try:
                names.append(info.filename.encode("cp437").decode(encoding))
            except UnicodeError:
                continue
            break
    return names


def _agree(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether the folders on one side are among those on the other, in their order: neither contradicts the other."""
    few, many = sorted((left, right), key=len)
    rest = iter(many)
    return all(folder in rest for folder in few)
