"""Names a process so that others can tell whether it still lives."""

from __future__ import annotations

import os
import secrets
import socket
from functools import lru_cache
from pathlib import Path


def start_ticks(pid: int) -> str | None:
    """When a process of this machine started, in clock ticks after boot; None when there is no such process.

    Process ids are used again, start times with them are not.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return None if fields[0] in ("Z", "X") else fields[19]


@lru_cache(maxsize=1)
def machine() -> str:
    """This machine, boot and process namespace: within it, process ids mean the same to everyone."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = Path("/proc/self/ns/pid").readlink().name
    except OSError:
        return f"{socket.gethostname()}~{secrets.token_hex(4)}"  # unknown: nobody may judge us dead
    return f"{socket.gethostname()}~{boot}~{space}"


def new_holder() -> str:
    """A name for this process's use of one ledger."""
    pid = os.getpid()
    return f"{machine()}/{pid}/{start_ticks(pid) or '?'}/{secrets.token_hex(4)}"


def is_dead(holder: str) -> bool:
    """True only when the holder was a process of this machine and is certainly gone."""
    parts = _parts(holder)
    if parts is None:
        return False
    started = start_ticks(int(parts[0]))
    return started is None or (parts[1] != "?" and started != parts[1])


def is_here(holder: str) -> bool:
    """True when the holder is or was a process of this machine, so that ``is_dead`` can tell."""
    return _parts(holder) is not None


def _parts(holder: str) -> list[str] | None:
    place, _, rest = holder.partition("/")
    parts = rest.split("/")
    return parts if place == machine() and len(parts) == 3 and parts[0].isdigit() else None
