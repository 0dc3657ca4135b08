"""The controller's end of a fork server: starts it, asks it for workers, hears of their ends."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .forkserver import MAX_MESSAGE
from .settings import SandboxFault

START_SECONDS = 90
"""The very first start on a machine builds matplotlib's font cache."""
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",  # the order of a printed set must not differ when a cell is run again
    "OPENBLAS_NUM_THREADS": "1",  # a fork copies one thread only
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # arrow's own reserves a gigabyte of address space, which RLIMIT_AS counts
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # arrow starts a thread at import otherwise
    "OPENCV_LOG_LEVEL": "ERROR",
    "MPLBACKEND": "Agg",
}


@dataclass(slots=True)
class Worker:
    """Handles of one live worker. Descriptors belong to whoever holds this; ``release`` closes them."""

    pid: int
    commands: int
    results: int
    out: int
    err: int
    process: int
    """pidfd"""
    ended: asyncio.Future[int]
    """Exit code, negative for a signal; set when the worker is gone. SandboxFault when the server is."""

    def pause(self) -> None:
        """Stop all threads, so that nothing runs unwatched between cells."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """End a pause."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL, harmless when it is gone already."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, number)

    def release(self) -> None:
        """Close all handles."""
        for descriptor in (self.commands, self.results, self.out, self.err, self.process):
            os.close(descriptor)


@dataclass(slots=True)
class ServerLink:
    """One running fork server."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    log: Path
    layers: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    alive: bool = True
    _next: int = 0
    _spawning: dict[int, asyncio.Future[Worker]] = field(default_factory=dict)
    _ending: dict[int, asyncio.Future[int]] = field(default_factory=dict)

    @classmethod
    async def start(cls, folder: Path, *, without: Sequence[str], preload: Sequence[str]) -> ServerLink:
        """Execute a server whose log lies in ``folder``. Raises SandboxFault when it does not come up."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        anchor, log = folder / "root", folder / "server.log"
        anchor.mkdir(exist_ok=True)
        source = Path(__file__).resolve().parents[2]
        # -P: nothing from the current folder; -s: nothing from the user's home; the environment is ours, so that -E
        # would only lose the hash seed.
        program = (
            f"import sys; sys.path.insert(0, {str(source)!r}); from tir_distill.sandbox.forkserver import main; main()"
        )
        cache = folder.parent / "matplotlib"
        cache.mkdir(mode=0o700, exist_ok=True)
        environment = {**_ENVIRONMENT, "HOME": str(cache), "MPLCONFIGDIR": str(cache), "TMPDIR": str(folder)}
        options = ["-s", "-P"]
        if _are_compiled():
            options.append("-B")
        else:
            # Some installers leave libraries uncompiled: four of five seconds of a start would go into that, each time.
            environment["PYTHONPYCACHEPREFIX"] = str(folder.parent / "pycache")
        with theirs, log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *options, "-c", _ON_THREE.format(theirs.fileno()) + program],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is the controller's to handle
            )
        link = cls(process, ours, log)
        setup = {"anchor": str(anchor), "without": list(without), "preload": list(preload)}
        ours.send(json.dumps(setup).encode())
        ours.setblocking(False)
        loop = asyncio.get_running_loop()
        readable = loop.create_future()
        loop.add_reader(ours, lambda: None if readable.done() else readable.set_result(None))
        try:
            async with asyncio.timeout(START_SECONDS):
                await readable
            message = ours.recv(MAX_MESSAGE)
            answer: dict[str, Any] = (
                json.loads(message) if message else {"failed": log.read_text(errors="replace")[-4000:]}
            )
        except TimeoutError:
            answer = {"failed": f"no answer within {START_SECONDS} s"}
        finally:
            loop.remove_reader(ours)
        if "failed" in answer:
            link.close()
            raise SandboxFault(f"the sandbox's fork server did not start: {answer['failed']}")
        link.layers, link.missing = answer["describe"], answer["missing"]
        loop.add_reader(ours, link._read)
        return link

    async def spawn(self, spec: dict[str, Any]) -> Worker:
        """A new worker; it locks itself and says so in its first frame. Raises SandboxFault."""
        if not self.alive:
            raise SandboxFault("the sandbox's fork server is gone")
        loop = asyncio.get_running_loop()
        number = self._next = self._next + 1
        born: asyncio.Future[Worker] = loop.create_future()
        self._spawning[number] = born
        self._ending[number] = loop.create_future()
        message = json.dumps({**spec, "id": number}).encode()
        while True:
            try:
                self.socket.send(message)
                break
            except BlockingIOError:
                await asyncio.sleep(0.005)
            except OSError as error:
                self._lost()
                raise SandboxFault(f"the sandbox's fork server is gone ({error})") from error
        try:
            return await asyncio.shield(born)
        except asyncio.CancelledError:
            born.add_done_callback(_discard)
            raise

    def _read(self) -> None:
        while True:
            try:
                message, descriptors, _, _ = socket.recv_fds(self.socket, MAX_MESSAGE, 8)
            except BlockingIOError:
                return
            except OSError:
                message, descriptors = b"", []
            if not message:
                self._lost()
                return
            answer = json.loads(message)
            if "spawned" in answer:
                number = answer["spawned"]
                commands, results, out, err, process = descriptors
                worker = Worker(answer["pid"], commands, results, out, err, process, self._ending[number])
                self._spawning.pop(number).set_result(worker)
            else:
                self._ending.pop(answer["ended"]).set_result(answer["code"])

    def _lost(self) -> None:
        """The server is gone, and by their parent-death signal all workers with it."""
        if not self.alive:
            return
        self.alive = False
        asyncio.get_running_loop().remove_reader(self.socket)
        fault = SandboxFault("the sandbox's fork server is gone")
        futures: list[asyncio.Future[Any]] = [*self._spawning.values(), *self._ending.values()]
        for future in futures:
            if not future.done():
                future.set_exception(fault)
                future.exception()  # mark as seen: nobody may be waiting
        self._spawning.clear()
        self._ending.clear()

    def close(self) -> None:
        """End the server and all its workers, and wait for it."""
        if self.alive and self._ending:
            with contextlib.suppress(RuntimeError):  # no running loop: nobody waits for the futures either
                self._lost()
        elif self.alive:
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop().remove_reader(self.socket)
        self.alive = False
        self.socket.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_ON_THREE = "import os; os.dup2({0}, 3, inheritable=False) if {0} != 3 else None; {0} != 3 and os.close({0}); "


def _are_compiled() -> bool:
    """Whether the largest library lies beside its byte code."""
    found = importlib.util.find_spec("pandas")
    return found is not None and found.cached is not None and Path(found.cached).exists()


def _discard(born: asyncio.Future[Worker]) -> None:
    if born.exception() is None:
        born.result().kill()
        born.result().release()
