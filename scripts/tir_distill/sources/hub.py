"""Fetch a source: the files that it needs, at a pinned revision, locked.

A file that is there with the right size and sha256 is not fetched again, one that was cut off goes on where it
stopped, and an error leaves everything that was fetched. Only ``lock.json`` says that a source is complete: it is
written last, and a workflow should declare it, not the folder, as the output.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ..records.errors import Stopped, TirError, UsageError
from ..records.hashing import file_sha256
from ..records.protocols import Progress
from . import faults
from .backend import Backend, Listing, RemoteFile, select
from .hub_huggingface import HuggingFaceBackend
from .hub_mirror import MirrorBackend
from .hub_modelscope import ModelScopeBackend
from .lock import NAME, Lock, LockedFile
from .settings import SourceSettings
from .tables import count_rows

log = logging.getLogger("tir_distill")

LISTING_ATTEMPTS = 4
BUSY = ".fetching"
OUR_NAMES = (NAME, BUSY)
"""Files of a source folder that are ours, whatever a hub lists."""
MAX_NAME_BYTES = 200
"""File systems take 255; a file that is under way has a longer name."""

BACKENDS: dict[str, Callable[[SourceSettings], Backend]] = {
    "huggingface": HuggingFaceBackend,
    "modelscope": ModelScopeBackend,
    "mirror": MirrorBackend,
}


def fetch(settings: SourceSettings, folder: Path, progress: Progress | None = None) -> Lock:
    """Bring the source to ``folder`` and lock it. Raises TirError as described in ``faults``."""
    backend = BACKENDS[settings.hub](settings)
    listing = _listing(backend)
    wanted = _wanted(settings, listing, backend.name)
    with alone(folder):
        return _fetch(settings, backend, listing, wanted, folder, progress)


def _fetch(
    settings: SourceSettings,
    backend: Backend,
    listing: Listing,
    wanted: list[RemoteFile],
    folder: Path,
    progress: Progress | None,
) -> Lock:
    (folder / NAME).unlink(missing_ok=True)
    locked = []
    for number, file in enumerate(wanted):
        locked.append(_one(settings, backend, listing, file, folder))
        if progress is not None:
            progress.update(done=number + 1, megabytes=sum(item.size for item in locked) // 1_000_000)
    lock = Lock(
        source=settings.id,
        repo=settings.repo,
        hub=settings.hub,
        revision=listing.revision,
        requested_revision=settings.revision,
        licence=settings.licence,
        licence_upstream=listing.licence,
        files=tuple(locked),
        rows=_rows(settings, locked, folder),
    )
    lock.write(folder)
    return lock


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes from fetching into the same folder at the same time. Raises TirError when one does."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / BUSY).open("wb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TirError(f"{folder}: another process is fetching into this folder; wait for it or end it") from None
        yield


def _listing(backend: Backend) -> Listing:
    """The listing, asked for again when the hub is busy: one small request must not end a night's work."""
    import tenacity

    again = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Stopped),
        wait=tenacity.wait_exponential(multiplier=2, max=30),
        stop=tenacity.stop_after_attempt(LISTING_ATTEMPTS),
        reraise=True,
    )
    return again(backend.listing)


def _wanted(settings: SourceSettings, listing: Listing, hub: str) -> list[RemoteFile]:
    files, unmatched = select(listing.files, settings.files)
    if not files or (unmatched and not settings.tolerant):
        names = ", ".join(file.path for file in listing.files[:12]) or "nothing"
        raise faults.unknown(f"files {', '.join(unmatched or settings.files)}", settings.repo, hub, f"it holds {names}")
    if unmatched:
        log.warning("%s: no file matches %s; going on with the others", settings.repo, ", ".join(unmatched))
    absent = sorted(set(settings.sha256) - {file.path for file in files})
    if absent:
        raise UsageError(f"sources.sets.{settings.id}.sha256 names files that are not fetched: {', '.join(absent)}")
    return files


def _one(settings: SourceSettings, backend: Backend, listing: Listing, file: RemoteFile, folder: Path) -> LockedFile:
    """One file, fetched unless it is there, checked against hub and configuration."""
    parts = Path(file.path).parts
    if Path(file.path).is_absolute() or ".." in parts:
        raise TirError(f"{settings.repo}: the hub lists a file outside its folder: {file.path!r}")
    if file.path in OUR_NAMES or "\0" in file.path or any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in parts):
        raise TirError(
            f"{settings.repo}: the hub lists a file under a name that cannot be stored here: {file.path[:80]!r}; "
            f"leave it out of sources.sets.{settings.id}.files"
        )
    target = folder / file.path
    if not file.matches(target):
        log.info("%s: fetching %s", settings.repo, file.path)
        backend.download(file, listing, folder)
        if not file.matches(target):
            target.unlink()
            raise faults.damaged(f"{settings.repo}/{file.path}")
    found = file_sha256(target)
    pinned = settings.sha256.get(file.path)
    if pinned is not None and found != pinned:
        raise faults.not_as_pinned(f"{settings.repo}/{file.path}", pinned, found)
    return LockedFile(path=file.path, size=target.stat().st_size, sha256=found)


def _rows(settings: SourceSettings, files: list[LockedFile], folder: Path) -> int | None:
    """Rows over all parquet tables, checked against what the configuration expects."""
    counts = [count_rows(folder / file.path) for file in files if file.path.endswith(".parquet")]
    known = [count for count in counts if count is not None]
    total = sum(known) if known else None
    if settings.rows is not None and total is not None and total != settings.rows:
        text = f"{settings.repo}: {total} rows, but sources.sets.{settings.id}.rows expects {settings.rows}"
        if not settings.tolerant:
            raise TirError(f"{text}: upstream has changed; review it, then change revision or rows")
        log.warning("%s; the source is marked tolerant, going on", text)
    return total
