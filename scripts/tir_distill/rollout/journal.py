r"""An append-only file of events that survives any kill.

A line is ``["<crc32 of the payload, 8 hex>",<payload JSON>]\n``. It is written by one ``write`` call before anything
depends on it, so it outlives a SIGKILL the moment the call returns. ``fdatasync`` runs at most once a second in a
thread and once more before a shard's outputs are written: a power cut loses at most the last second of work.

On opening, a last line without its end or with a wrong checksum is cut off, whatever it is (half a character, half a
row), so that the next line starts on a line of its own. A damaged line further up is passed over and counted: events
are facts that stand for themselves, and what is missing is bought again. No other file is asked whether the run is new.
"""

from __future__ import annotations

import fcntl
import logging
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ..records import BadRow, Stopped, TirError, dumps

log = logging.getLogger(__name__)

HEAD = len(b'["00000000",')
"""Bytes before the payload."""


def pack(event: dict[str, Any]) -> bytes:
    """One line."""
    payload = dumps(event)
    return b'["%08x",' % zlib.crc32(payload) + payload + b"]\n"


def unpack(line: bytes) -> dict[str, Any] | None:
    """The event of a whole line, or None when the line is damaged."""
    payload = line[HEAD:-2]
    if len(line) < HEAD + 4 or line[-2:] != b"]\n" or line[:2] != b'["':
        return None
    try:
        if int(line[2:10], 16) != zlib.crc32(payload):
            return None
        event = orjson.loads(payload)
    except ValueError:
        return None
    return event if isinstance(event, dict) else None


def scan(path: Path) -> Iterator[tuple[int, int, dict[str, Any] | None]]:
    """Offset, length and event of every line, streaming; None for a damaged one."""
    offset = 0
    with path.open("rb") as handle:
        for line in handle:
            yield offset, len(line), unpack(line)
            offset += len(line)


class Journal:
    """The one writer of a journal file."""

    def __init__(self, path: Path) -> None:
        """Open, lock and repair. Raises TirError when another process is writing to it."""
        self.path = path
        self.damaged = 0
        self.dirty = False
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._fd)
            raise TirError(f"{path}: another process is sampling this shard; wait for it, or stop it first") from None
        self._end = os.fstat(self._fd).st_size

    def events(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Every whole event with its place; a torn end is cut off when the end is reached. Read once, after opening."""
        good = 0
        torn = False
        for offset, length, event in scan(self.path):
            if event is None:
                self.damaged += 1
                torn = True
                continue
            torn = False
            good = offset + length
            yield offset, length, event
        if torn:
            self._truncate(good)
            log.warning("%s: %d bytes of an unfinished line were cut off", self.path, self._end - good)
            self._end = good

    def append(self, event: dict[str, Any]) -> tuple[int, int]:
        """Write one event; returns its place. Raises BadRow for an event that JSON cannot hold, Stopped when the disk
        takes no more; the file is left whole."""
        try:
            line = pack(event)
        except TirError as error:
            raise BadRow("unwritable", str(error)) from None
        offset = self._end
        try:
            written = os.write(self._fd, line)
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except OSError as error:
            self._truncate(offset)
            raise Stopped("disk_full", f"{self.path}: {error.strerror}; nothing is lost, free some space") from None
        self._end = offset + len(line)
        self.dirty = True
        return offset, len(line)

    def read(self, offset: int, length: int) -> dict[str, Any]:
        """The event at a place that this journal gave out."""
        event = unpack(os.pread(self._fd, length, offset))
        if event is None:
            raise TirError(f"{self.path}: the line at byte {offset} has changed since it was read")
        return event

    def sync(self) -> None:
        """Bring everything to the disk; blocks, so call it from a thread. Raises Stopped when the disk refuses."""
        if self.dirty:
            self.dirty = False  # before the call: a line written meanwhile makes it dirty again
            try:
                os.fdatasync(self._fd)
            except OSError as error:
                self.dirty = True
                raise Stopped("disk_full", f"{self.path}: {error.strerror}; the disk takes no more") from None

    def close(self) -> None:
        """Sync and unlock."""
        if self._fd >= 0:
            try:
                self.sync()
            finally:
                os.close(self._fd)
                self._fd = -1

    def _truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)
