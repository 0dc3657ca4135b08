"""Pictures of legacy rows in any of their forms, stored once by content."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..records import BadRow

_STANDARD = str.maketrans("-_", "+/")
_BASE64_HEADS = ("iVBORw0KGgo", "/9j/", "_9j_", "R0lGOD", "UklGR", "Qk")
"""How PNG, JPEG, GIF, WebP and BMP begin in base64: a JPEG looks like an absolute path."""
_SHORTEST_BASE64 = 40
"""Characters; the smallest picture of any kind has more."""
_SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp"}
_KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpg", b"GIF8": "gif", b"BM": "bmp"}


def picture_bytes(value: Any, folder: Path | None, name: str) -> bytes:
    """Bytes of a picture given as bytes, ``{bytes, path}``, base64, data URI, or a path below ``folder``.

    Raises BadRow ``missing_picture``, ``unreadable_picture`` or ``bad_picture``.
    """
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if not isinstance(value, str) or not value:
        raise BadRow("missing_picture", f"{name}: a picture is {type(value).__name__}, expected bytes, text or a path")
    if value.startswith("data:"):
        return _decoded(value.partition(",")[2], name)
    text = value.removeprefix("file://")
    if len(text) >= 1024 or _begins_as_base64(text):
        return _decoded(text, name)
    if folder is not None and (data := _from_folder(text, folder, name)) is not None:
        return data
    if Path(text).suffix.lower() in _SUFFIXES:
        raise BadRow("missing_picture", f"{name}: no picture file {text!r} in {folder or 'the picture folder'}")
    return _decoded(text, name)


def _begins_as_base64(text: str) -> bool:
    return len(text) >= _SHORTEST_BASE64 and text.startswith(_BASE64_HEADS) and "." not in text


def _from_folder(text: str, folder: Path, name: str) -> bytes | None:
    """Bytes of the file below the folder; None when there is none, or when no file can have such a name."""
    try:
        path = (folder / text).resolve()
        exists = path.is_file()
    except (OSError, ValueError, RuntimeError):  # too long a name, a NUL in it, links in a circle
        return None
    if not path.is_relative_to(folder.resolve()):
        raise BadRow("missing_picture", f"{name}: the picture path {text!r} leaves the picture folder")
    try:
        return path.read_bytes() if exists else None
    except OSError as error:
        raise BadRow("unreadable_picture", f"{name}: the picture file {text!r}: {error.strerror}") from None


def _decoded(text: str, name: str) -> bytes:
    """Bytes of base64 in either alphabet, on one line or many, padded or not."""
    plain = "".join(text.split()).translate(_STANDARD).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise BadRow("bad_picture", f"{name}: a picture is neither a file nor base64: {text[:40]!r}") from None


class PictureStore:
    """Files named by the sha256 of their bytes, below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, str] = {}

    def put(self, data: bytes, name: str) -> Path:
        """Store a picture once; returns its file. Raises BadRow ``bad_picture`` when it cannot be decoded."""
        sha256 = hashlib.sha256(data).hexdigest()
        kind = self._known.get(sha256)
        if kind is None:
            kind = _checked_kind(data, name)
            path = self._path(sha256, kind)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary = path.with_suffix(".part")
                temporary.write_bytes(data)
                temporary.replace(path)
            self._known[sha256] = kind
        return self._path(sha256, kind)

    def _path(self, sha256: str, kind: str) -> Path:
        return self.folder / sha256[:2] / f"{sha256}.{kind}"


def _checked_kind(data: bytes, name: str) -> str:
    """File type by its first bytes; the picture is decoded once, since a cut file opens well and fails in training."""
    from PIL import Image

    kind = next((kind for magic, kind in _KINDS.items() if data.startswith(magic)), None)
    if kind is None and data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "webp"
    if kind is None:
        raise BadRow("bad_picture", f"{name}: not a PNG, JPEG, WebP, GIF or BMP picture ({len(data)} bytes)")
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadRow("bad_picture", f"{name}: the picture cannot be decoded ({error})") from None
    return kind
