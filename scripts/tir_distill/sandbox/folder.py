"""Folders of sessions as the controller sees them: made, measured, searched for pictures and removed.

A cell wrote what lies in them. So nothing here follows a link, opens what is not a plain file, decodes a picture or
walks without bound.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .settings import SandboxFault

if TYPE_CHECKING:
    _Listing = os._ScandirIterator[str]

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")

_PICTURE_LEVELS = 3
State = tuple[int, int, int]
"""Of a picture file: inode, size, time of change in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a folder holds; ``too_deep`` when the walk stopped at the depth limit, or at a folder that stays closed."""

    size: int
    entries: int
    too_deep: bool


def host_folder() -> Path:
    """``tir-distill-<uid>`` in the system's temporary folder, ours alone: outside any project, where ``.env`` may lie.

    Raises SandboxFault when somebody else made it.
    """
    path = Path(tempfile.gettempdir()) / f"tir-distill-{os.geteuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise SandboxFault(f"{path} is not a private folder of this user: remove it or set TMPDIR")
    return path


@dataclass(slots=True)
class RunFolder:
    """The folders of one controller process, locked while it lives, swept by the next one after a crash."""

    path: Path
    _lock: int

    @classmethod
    def create(cls, host: Path) -> RunFolder:
        sweep(host)
        path = Path(tempfile.mkdtemp(prefix="run-", dir=host))
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return cls(path, lock)

    def new(self) -> Path:
        """An empty work folder."""
        return Path(tempfile.mkdtemp(prefix="cell-", dir=self.path))

    def remove(self) -> None:
        remove(self.path)
        os.close(self._lock)


def sweep(host: Path) -> None:
    """Remove run folders whose controller is gone."""
    for path in host.glob("run-*"):
        try:
            lock = os.open(path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # being made at this moment, or being removed
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            remove(path)
        finally:
            os.close(lock)


def remove(path: Path) -> None:
    """Remove a tree of any depth. ``shutil.rmtree`` recurses and gives up at about a thousand levels."""
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        # A cell may have made folders that cannot be listed, or a tree deeper than any path.
        for command in (["chmod", "-R", "u+rwX", "--", str(path)], ["rm", "-rf", "--", str(path)]):
            subprocess.run(
                command, check=False, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": os.defpath}
            )


def measure(path: Path, *, max_entries: int, max_depth: int, pictures: dict[str, State] | None = None) -> Usage:
    """Bytes taken on disk, and the count; stops as soon as a limit is passed.

    ``pictures``: filled with the picture files of the first three levels, so that one walk serves both.
    """
    size = entries = 0
    base = str(path)
    todo: list[tuple[str, int]] = [(base, 0)]
    while todo:
        where, depth = todo.pop()
        if depth > max_depth:
            return Usage(size, entries, True)
        try:
            listing = _listing(where)
        except FileNotFoundError:
            continue  # it went away while being counted
        except OSError:
            return Usage(size, entries, True)  # what cannot be counted is over the limit
        with listing:
            for entry in listing:
                entries += 1
                if entries > max_entries:
                    return Usage(size, entries, False)
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                size += found.st_blocks * 512
                if stat.S_ISDIR(found.st_mode):
                    todo.append((entry.path, depth + 1))
                elif pictures is not None and depth <= _PICTURE_LEVELS and entry.name.lower().endswith(PICTURES):
                    name = entry.path[len(base) + 1 :]
                    pictures[name] = (found.st_ino, found.st_size, found.st_mtime_ns)
    return Usage(size, entries, False)


def _listing(where: str) -> _Listing:
    """The entries of a folder, also of one made without the right to list it: files could be hidden in there."""
    try:
        return os.scandir(where)
    except PermissionError:
        descriptor = os.open(where, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)  # noqa: PTH101 - the folder opened, whatever is there now
        finally:
            os.close(descriptor)
        return os.scandir(where)


def deleted_but_open(pid: int) -> int:
    """Bytes in files that the process has deleted and still writes; 0 where the kernel does not tell."""
    total = 0
    base = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for name in os.listdir(base):  # noqa: PTH208
            with contextlib.suppress(OSError):
                found = os.stat(f"{base}/{name}")  # noqa: PTH116
                if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                    total += found.st_blocks * 512
    return total


def deleted_but_mapped(pid: int) -> int:
    """Bytes of shared mappings of deleted files, which may stand on the disk without any descriptor.

    Reading the map takes half a millisecond, so it is asked for seldom: the limit on memory bounds it as well.
    """
    total = 0
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/maps", "rb") as handle:  # noqa: PTH123
        for line in handle:
            # shared memory of no file looks the same, under these names
            if line.endswith(b" (deleted)\n") and b"s " in line[:40] and not any(name in line for name in _NO_FILE):
                low, _, high = line.split(b" ", 1)[0].partition(b"-")
                total += int(high, 16) - int(low, 16)
    return total


_NO_FILE = (b" /dev/zero (", b" /memfd:", b" /SYSV")


def read_plain(folder: Path, name: str, limit: int) -> bytes | None:
    """The bytes of a plain file of one link below ``folder``; None for anything else or anything longer."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return None
    held = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
    try:
        for part in parts[:-1]:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            held.append(os.open(part, flags, dir_fd=held[-1]))
        # O_NONBLOCK: opening a FIFO would wait for ever
        held.append(os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=held[-1]))
        state = os.fstat(held[-1])
        if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1 or state.st_size > limit:
            return None
        with open(held.pop(), "rb") as handle:  # noqa: PTH123 - a descriptor
            data = handle.read(limit + 1)
        return data if len(data) <= limit else None
    except OSError:
        return None
    finally:
        for descriptor in held:
            os.close(descriptor)
