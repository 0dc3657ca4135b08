"""One session: cells of one trajectory in one worker, watched from outside, replaced when it had to be killed."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import folder as folders
from . import pictures
from .channel import Channel
from .frames import Frame
from .lockdown import INSIDE
from .result import CellImage, CellResult, CellStatus
from .settings import SandboxFault

if TYPE_CHECKING:
    from .controller import Sandbox

FIRST_LOOK = 0.02
"""Cells that end sooner are judged once, at their end."""
POLL_SECONDS = 0.03
SHORTEST_POLL = 0.003
SELDOM = 0.25
LONGEST_ERROR = 20_000
"""Characters of a traceback. The worker keeps to fewer by itself, a forged one need not."""
WRITES_PER_SECOND = 4 << 30
"""As fast as two threads fill the page cache. The less room is left in the folder, the sooner the next look."""
REST_AFTER = 0.005
"""Seconds from a short cell's answer to the pause of its process: stopping costs more than such a cell, and nobody has
to wait for it."""
_TICKS = os.sysconf("SC_CLK_TCK")
MEMORY_RESERVE = 512 << 20
"""Below this much free memory on the host a large cell is ended before the kernel picks a victim."""


@dataclass(frozen=True, slots=True)
class _End:
    """Why a worker had to end."""

    status: CellStatus
    words: str


class Session:
    """Made by ``Sandbox.session``. The worker starts with the first cell: a session without code costs nothing."""

    def __init__(
        self,
        sandbox: Sandbox,
        images: Sequence[tuple[bytes, bytes]],
        seed: int,
        files: Mapping[str, Path] | None = None,
    ) -> None:
        """Raises ValueError for a file name that is no plain name."""
        self._sandbox, self._images, self._seed, self._files = sandbox, images, seed, dict(files or {})
        for name in self._files:
            if name != Path(name).name or name.startswith("."):
                raise ValueError(f"{name!r} is no plain file name")
        self._settings = sandbox.settings
        self._folder: Path | None = None
        self._channel: Channel | None = None
        self._slot: int | None = None
        self._cells = 0
        self._pictures: dict[str, folders.State] = {}
        """Picture files as they were after the last cell."""
        self._saved: list[str] = []
        """Pictures that the last cell saved."""
        self._rest: asyncio.TimerHandle | None = None
        self._turn = asyncio.Lock()

    async def run(self, code: str) -> CellResult:
        """Run one cell; whatever it does, a result comes back. Cells of a session run one after the other."""
        async with self._turn:
            self._cells += 1
            try:
                if self._slot is None:
                    self._slot = await self._sandbox.live.take()
                running = await self._sandbox.running.take()
                try:
                    started = time.monotonic()
                    return await self._run(code, started)
                finally:
                    self._sandbox.running.give_back(running)
            except (SandboxFault, OSError) as fault:
                await self._drop_worker()
                return CellResult(status="infrastructure", note=f"[the sandbox failed: {fault}]", restarted=True)
            except asyncio.CancelledError:
                await self._drop_worker()  # a cell may still be running in it
                raise

    async def close(self) -> None:
        """End the worker and remove the folder. May be called again."""
        await self._drop_worker()
        if self._folder is not None:
            await asyncio.to_thread(folders.remove, self._folder)
            self._folder = None
        if self._slot is not None:
            self._sandbox.live.give_back(self._slot)
            self._slot = None
        self._sandbox.forget(self)

    async def _run(self, code: str, started: float) -> CellResult:
        settings = self._settings
        channel = await self._worker()
        channel.begin()
        command = {
            "cell": self._cells,
            "code": code.encode("utf-8", "replace").decode(),
            "cpu_seconds": settings.cell_seconds,
            "wall_seconds": settings.wall_seconds,
            "spare": settings.memory_mb << 17,  # an eighth
        }
        frame, end = None, None
        if channel.broken:
            end = await self._kill(channel, _End("killed", "the process broke its connection"))
        else:
            self._go_on(channel)
            try:
                await channel.send(command)
            except BrokenPipeError:
                end = await self._ended(channel)
            else:
                frame, end = await self._watch(channel)
        channel.drain(settings.flood_bytes)
        shown: dict[str, Any] = {
            "stdout": self._readable(channel.out.text),
            "stderr": self._readable(channel.err.text),
            "cut": channel.printed > len(channel.out.kept) + len(channel.err.kept),
        }
        if end is not None:
            await self._drop_worker()
            if end.status == "disk" and self._folder is not None:
                await asyncio.to_thread(folders.remove, self._folder)
                self._folder = None
            note = f"[{end.status}: {end.words}; the session was restarted, variables are lost]"
            return CellResult(status=end.status, note=note, restarted=True, seconds=time.monotonic() - started, **shown)
        assert frame is not None
        return await self._result(frame, shown, started)

    async def _result(self, frame: Frame, shown: dict[str, Any], started: float) -> CellResult:
        status: CellStatus = frame.header["status"]
        settings = self._settings
        notes = []
        if status == "timeout":
            limit = settings.cell_seconds if self._wall(started) < settings.wall_seconds else settings.wall_seconds
            notes.append(f"[timeout: the cell ran longer than {limit:g} s; variables are kept]")
        elif status == "memory":
            notes.append(f"[memory: the cell needed more than {settings.memory_mb} MB; variables are kept]")
        elif status == "disk":
            notes.append("[disk: a file was too large or the disk is full; variables are kept]")
        images, left_out = await self._collect(frame) if frame.blobs or self._saved else ((), _left_out(frame))
        if left_out:
            notes.append(f"[{left_out} picture(s) left out: too many, too large, or unreadable]")
        return CellResult(
            status=status,
            error=self._readable(frame.header["error"][:LONGEST_ERROR]),
            note="\n".join(notes),
            images=images,
            seconds=time.monotonic() - started,
            **shown,
        )

    def _wall(self, started: float) -> float:
        return time.monotonic() - started

    def _readable(self, text: str) -> str:
        """The folder's own path as it is in a private root, so that equal runs print equal text."""
        return text.replace(str(self._folder), INSIDE) if self._folder is not None else text

    async def _worker(self) -> Channel:
        """The session's worker, started and locked."""
        if self._channel is not None:
            return self._channel
        if self._folder is None:
            self._folder = self._sandbox.folder.new()
        self._write_images(self._folder)
        await asyncio.to_thread(self._copy_files, self._folder)
        self._channel = await self._sandbox.open_channel(
            kind="cells", folder=self._folder, images=len(self._images), seed=self._seed
        )
        self._pictures = {}
        folders.measure(
            self._folder,
            max_entries=self._settings.entries,
            max_depth=self._settings.depth,
            pictures=self._pictures,
        )
        return self._channel

    def _write_images(self, folder: Path) -> None:
        for index, (jpeg, png) in enumerate(self._images, 1):
            names = [(f"image_{index}.png", png)]
            if index == 1:
                names.append(("input_image.jpg", jpeg))
            for name, data in names:
                _free(folder / name).write_bytes(data)

    def _copy_files(self, folder: Path) -> None:
        for name, source in self._files.items():
            shutil.copyfile(source, _free(folder / name))

    def _go_on(self, channel: Channel) -> None:
        """End the pause since the last cell, which may not have begun."""
        if self._rest is None or self._rest.when() <= asyncio.get_running_loop().time():
            channel.worker.go_on()
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _pause(self, channel: Channel, took: float) -> None:
        """Threads that the cell left rest until the next one, and its files are final."""
        if took > FIRST_LOOK:
            channel.worker.pause()
        else:
            self._rest = asyncio.get_running_loop().call_later(REST_AFTER, channel.worker.pause)

    async def _drop_worker(self) -> None:
        channel, self._channel = self._channel, None
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if channel is not None:
            await channel.close()

    async def _ended(self, channel: Channel) -> _End:
        """Why the worker died by itself. Raises SandboxFault when the fork server went first."""
        code = await asyncio.shield(channel.worker.ended)
        if code == -signal.SIGXCPU or code == -signal.SIGKILL:
            return _End("killed", "the process was ended by the system")
        if code < 0:
            return _End("killed", f"the process crashed ({signal.Signals(-code).name})")
        return _End("killed", f"the process ended itself (exit code {code})")

    async def _watch(self, channel: Channel) -> tuple[Frame | None, _End | None]:
        """The cell's result, or why its worker is no more."""
        settings, worker = self._settings, channel.worker
        started = time.monotonic()
        await channel.wait(min(FIRST_LOOK, _until_full(settings.disk_mb << 20)))
        if not channel.answered and not worker.ended.done():
            channel.listen()
        # What a cell has used by now, at the first look, is not counted: a hundredth of a second.
        cpu_before, heavy_check, pause = -1.0, started, 0.0
        while True:
            if channel.answered:
                frame = channel.take()
                if frame is None or not _belongs(frame, self._cells):
                    return None, await self._kill(channel, _End("killed", "the process broke its connection"))
                took = time.monotonic() - started
                self._pause(channel, took)
                pictures: dict[str, folders.State] = {}
                # what a short cell has deleted and still holds is seen while the next one runs
                over, _ = self._over_quota(
                    worker.pid, deleted=took > FIRST_LOOK, mapped=took > SELDOM, pictures=pictures
                )
                if frame.header["full"] and over is None:
                    over = _End("memory", f"the variables take more than {settings.memory_mb} MB")
                if over is not None:
                    return None, await self._kill(channel, over)
                self._saved = [name for name, state in pictures.items() if self._pictures.get(name) != state]
                self._pictures = pictures
                return frame, None
            if worker.ended.done():
                return None, await self._ended(channel)
            now = time.monotonic()
            cpu, threads = _cpu_and_threads(worker.pid)
            cpu_before = cpu if cpu_before < 0 else cpu_before
            if channel.printed > settings.flood_bytes:
                end: _End | None = _End("killed", f"the cell printed more than {settings.flood_bytes >> 20} MB")
            elif now - started > settings.wall_seconds + settings.grace_seconds:
                end = _End("timeout", f"the cell ran longer than {settings.wall_seconds:g} s and did not stop")
            elif threads > settings.threads:
                end = _End("killed", f"the cell started more than {settings.threads} threads")
            elif cpu - cpu_before > settings.cell_seconds + settings.grace_seconds:
                end = _End("timeout", f"the cell ran longer than {settings.cell_seconds:g} s and did not stop")
            else:
                # CPU time: on a busy machine a walk takes long because it waits, which is no reason to look less often
                walk = time.thread_time()
                seldom = now - heavy_check > SELDOM
                end, room = self._over_quota(worker.pid, mapped=seldom)
                # a large folder is walked less often: counting may take a tenth of the time
                pause = max(_until_full(room), 10 * (time.thread_time() - walk))
                if end is None and seldom:
                    heavy_check = now
                    end = _memory_pressure(worker.pid)
            if end is not None:
                return None, await self._kill(channel, end)
            await channel.wait(pause)

    async def _kill(self, channel: Channel, end: _End) -> _End:
        channel.worker.kill()
        await asyncio.shield(channel.worker.ended)
        return end

    def _over_quota(
        self, pid: int, *, deleted: bool = True, mapped: bool = False, pictures: dict[str, folders.State] | None = None
    ) -> tuple[_End | None, int]:
        """Whether the folder is too full, and the bytes left."""
        assert self._folder is not None
        settings = self._settings
        usage = folders.measure(self._folder, max_entries=settings.entries, max_depth=settings.depth, pictures=pictures)
        size = usage.size + (folders.deleted_but_open(pid) if deleted else 0)
        if mapped:
            size += folders.deleted_but_mapped(pid)
        room = (settings.disk_mb << 20) - size
        if usage.too_deep or usage.entries > settings.entries or room < 0:
            return _End(
                "disk",
                f"the work folder held more than {settings.disk_mb} MB, {settings.entries} files or {settings.depth} "
                "levels, and was emptied",
            ), 0
        return None, room

    async def _collect(self, frame: Frame) -> tuple[tuple[CellImage, ...], int]:
        """Pictures shown, then pictures saved, all re-encoded in another locked worker, each only once."""
        assert self._folder is not None
        settings = self._settings
        names = [str(name) for name in frame.header["names"]][: len(frame.blobs)]
        found = [(name, data) for name, data in zip(names, frame.blobs, strict=False) if data]
        left_out = _left_out(frame)
        for name in sorted(self._saved, key=lambda name: (self._pictures[name][2], name)):
            data = folders.read_plain(self._folder, name, settings.image_bytes)
            if data is None:
                left_out += 1
            elif data:
                found.append((name, data))
        left_out += max(0, len(found) - settings.max_images)
        found = found[: settings.max_images]
        if not found:
            return (), left_out
        encoded = await self._sandbox.to_png([data for _, data in found])
        images: dict[str, CellImage] = {}
        for (name, _), png in zip(found, encoded, strict=True):
            size = pictures.png_size(png) if png is not None else None
            if png is None or size is None or size[0] * size[1] > settings.image_pixels:
                left_out += 1
                continue
            clean = "".join(letter if letter.isprintable() else "?" for letter in name)[-100:]
            images.setdefault(hashlib.sha256(png).hexdigest(), CellImage(clean, png, *size))
        return tuple(images.values()), left_out


