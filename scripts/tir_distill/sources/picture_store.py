"""Pictures on disk, once each: ``<root>/<first two hex digits>/<sha256>.<ext>``.

Several jobs may write the same picture at once: each writes a file of its own and renames it, and equal names hold
equal bytes.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .pictures import StoredPicture


def replace_with(path: Path, data: bytes) -> None:
    """Write a file whole under its name. Not synced to the disk: what a power cut takes is simply made again."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    except FileNotFoundError:  # once for each of 256 folders; asking every time costs as much as writing
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class PictureStore:
    """A content-addressed folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str, ext: str) -> Path:
        return self.root / sha256[:2] / f"{sha256}.{ext}"

    def holds(self, sha256: str, ext: str, size: int) -> bool:
        """Whether the picture is there with that many bytes."""
        try:
            return self.path(sha256, ext).stat().st_size == size
        except FileNotFoundError:
            return False

    def add(self, picture: StoredPicture) -> Path:
        """Write the picture unless it is there whole already."""
        path = self.path(picture.sha256, picture.ext)
        if not self.holds(picture.sha256, picture.ext, len(picture.data)):
            replace_with(path, picture.data)
        return path
