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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .settings import SandboxFault

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a folder holds; ``too_deep`` when the walk stopped at the depth limit."""

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
        subprocess.run(["rm", "-rf", "--", str(path)], check=False, stdin=subprocess.DEVNULL, env={"PATH": os.defpath})


def measure(path: Path, *, max_entries: int, max_depth: int) -> Usage:
    """Size in bytes (the larger of length and blocks) and count; stops as soon as a limit is passed."""
    size = entries = 0
    todo: list[tuple[str, int]] = [(str(path), 0)]
    while todo:
        where, depth = todo.pop()
        if depth > max_depth:
            return Usage(size, entries, True)
        try:
            with os.scandir(where) as listing:
                for entry in listing:
                    entries += 1
                    if entries > max_entries:
                        return Usage(size, entries, False)
                    with contextlib.suppress(OSError):  # it went away while being counted
                        found = entry.stat(follow_symlinks=False)
                        size += found.st_blocks * 512
                        if stat.S_ISDIR(found.st_mode):
                            todo.append((entry.path, depth + 1))
        except OSError:
            continue
    return Usage(size, entries, False)


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


Snapshot = Mapping[str, tuple[int, int, int]]
"""Picture file -> inode, size, time of change in nanoseconds."""


def snapshot(path: Path, *, max_entries: int) -> dict[str, tuple[int, int, int]]:
    """Picture files in the folder and its folders (three levels)."""
    found: dict[str, tuple[int, int, int]] = {}
    todo = [("", 0)]
    seen = 0
    while todo:
        where, depth = todo.pop()
        with contextlib.suppress(OSError), os.scandir(path / where) as listing:
            for entry in listing:
                seen += 1
                if seen > max_entries:
                    return found
                name = f"{where}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if depth < 3:
                        todo.append((name + "/", depth + 1))
                elif name.lower().endswith(PICTURES):
                    state = entry.stat(follow_symlinks=False)
                    found[name] = (state.st_ino, state.st_size, state.st_mtime_ns)
    return found


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
