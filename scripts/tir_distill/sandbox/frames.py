"""Messages between controller and worker: a length, a JSON header, raw bytes. Never pickle.

``4 bytes header length | header | blobs``; the header's ``blobs`` lists their sizes. The controller checks every size
before it reads on: the worker's side may be written by a hostile cell.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_HEADER = 1 << 20


class BadFrame(Exception):
    """The other side sent something that is no frame, or one beyond the limits."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message."""

    header: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


def encode(header: dict[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """The bytes of a frame. Raises ValueError when the header is too long."""
    text = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    if len(text) > MAX_HEADER:
        raise ValueError("frame header too long")
    return b"".join([struct.pack("!I", len(text)), text, *blobs])


@dataclass(slots=True)
class Parser:
    """Takes bytes as they come and gives frames; holds at most one frame of the largest allowed size."""

    max_blobs: int
    max_bytes: int
    """Of all blobs of a frame together."""
    _buffer: bytearray = field(default_factory=bytearray)
    _header: dict[str, Any] | None = None
    _sizes: list[int] = field(default_factory=list)

    def feed(self, data: bytes) -> list[Frame]:
        """Frames completed by ``data``. Raises BadFrame; the parser is of no use afterwards."""
        self._buffer += data
        frames = []
        while (frame := self._next()) is not None:
            frames.append(frame)
        return frames

    @property
    def idle(self) -> bool:
        """No half frame is held."""
        return self._header is None and not self._buffer

    def _next(self) -> Frame | None:
        if self._header is None:
            if len(self._buffer) < 4:
                return None
            (length,) = struct.unpack_from("!I", self._buffer)
            if length > MAX_HEADER:
                raise BadFrame(f"header of {length} bytes")
            if len(self._buffer) < 4 + length:
                return None
            self._header, self._sizes = self._read_header(bytes(self._buffer[4 : 4 + length]))
            del self._buffer[: 4 + length]
        if len(self._buffer) < sum(self._sizes):
            return None
        blobs, at = [], 0
        for size in self._sizes:
            blobs.append(bytes(self._buffer[at : at + size]))
            at += size
        del self._buffer[:at]
        frame = Frame(self._header, tuple(blobs))
        self._header, self._sizes = None, []
        return frame

    def _read_header(self, text: bytes) -> tuple[dict[str, Any], list[int]]:
        try:
            header = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadFrame("header is not JSON") from error
        sizes = header.pop("blobs", None) if isinstance(header, dict) else None
        if not isinstance(sizes, list) or len(sizes) > self.max_blobs:
            raise BadFrame("bad list of blobs")
        if not all(type(size) is int and 0 <= size <= self.max_bytes for size in sizes) or sum(sizes) > self.max_bytes:
            raise BadFrame("blobs too large")
        return header, sizes


def read_exactly(descriptor: int, count: int) -> bytes:
    """Worker side, blocking. Raises EOFError when the other end is closed."""
    parts = []
    while count:
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read(descriptor: int) -> Frame:
    """Worker side, blocking: the next command of the (trusted) controller. Raises EOFError."""
    (length,) = struct.unpack("!I", read_exactly(descriptor, 4))
    header = json.loads(read_exactly(descriptor, length))
    return Frame(header, tuple(read_exactly(descriptor, size) for size in header.pop("blobs")))


def write(descriptor: int, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Worker side, blocking."""
    view = memoryview(encode(header, blobs))
    while view:
        view = view[os.write(descriptor, view) :]
