"""One worker's pipes on the event loop: output kept up to a cap, results parsed and checked, commands written."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Sequence
from typing import Any

from . import frames
from .link import Worker

_READ = 1 << 16


class Output:
    """What was printed on one stream since ``begin``: the first part kept, the rest counted."""

    def __init__(self, descriptor: int, keep: int) -> None:
        self.descriptor, self.keep = descriptor, keep
        self.kept = bytearray()
        self.total = 0

    def begin(self) -> None:
        self.kept.clear()
        self.total = 0

    def pump(self) -> bool:
        """Read once; False when nothing is left. A short read has emptied the pipe."""
        return self._read() == _READ

    def read(self) -> bool:
        """Read once what is there; False at the end of the stream."""
        return self._read() != 0

    def _read(self) -> int:
        """Bytes read; 0 at the end, -1 when nothing is there now."""
        try:
            data = os.read(self.descriptor, _READ)
        except BlockingIOError:
            return -1
        self.total += len(data)
        if (room := self.keep - len(self.kept)) > 0:
            self.kept += data[:room]
        return len(data)

    @property
    def text(self) -> str:
        return self.kept.decode("utf-8", "replace")


class Channel:
    """Owns a worker's handles until ``close``."""

    def __init__(self, worker: Worker, *, keep: int, max_blobs: int, max_bytes: int) -> None:
        self.worker = worker
        self.out, self.err = Output(worker.out, keep), Output(worker.err, keep)
        self.broken = False
        self._parser = frames.Parser(max_blobs, max_bytes)
        self._frames: deque[frames.Frame] = deque()
        self._wake: asyncio.Future[None] | None = None
        self._listening = False
        self._loop = asyncio.get_running_loop()
        for descriptor in (worker.commands, worker.results, worker.out, worker.err):
            os.set_blocking(descriptor, False)
        self._loop.add_reader(worker.results, self._on_results)

    def begin(self) -> None:
        """Before a cell: forget old output. ``broken`` is set when results lie about that nobody asked for."""
        for stream in (self.out, self.err):
            stream.begin()
        if self._frames or not self._parser.idle:
            self.broken = True

    @property
    def printed(self) -> int:
        """Bytes printed since ``begin``."""
        return self.out.total + self.err.total

    @property
    def answered(self) -> bool:
        """A result is there, or something that is no result."""
        return bool(self._frames) or self.broken

    def take(self) -> frames.Frame | None:
        """The next result once ``answered``; None when the worker sent something that is no frame."""
        return self._frames.popleft() if self._frames and not self.broken else None

    async def wait(self, seconds: float | None = None) -> None:
        """Until there is an answer, the worker has ended, or the time is over.

        One future that the reader sets itself: tasks and events between them cost more than most cells.
        """
        if self.answered or self.worker.ended.done():
            return
        self._wake = self._loop.create_future()
        timer = self._loop.call_later(seconds, self._ring) if seconds is not None else None
        self.worker.ended.add_done_callback(self._ring)
        try:
            await self._wake
        finally:
            self._wake = None
            self.worker.ended.remove_done_callback(self._ring)
            if timer is not None:
                timer.cancel()
        if self.worker.ended.done():
            self._last_words()

    async def send(self, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
        """Write a command. Raises BrokenPipeError when the worker is gone."""
        view = memoryview(frames.encode(header, blobs))
        while view:
            try:
                view = view[os.write(self.worker.commands, view) :]
            except BlockingIOError:
                writable = asyncio.Event()
                self._loop.add_writer(self.worker.commands, writable.set)
                try:
                    await writable.wait()
                finally:
                    self._loop.remove_writer(self.worker.commands)

    def listen(self) -> None:
        """Read what is printed as it comes. A short cell's output waits in the pipe until ``drain``."""
        if not self._listening:
            self._listening = True
            for stream in (self.out, self.err):
                self._loop.add_reader(stream.descriptor, self._on_output, stream)

    def drain(self, limit: int) -> None:
        """Take the output that the cell wrote before its result, at most ``limit`` bytes, and stop listening."""
        self._stop_listening()
        for stream in (self.out, self.err):
            for _ in range(limit // _READ + 1):
                if not stream.pump():
                    break

    async def close(self) -> None:
        """Kill the worker, wait for its end, close everything."""
        self.worker.kill()
        self._loop.remove_reader(self.worker.results)
        self._stop_listening()
        with contextlib.suppress(Exception):  # a SandboxFault: the server, and so the worker, is gone
            await asyncio.shield(self.worker.ended)
        self.worker.release()

    def _ring(self, _ended: object = None) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _stop_listening(self) -> None:
        if self._listening:
            self._listening = False
            for stream in (self.out, self.err):
                self._loop.remove_reader(stream.descriptor)

    def _last_words(self) -> None:
        """A result that the worker wrote before it ended: at most what a pipe holds."""
        while not self.broken and self._on_results():
            pass

    def _on_results(self) -> bool:
        """Read once; False at the end or when nothing is there."""
        try:
            data = os.read(self.worker.results, _READ)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self.worker.results)
            return False
        try:
            self._frames.extend(self._parser.feed(data))
        except frames.BadFrame:
            self.broken = True
            self._loop.remove_reader(self.worker.results)
        if len(self._frames) > 4:
            self.broken = True
        if self.answered:
            self._ring()
        return True

    def _on_output(self, stream: Output) -> None:
        if not stream.read():
            self._loop.remove_reader(stream.descriptor)
