"""Locks a freshly forked worker, layer on layer, and says which layers a machine has.

Must-haves: the seccomp filter, resource limits, and a wall around files (Landlock, a private root, or both). Namespaces
are a bonus: seccomp alone closes network, processes and kernel surface on every kernel.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from . import landlock, libc, private_root, seccomp

INSIDE = "/sandbox"
"""Where the work folder is in a private root; elsewhere its own path is written so in what the model reads."""
SYSTEM_PATHS = (
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/lib",
    "/lib64",
    "/usr/local/lib",
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/usr/share/fontconfig",
    "/usr/share/zoneinfo",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/sys/devices/system/cpu",
)


@dataclass(frozen=True, slots=True)
class Layers:
    """What goes on."""

    private_root: bool
    landlock: int
    """ABI; 0: none."""
    seccomp: bool
    capabilities: bool
    """Drop all capabilities (nothing to drop for an ordinary user)."""

    @property
    def missing(self) -> list[str]:
        """Must-haves that are not there, in words."""
        lacks = []
        if not self.seccomp:
            lacks.append("the seccomp system call filter")
        if not (self.landlock or self.private_root):
            lacks.append("a wall around files (Landlock, or namespaces for a private root)")
        return lacks

    def describe(self) -> dict[str, str]:
        """For the manifest."""
        return {
            "seccomp": "on" if self.seccomp else "off",
            "landlock": f"ABI {self.landlock}" if self.landlock else "off",
            "private_root": "on" if self.private_root else "off",
            "network_namespace": "on" if self.private_root else "off",
            "capabilities": "dropped" if self.capabilities else "kept",
            "rlimits": "on",
            "user": "root" if os.geteuid() == 0 else "ordinary",
        }

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of the worker, in bytes and seconds."""

    memory: int
    file_size: int
    cpu_seconds: int
    """Of the whole session: the last backstop when the controller is gone."""
    files: int = 64


def readable_paths() -> list[str]:
    """Interpreter libraries and system libraries; never a folder that could hold the project's ``.env``."""
    prefixes = dict.fromkeys([sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix])
    own = [os.path.join(prefix, part) for prefix in prefixes for part in ("lib", "lib64", "share")]  # noqa: PTH118
    if sys.pycache_prefix is not None:
        own.append(sys.pycache_prefix)  # byte code of what a cell imports
    # A folder inside another one is granted with it; mounting it twice would cost time.
    chosen: list[str] = []
    for path in [*own, *SYSTEM_PATHS]:
        if os.path.exists(path) and not any(path == have or path.startswith(have + "/") for have in chosen):  # noqa: PTH110
            chosen.append(path)
    return chosen


def apply(layers: Layers, limits: Limits, *, folder: str | None, anchor: str, readable: Sequence[str]) -> str:
    """Lock this single-threaded process for good; returns the work folder's path as the process now sees it.

    ``folder``: the only place it may write; None: nowhere. Raises OSError when a layer does not go on.
    """
    parent = os.getppid()
    _limit(limits)
    here = folder
    if layers.private_root:
        private_root.enter_namespaces()
        private_root.build(anchor, readable, folder, INSIDE)
        here = INSIDE if folder is not None else None
    if layers.capabilities:
        libc.drop_capabilities()
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    # Changed rights make a process unreadable for its own user; the controller must see files deleted while open.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    # The fork server's end ends this process. Set after the changes of rights, which clear it; the server forks from
    # its only thread, whose end is the server's end.
    libc.prctl(libc.PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        os._exit(1)
    if layers.landlock:
        writable = [here] if here is not None else []
        landlock.restrict(readable, writable, private_root.DEVICES, version=layers.landlock)
    limit_files(limits.files)
    os.chdir(here or "/")
    if layers.seccomp:
        seccomp.load()
    return here or "/"


NICE = 5
"""Steps below the controller: on a busy machine the one that watches must get a processor before those it watches."""


def _limit(limits: Limits) -> None:
    os.nice(NICE)
    with open("/proc/self/statm") as handle:  # noqa: PTH123
        pages = int(handle.read().split()[0])
    memory = pages * resource.getpagesize() + limits.memory
    for which, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_STACK, 8 << 20),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _, hard = resource.getrlimit(which)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))


def limit_files(count: int) -> None:
    """Last of all limits: building a private root opens more files than a cell may."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def _try(action: Any) -> bool:
    """Whether ``action`` works, tried in a child process that it may lock."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return status == 0


def available(anchor: str, readable: Sequence[str], without: Sequence[str]) -> Layers:
    """Which layers go on here, found by trying each in a child: versions and configurations do not tell."""

    def enter() -> None:
        private_root.enter_namespaces()
        private_root.build(anchor, readable, None, INSIDE)

    def filter_calls() -> None:
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.load()

    caps = [int(item.partition(":")[2]) for item in without if item.startswith("landlock:")]
    version = 0 if "landlock" in without else min([landlock.abi(), 7, *caps])
    return Layers(
        private_root="private_root" not in without and _try(enter),
        landlock=version,
        seccomp="seccomp" not in without and _try(filter_calls),
        capabilities="capabilities" not in without,
    )
