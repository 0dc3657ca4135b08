"""Picture paths of a row: relative to one root, whatever folder the picture came from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..records import BadRow, UsageError


@dataclass(frozen=True, slots=True)
class PicturePlaces:
    """Maps question pictures and tool pictures to paths relative to ``row_root``.

    The folders are compared as written, without following links: a hand-over may link its ``out/`` to a run folder.
    """

    image_root: Path
    """The hand-over folder; question pictures are relative to it."""
    run_dir: Path
    """The run folder; tool pictures are relative to it."""
    row_root: Path
    """What the trainer is given as ROOT_IMAGE_DIR, and the audit as --img-root."""

    def __post_init__(self) -> None:
        for folder in (self.image_root, self.run_dir):
            if _relative(folder, self.row_root) is None:
                raise UsageError(f"{folder} is not inside {self.row_root}; rows could not name its pictures")

    def question(self, path: str) -> str:
        """Path of a question's picture in a row. Raises BadRow when it is missing or leaves its folder."""
        return self._place(self.image_root, path)

    def tool(self, path: str) -> str:
        """Path of a picture that a tool made. Raises BadRow when it is missing or leaves its folder."""
        return self._place(self.run_dir, path)

    def _place(self, folder: Path, path: str) -> str:
        whole = folder / path
        if not path or Path(path).is_absolute() or _relative(whole, folder) in (None, "."):
            raise BadRow("picture_outside_root", f"{path!r} leaves its folder")
        if not whole.is_file():
            raise BadRow("picture_missing", f"{whole}: no such file")
        relative = _relative(whole, self.row_root)
        if relative is None:
            raise BadRow("picture_outside_root", f"{path!r} leaves {self.row_root}")
        return relative


def _relative(path: Path, root: Path) -> str | None:
    """POSIX path below ``root``, or None when it is not below it."""
    relative = Path(os.path.relpath(path, root))
    return None if relative.parts[:1] == ("..",) else relative.as_posix()
