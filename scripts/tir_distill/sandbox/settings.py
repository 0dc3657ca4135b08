"""Limits of a cell and of a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OPTIONAL_LAYERS = ("private_root", "landlock", "seccomp", "capabilities")


class SandboxRefused(Exception):
    """This machine lacks a layer that must be there, or the proof at start-up failed. The text says which and why."""


class SandboxFault(Exception):
    """Our side failed: the fork server is gone, no disk space, a worker that could not be locked. Not the
    cell's fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """Defaults are measured: honest cells of the normal-work corpus stay far below each."""

    cell_seconds: float = 20
    """CPU time of one cell; on a busy machine an honest cell must not time out for want of a processor."""
    wall_seconds: float = 60
    """Wall time of one cell, for cells that sleep or wait."""
    memory_mb: int = 1024
    """Address space beyond what the worker starts with."""
    disk_mb: int = 256
    """All files in the work folder, and files deleted while open."""
    max_images: int = 8
    """Pictures returned per cell."""
    max_workers: int = 64
    """Live workers on this host, over all processes of this user."""
    max_running: int = 0
    """Cells that run at the same time on this host; 0: twice the number of processors."""
    allow_unsafe: bool = False
    """Run although a must-have layer is missing. Recorded in the layers, and so in every record."""
    file_mb: int = 64
    entries: int = 2000
    """Files and folders in the work folder."""
    depth: int = 20
    """Folders inside folders. Beyond it counting is unsafe: paths get longer than the kernel takes."""
    threads: int = 256
    """Of one worker. RLIMIT_NPROC would count all of the user's processes, and does not hold for root."""
    output_chars: int = 65536
    """Kept of stdout and of stderr."""
    flood_bytes: int = 16 << 20
    """Printed by one cell before it is killed."""
    image_bytes: int = 8 << 20
    image_pixels: int = 20_000_000
    grace_seconds: float = 2.0
    """From the soft timeout, which keeps the variables, to the kill, which does not."""
    without: tuple[str, ...] = ()
    """Layers left out, for tests: names from OPTIONAL_LAYERS, ``network`` or ``landlock:<abi>``."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> SandboxSettings:
        """From the ``sandbox`` section of the resolved configuration."""
        section = config["sandbox"]
        return cls(
            cell_seconds=section["cell_seconds"],
            wall_seconds=section["wall_seconds"],
            memory_mb=section["memory_mb"],
            disk_mb=section["disk_mb"],
            max_images=section["max_images"],
            max_workers=section["max_workers"],
            allow_unsafe=section["allow_unsafe"],
        )

    @property
    def running(self) -> int:
        """``max_running`` with its default worked out."""
        return self.max_running or 2 * max(2, len(os.sched_getaffinity(0)))
