"""What a teacher was paid for, kept from the moment it came: a killed run asks for nothing that it already has.

One line per reply, ``[crc32, key, value]``, written by a single call before anything depends on it. A torn or damaged
line is passed over: its reply is asked for again. Only one process writes to a file at a time.
"""

from __future__ import annotations

import fcntl
import os
import zlib
from pathlib import Path
from typing import Any

import orjson

from ..records import Stopped, TirError, dumps


class ReplyJournal:
    """Replies by key, in memory and on disk."""

    def __init__(self, path: Path) -> None:
        """Open and read. Raises TirError when another process writes to it."""
        self.path = path
        self.damaged = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._fd)
            raise TirError(f"{path}: another process is writing to it; wait for it, or stop it first") from None
        self._known: dict[str, Any] = {}
        with path.open("rb") as handle:
            for line in handle:
                self._take(line)
        if path.stat().st_size and not _ends_whole(path):
            os.write(self._fd, b"\n")  # what follows a torn line starts on a line of its own

    def _take(self, line: bytes) -> None:
        try:
            checksum, body = orjson.loads(line)
            if checksum != zlib.crc32(body.encode()):
                raise ValueError("checksum")
            key, value = orjson.loads(body)
        except (ValueError, TypeError, AttributeError):
            self.damaged += bool(line.strip())
            return
        self._known[key] = value

    def get(self, key: str) -> Any | None:
        """The reply that was written under this key, or None."""
        return self._known.get(key)

    def put(self, key: str, value: Any) -> None:
        """Write a reply. Raises Stopped when the disk takes no more."""
        body = dumps([key, value]).decode()
        line = dumps([zlib.crc32(body.encode()), body]) + b"\n"
        try:
            written = os.write(self._fd, line)
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except OSError as error:
            raise Stopped("disk_full", f"{self.path}: {error.strerror}; nothing is lost, free some space") from None
        self._known[key] = value

    def close(self) -> None:
        """Bring everything to the disk and let others write."""
        os.fdatasync(self._fd)
        os.close(self._fd)


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as handle:
        handle.seek(-1, os.SEEK_END)
        return handle.read(1) == b"\n"
