"""The sandbox as the rest of the project sees it: start, sessions, tasks, layers, close."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import folder as folders
from . import libc
from .channel import Channel
from .link import ServerLink
from .session import Session
from .settings import SandboxFault, SandboxRefused, SandboxSettings
from .slots import Slots

TASK_MEMORY = 1 << 30
_KEPT_PICTURES = 64


class TaskFailed(Exception):
    """A task in a locked worker ended without a result: too slow, out of memory, crashed, or it raised."""


class Sandbox:
    """One per process, on the event loop that started it."""

    def __init__(self, settings: SandboxSettings, folder: folders.RunFolder, preload: Sequence[str]) -> None:
        self.settings, self.folder, self._preload = settings, folder, tuple(preload)
        slots = folder.path.parent / "slots"
        slots.mkdir(mode=0o700, exist_ok=True)
        self.live = Slots(slots, "live", settings.max_workers)
        self.running = Slots(slots, "running", settings.running)
        self._link: ServerLink | None = None
        self._starting = asyncio.Lock()
        self._sessions: set[Session] = set()
        self._pictures: OrderedDict[str, tuple[bytes, bytes]] = OrderedDict()
        self._layers: dict[str, str] = {}
        self._spare: asyncio.Task[Channel] | None = None

    @classmethod
    async def start(cls, settings: SandboxSettings, *, preload: Sequence[str] = ()) -> Sandbox:
        """Start the fork server, choose the layers and prove them by trying to escape.

        ``preload``: modules whose functions ``task`` will call, or ``module:function`` to call once after import.
        Raises SandboxRefused when a must-have layer is missing or the proof fails (unless ``allow_unsafe``),
        SandboxFault when the server does not start.
        """
        if sys.platform != "linux":
            raise SandboxRefused("the sandbox needs Linux (seccomp, Landlock): run inside a Linux machine or container")
        folder = folders.RunFolder.create(folders.host_folder())
        sandbox = cls(settings, folder, preload)
        try:
            link = await sandbox._server()
            sandbox._layers = dict(link.layers)
            if link.missing:
                sandbox._refuse(f"this machine lacks {' and '.join(link.missing)}")
            # Keeps other processes of this user from reading our environment and memory, keys included.
            libc.prctl(libc.PR_SET_DUMPABLE, 0)
            from .proof import prove

            escapes = await prove(sandbox)
            if escapes:
                sandbox._refuse(f"the proof at start-up failed: a cell could {', '.join(escapes)}")
            sandbox._layers["proved"] = "no" if escapes else "yes"
        except BaseException:
            await sandbox.close()
            raise
        return sandbox

    def layers(self) -> dict[str, str]:
        """Active layers, for manifest and records."""
        return dict(self._layers)

    async def session(
        self, images: Sequence[Path | bytes] = (), *, seed: int = 0, files: Mapping[str, Path] | None = None
    ) -> Session:
        """A session for one trajectory; never reuse it for another.

        ``images``: question pictures, as files or bytes. ``seed``: of ``random`` and NumPy's global generator.
        ``files``: further files for the work folder by plain name, copied when the worker starts.
        """
        forms = [await self._both_forms(item) for item in images]
        session = Session(self, forms, seed, files)
        self._sessions.add(session)
        return session

    def forget(self, session: Session) -> None:
        """Called by a session that was closed."""
        self._sessions.discard(session)

    async def close(self) -> None:
        """End all sessions and the server, remove all folders."""
        for session in list(self._sessions):
            await session.close()
        spare, self._spare = self._spare, None
        if spare is not None:
            with contextlib.suppress(SandboxFault):
                await (await spare).close()
        if self._link is not None:
            self._link.close()
            self._link = None
        for slots in (self.live, self.running):
            slots.close()
        await asyncio.to_thread(self.folder.remove)

    async def task(
        self,
        function: str,
        header: dict[str, Any],
        blobs: Sequence[bytes] = (),
        *,
        seconds: float,
        max_bytes: int = 64 << 20,
    ) -> tuple[dict[str, Any], tuple[bytes, ...]]:
        """Call ``module:function`` of a preloaded module in a fresh locked worker that can write nowhere.

        Waits for a free running slot first; ``seconds`` counts from there. Raises TaskFailed or SandboxFault.
        """
        slot = await self.running.take()
        try:
            return await self._task(function, header, blobs, seconds=seconds, max_bytes=max_bytes)
        finally:
            self.running.give_back(slot)

    async def to_png(self, items: Sequence[bytes]) -> list[bytes | None]:
        """Pictures re-encoded in a locked worker; None for those that cannot be. The caller holds a running slot."""
        function = "tir_distill.sandbox.pictures:to_png"
        header = {"pixels": self.settings.image_pixels}
        try:
            answer, done = await self._task(function, header, items, seconds=15, max_bytes=256 << 20)
        except TaskFailed:
            if len(items) == 1:
                return [None]
            return [(await self.to_png([item]))[0] for item in items]  # one of them takes the others along
        failed = set(answer["failed"])
        rest = iter(done)
        return [None if position in failed else next(rest) for position in range(len(items))]

    async def open_channel(self, *, kind: str, folder: Path | None, images: int = 0, seed: int = 0) -> Channel:
        """A new locked worker and its pipes. Raises SandboxFault."""
        settings = self.settings
        spec = {
            "kind": kind,
            "folder": str(folder) if folder is not None else None,
            "anchor": str(self.folder.path / "root"),
            "images": images,
            "seed": seed,
            "memory": settings.memory_mb << 20 if kind == "cells" else TASK_MEMORY,
            "file_size": settings.file_mb << 20,
            "cpu_seconds": int(60 * settings.cell_seconds) if kind == "cells" else 120,
            "files": 64,
            "max_images": settings.max_images,
            "image_pixels": settings.image_pixels,
        }
        link = await self._server()
        worker = await link.spawn(spec)
        count = settings.max_images if kind == "cells" else 1000
        size = settings.max_images * settings.image_bytes if kind == "cells" else 256 << 20
        channel = Channel(worker, keep=settings.output_chars, max_blobs=count, max_bytes=size)
        try:
            await channel.wait(30)
            frame = channel.take() if channel.answered else None
            if frame is None or not frame.header.get("ready"):
                reason = frame.header.get("failed") if frame is not None else "no answer"
                channel.drain(1 << 16)
                raise SandboxFault(f"a worker could not be locked: {reason} {channel.err.text[-2000:]}".rstrip())
        except BaseException:
            await channel.close()
            raise
        return channel

    async def _task(
        self, function: str, header: dict[str, Any], blobs: Sequence[bytes], *, seconds: float, max_bytes: int
    ) -> tuple[dict[str, Any], tuple[bytes, ...]]:
        channel = await self._task_channel()
        channel.listen()
        try:
            async with asyncio.timeout(seconds):
                with contextlib.suppress(BrokenPipeError):
                    await channel.send({"function": function, "header": header}, blobs)
                await channel.wait()
        except TimeoutError:
            raise TaskFailed(f"took longer than {seconds:g} s") from None
        finally:
            await channel.close()
        frame = channel.take() if channel.answered else None
        if frame is None:
            raise TaskFailed("its process ended")
        if frame.header.get("status") != "ok" or not isinstance(frame.header.get("header"), dict):
            raise TaskFailed(str(frame.header.get("error") or frame.header.get("status"))[:2000])
        if sum(map(len, frame.blobs)) > max_bytes:
            raise TaskFailed("its result is too large")
        return frame.header["header"], frame.blobs

    async def _task_channel(self) -> Channel:
        """A task worker, made ahead while nobody waited for it where possible; each is used once."""
        spare, self._spare = self._spare, None
        channel = None
        if spare is not None:
            with contextlib.suppress(SandboxFault):
                channel = await spare
        if channel is not None and channel.worker.ended.done():
            await channel.close()
            channel = None
        if channel is None:
            channel = await self.open_channel(kind="task", folder=None)
        if self._spare is None:
            self._spare = asyncio.create_task(self.open_channel(kind="task", folder=None))
        return channel

    async def _server(self) -> ServerLink:
        """The running fork server; a dead one is replaced."""
        async with self._starting:
            if self._link is not None and not self._link.alive:
                self._link.close()
                self._link = None
            if self._link is None:
                preload = ["tir_distill.sandbox.pictures", *self._preload]
                self._link = await ServerLink.start(self.folder.path, without=self.settings.without, preload=preload)
            return self._link

    async def _both_forms(self, item: Path | bytes) -> tuple[bytes, bytes]:
        """A question picture as JPEG and PNG; made once, since every sample of the question asks for it."""
        data = item if isinstance(item, bytes) else await asyncio.to_thread(item.read_bytes)
        key = hashlib.sha256(data).hexdigest()
        if key not in self._pictures:
            try:
                _, (jpeg, png) = await self.task("tir_distill.sandbox.pictures:both_forms", {}, [data], seconds=30)
            except (TaskFailed, ValueError):
                jpeg = png = data  # a broken picture: the cell sees it as it is
            self._pictures[key] = (jpeg, png)
            while len(self._pictures) > _KEPT_PICTURES:
                self._pictures.popitem(last=False)
        self._pictures.move_to_end(key)
        return self._pictures[key]

    def _refuse(self, reason: str) -> None:
        if not self.settings.allow_unsafe:
            raise SandboxRefused(
                f"{reason}. Cells written by a model would not be confined. Run on another machine, or set "
                "sandbox.allow_unsafe to run all the same (it is written into every record)."
            )
        self._layers["unsafe"] = reason
