"""What surrounds an attacked sandbox, and how to see from outside whether an attack had its effect.

Everything that must not be reached is planted here: a secret file, a secret in the environment of a victim process,
listeners of several kinds, a folder outside, another session's folder.
"""

from __future__ import annotations

import base64
import contextlib
import os
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_VICTIM = "import time, sys\nprint('up', flush=True)\nwhile True: time.sleep(0.1)"


@dataclass
class World:
    """One attack's surroundings."""

    root: Path
    word: str
    """The secret."""
    victim: subprocess.Popen[bytes]
    tcp: socket.socket
    udp: socket.socket
    unix: socket.socket
    abstract: socket.socket
    sibling: Path
    """A folder of another live session."""
    before: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, object]:
        """For the cells: what an attacker would know or guess."""
        return {
            "SECRET": str(self.root / "project" / ".env"),
            "OUTSIDE": str(self.root / "outside"),
            "PORT": self.tcp.getsockname()[1],
            "UDP_PORT": self.udp.getsockname()[1],
            "UNIX": str(self.root / "outside" / "service.sock"),
            "ABSTRACT": self.abstract.getsockname().decode(),
            "VICTIM": self.victim.pid,
            "CONTROLLER": os.getpid(),
            "SIBLING": str(self.sibling),
        }

    def arm(self) -> None:
        """Remember how things are."""
        self.before = self.state()

    def state(self) -> dict[str, tuple[int, ...]]:
        """Mode, owner, size and times of everything that an attack must leave alone."""
        found = {}
        for base in (self.root, self.sibling):
            for path in [base, *sorted(base.rglob("*"))]:
                item = path.lstat()
                found[str(path)] = (item.st_mode, item.st_uid, item.st_size, item.st_mtime_ns, item.st_nlink)
        return found

    def written(self) -> bool:
        """Something outside the folder was made, changed or removed."""
        return self.state() != self.before

    def connected(self) -> bool:
        """A listener heard something."""
        heard = False
        for listener in (self.tcp, self.unix, self.abstract):
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                heard = True
        with contextlib.suppress(BlockingIOError):
            self.udp.recv(100)
            heard = True
        return heard

    def victim_touched(self) -> bool:
        """The victim died, stopped or runs under other terms."""
        if self.victim.poll() is not None:
            return True
        status = Path(f"/proc/{self.victim.pid}/status").read_text()
        return (
            "\nState:\tT" in status
            or "\nState:\tt" in status
            or os.getpriority(os.PRIO_PROCESS, self.victim.pid) != os.getpriority(os.PRIO_PROCESS, 0)
            or os.sched_getaffinity(self.victim.pid) != os.sched_getaffinity(0)
            or "\nTracerPid:\t0" not in status
            or resource.prlimit(self.victim.pid, resource.RLIMIT_NOFILE) != resource.getrlimit(resource.RLIMIT_NOFILE)
        )

    def spawned(self, marker: str) -> bool:
        """A process that the attack started is there, or its traces are."""
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if marker.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                    return True
        return False


def spellings(word: str) -> list[bytes]:
    """Forms in which a secret might come out."""
    raw = word.encode()
    return [
        raw,
        raw[::-1],
        raw.hex().encode(),
        base64.b64encode(raw)[:-4],
        base64.b64encode(b"x" + raw)[4:-4],
        base64.b64encode(b"xx" + raw)[4:-4],
        base64.b85encode(raw)[:-5],
        b" ".join(str(byte).encode() for byte in raw),
        b", ".join(str(byte).encode() for byte in raw),
        bytes(byte ^ 0x55 for byte in raw),
        raw.decode().encode("utf-16-le"),
    ]


def leaked(word: str, *places: bytes) -> bool:
    """Whether the secret stands in any of the texts, in any spelling."""
    return any(form in place for form in spellings(word) for place in places)


@contextlib.contextmanager
def world(sibling: Path | None = None, word: str | None = None) -> Iterator[World]:
    """Build it, and take it down. ``sibling``: the folder of another session that already exists."""
    root = Path(tempfile.mkdtemp(prefix="world-"))
    word = word or f"sk-{secrets.token_hex(12)}"
    (root / "project").mkdir()
    (root / "project" / ".env").write_text(f"SERPER_API_KEY={word}\n")
    (root / "outside").mkdir()
    (root / "outside" / "kept.txt").write_text("kept")
    (root / "outside" / "run.sh").write_text(f"#!/bin/sh\ntouch {root}/outside/ran\n")
    (root / "outside" / "run.sh").chmod(0o755)
    sibling = sibling or root / "sibling"
    sibling.mkdir(exist_ok=True)
    (sibling / "answer.txt").write_text(word)
    victim = subprocess.Popen(
        [sys.executable, "-S", "-c", _VICTIM],
        stdout=subprocess.PIPE,
        env={"API_KEY": word, "PATH": os.defpath, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")},
    )
    assert victim.stdout is not None
    victim.stdout.readline()
    listeners = [socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)]
    listeners[1].bind(("127.0.0.1", 0))
    for address in (str(root / "outside" / "service.sock"), f"\0tir-{secrets.token_hex(6)}"):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen()
        listeners.append(listener)
    for listener in listeners:
        listener.setblocking(False)
    made = World(root, word, victim, *listeners, sibling)
    try:
        made.arm()
        yield made
    finally:
        with contextlib.suppress(ProcessLookupError):
            victim.send_signal(signal.SIGCONT)
        victim.kill()
        victim.wait()
        victim.stdout.close()
        for listener in listeners:
            listener.close()
        shutil.rmtree(root, ignore_errors=True)
