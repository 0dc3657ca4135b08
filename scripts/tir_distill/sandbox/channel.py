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
        """Read what is there; False at the end of the stream or when nothing is left."""
        try:
            data = os.read(self.descriptor, _READ)
        except BlockingIOError:
            return False
        self.total += len(data)
        self.kept += data[: max(0, self.keep - len(self.kept))]
        return bool(data)

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
        self._arrived = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        for descriptor in (worker.commands, worker.results, worker.out, worker.err):
            os.set_blocking(descriptor, False)
        self._loop.add_reader(worker.results, self._on_results)
        for stream in (self.out, self.err):
            self._loop.add_reader(stream.descriptor, self._on_output, stream)

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

    async def frame(self) -> frames.Frame | None:
        """The next result; None when the worker sent something that is no frame. Waits for ever when it is dead."""
        while not self._frames:
            if self.broken:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        return self._frames.popleft()

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

    def drain(self, limit: int) -> None:
        """Take the output that the cell wrote before its result, at most ``limit`` bytes."""
        for stream in (self.out, self.err):
            for _ in range(limit // _READ + 1):
                if not stream.pump():
                    break

    async def close(self) -> None:
        """Kill the worker, wait for its end, close everything."""
        self.worker.kill()
        for descriptor in (self.worker.results, self.worker.out, self.worker.err):
            self._loop.remove_reader(descriptor)
        with contextlib.suppress(Exception):  # a SandboxFault: the server, and so the worker, is gone
            await asyncio.shield(self.worker.ended)
        self.worker.release()

    def _on_results(self) -> None:
        try:
            data = os.read(self.worker.results, _READ)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self.worker.results)
            return
        try:
            self._frames.extend(self._parser.feed(data))
        except frames.BadFrame:
            self.broken = True
            self._loop.remove_reader(self.worker.results)
        if len(self._frames) > 4:
            self.broken = True
        self._arrived.set()

    def _on_output(self, stream: Output) -> None:
        with contextlib.suppress(BlockingIOError):
            before = stream.total
            stream.pump()
            if stream.total == before:
                self._loop.remove_reader(stream.descriptor)
