"""Pictures on disk, once each: ``<root>/<first two hex digits>/<sha256>.<ext>``.

Several jobs may write the same picture at once: each writes a file of its own and renames it, and equal names hold
equal bytes.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .pictures import StoredPicture


class PictureStore:
    """A content-addressed folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str, ext: str) -> Path:
        return self.root / sha256[:2] / f"{sha256}.{ext}"

    def add(self, picture: StoredPicture) -> Path:
        """Write the picture unless it is there whole already."""
        path = self.path(picture.sha256, picture.ext)
        try:
            if path.stat().st_size == len(picture.data):
                return path
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(picture.data)
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return path
