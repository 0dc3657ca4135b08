"""Where a row keeps its pictures: bytes, a struct, base64, a data URI or a path. All become plain file bytes."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from ..records.errors import BadRow
from .fields import writable

MAX_FILE_BYTES = 64 * 1024 * 1024
"""A larger picture file is refused unread: no source holds one, and memory must not depend on a row."""

_DATA_URI = re.compile(r"data:[\w.+-]*/?[\w.+-]*(?:;[\w=.+-]+)*;base64,", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s_-]+={0,2}\s*")
_SHORTEST_BASE64 = 64
"""Text below this length is taken for a path: no picture file is that small."""


def inside(root: Path, relative: str) -> Path:
    """The file ``relative`` under ``root``.

    Raises BadRow: ``path_outside_source`` when it points elsewhere, ``undecodable_text`` when it is no file name.
    """
    writable(relative, "path")
    parts = PurePosixPath(relative.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in relative or re.match(r"[A-Za-z]:", relative):
        raise BadRow("path_outside_source", f"picture path {relative!r} leaves the source folder")
    path = root.joinpath(*parts)
    if not path.resolve().is_relative_to(root.resolve()):
        raise BadRow("path_outside_source", f"picture path {relative!r} leaves the source folder")
    return path


def is_file(path: Path) -> bool:
    """Whether a file is there; False also for names that no file system takes."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_picture_file(root: Path, relative: str) -> bytes:
    """Bytes of a picture file of the source. Raises BadRow when it is missing, outside the folder or too large."""
    path = inside(root, relative)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise BadRow("picture_file_too_large", f"{relative}: {size} bytes, at most {MAX_FILE_BYTES}")
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise BadRow("picture_missing", f"no file {relative!r} in the source") from None
    except OSError as error:
        raise BadRow("picture_missing", f"{relative!r} cannot be read: {error.strerror}") from None


def picture_bytes(value: Any, root: Path | None = None) -> bytes:
    """File bytes of one picture value. Raises BadRow (``picture_missing``, ``picture_bad_base64``, ...)."""
    if isinstance(value, Mapping):
        if value.get("bytes") is not None:
            return picture_bytes(value["bytes"], root)
        return picture_bytes(value.get("path"), root)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, str) and value.strip():
        return _from_text(value.strip(), root)
    if value is None or value == "":
        raise BadRow("picture_missing", "the row has an empty picture field")
    raise BadRow("picture_unknown_container", f"expected bytes, base64 or a path, found {type(value).__name__}")


def all_picture_bytes(value: Any, root: Path | None = None) -> list[bytes]:
    """File bytes of a list of pictures, or of the one picture that stands without a list."""
    if value is None:
        return []
    values = value if isinstance(value, list | tuple) else [value]
    return [picture_bytes(item, root) for item in values]


def _from_text(text: str, root: Path | None) -> bytes:
    if match := _DATA_URI.match(text):
        return _decode(text[match.end() :])
    if len(text) >= _SHORTEST_BASE64 and _BASE64.fullmatch(text):
        return _decode(text)
    if root is None or len(text) > 1024:
        raise BadRow("picture_unknown_container", "text that is neither base64 nor a path")
    return read_picture_file(root, text)


def _decode(text: str) -> bytes:
    compact = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRow("picture_bad_base64", str(error)) from None
