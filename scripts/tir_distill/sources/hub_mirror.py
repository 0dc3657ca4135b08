"""A local folder laid out as on the hub: ``<mirror>/<owner>/<name>/<files>``. Files are copied, never linked."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..records.errors import UsageError
from ..records.hashing import combine, file_sha256
from . import faults
from .backend import Listing, RemoteFile
from .settings import SourceSettings


class MirrorBackend:
    """Offline runs, the demo and tests."""

    name = "the mirror"

    def __init__(self, settings: SourceSettings) -> None:
        if settings.mirror is None:
            raise UsageError(
                f"source {settings.id}: hub is 'mirror' but sources.mirror is not set; name a folder there, "
                "or set TIR_HUB_MIRROR"
            )
        self._settings = settings
        self._root = settings.mirror / settings.repo
        if not self._root.is_dir():
            raise faults.unknown("data set", settings.repo, f"the mirror {settings.mirror}")

    def listing(self) -> Listing:
        """Only files are hashed that the settings name; the revision is a digest of their names and contents."""
        from .backend import select

        paths = sorted(path for path in self._root.rglob("*") if path.is_file())
        names = [RemoteFile(path.relative_to(self._root).as_posix(), path.stat().st_size, None) for path in paths]
        chosen, _ = select(names, self._settings.files)
        files = tuple(RemoteFile(file.path, file.size, file_sha256(self._root / file.path)) for file in chosen)
        digest = combine(f"{file.path} {file.sha256}" for file in files)
        return Listing(revision=f"mirror-{digest[:16]}", files=files)

    def download(self, file: RemoteFile, listing: Listing, folder: Path) -> None:
        target = folder / file.path
        part = target.with_name(f"{target.name}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._root / file.path, part)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise faults.storage(str(target), error) from error