def _left_out(frame: Frame) -> int:
    return max(0, min(int(frame.header["left_out"]), 1000))


def _until_full(room: int) -> float:
    """Seconds to the next look at a folder with so many bytes left."""
    return max(SHORTEST_POLL, min(POLL_SECONDS, room / WRITES_PER_SECOND))


def _free(path: Path) -> Path:
    """The path with nothing at it: never write through what a cell has put there."""
    if path.is_dir() and not path.is_symlink():
        folders.remove(path)
    path.unlink(missing_ok=True)
    return path


def _belongs(frame: Frame, cell: int) -> bool:
    """A result of this cell, of the right shape."""
    header = frame.header
    return (
        header.get("cell") == cell
        and header.get("status") in ("ok", "error", "timeout", "memory", "disk")
        and isinstance(header.get("error"), str)
        and isinstance(header.get("names"), list)
        and type(header.get("left_out")) is int
        and isinstance(header.get("full"), bool)
    )


def _cpu_and_threads(pid: int) -> tuple[float, int]:
    """CPU seconds and number of threads; zeros where they cannot be read (the wall limit then stands alone)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/stat", "rb") as handle:  # noqa: PTH123
            fields = handle.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS, int(fields[17])
    return 0.0, 0


def _memory_pressure(pid: int) -> _End | None:
    """End a large cell when the host is nearly out of memory."""
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        with open("/proc/meminfo", "rb") as handle:  # noqa: PTH123
            line = next(line for line in handle if line.startswith(b"MemAvailable"))
        if int(line.split()[1]) << 10 > MEMORY_RESERVE:
            return None
        with open(f"/proc/{pid}/statm", "rb") as handle:  # noqa: PTH123
            resident = int(handle.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if resident > 256 << 20:
            return _End("memory", "the machine ran out of memory while the cell held much of it")
    return None
