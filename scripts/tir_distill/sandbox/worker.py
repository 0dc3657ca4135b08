"""The life of a worker: forked, locked, then cells of one session, or one task on bytes that nobody trusts."""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Sequence
from typing import Any

from . import frames, lockdown
from .capture import Shown
from .cells import Notebook

COMMANDS, RESULTS = 3, 4
"""Descriptors 0 (null), 1 and 2 (output, read and capped by the controller) stand before them."""


def main(spec: dict[str, Any], descriptors: Sequence[int], layers: lockdown.Layers, readable: Sequence[str]) -> None:
    """Runs in the child that the fork server made; ends with the process. Layers are on before anything is read."""
    os.setsid()
    _arrange(descriptors)
    try:
        limits = lockdown.Limits(
            memory=spec["memory"], file_size=spec["file_size"], cpu_seconds=spec["cpu_seconds"], files=spec["files"]
        )
        folder = lockdown.apply(layers, limits, folder=spec["folder"], anchor=spec["anchor"], readable=readable)
    except OSError as error:
        frames.write(RESULTS, {"failed": f"{type(error).__name__}: {error}"})
        return
    _own_surroundings(folder, spec["seed"])
    if spec["kind"] == "task":
        frames.write(RESULTS, {"ready": True})
        _task()
        return
    shown = Shown(spec["max_images"], spec["image_pixels"])
    notebook = Notebook(folder, spec["images"], shown)
    notebook.open()
    frames.write(RESULTS, {"ready": True})
    _cells(notebook)


def _arrange(descriptors: Sequence[int]) -> None:
    """Put null and the four pipes at 0 to 4 and close all others."""
    high = [os.dup2(descriptor, 100 + index, inheritable=False) for index, descriptor in enumerate(descriptors)]
    for index, descriptor in enumerate(high):
        os.dup2(descriptor, index)
    os.closerange(len(high), 1 << 16)


def _own_surroundings(folder: str, seed: int) -> None:
    """Paths and random state of this worker alone: forked siblings start with equal generators."""
    import tempfile

    for name in ("HOME", "TMPDIR", "MPLCONFIGDIR"):
        os.environ[name] = folder
    tempfile.tempdir = None
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def _cells(notebook: Notebook) -> None:
    while True:
        try:
            frame = frames.read(COMMANDS)
        except EOFError:
            return
        command = frame.header
        outcome = notebook.run(
            command["cell"],
            command["code"],
            cpu_seconds=command["cpu_seconds"],
            wall_seconds=command["wall_seconds"],
        )
        images = notebook.shown.images
        frames.write(
            RESULTS,
            {
                "cell": command["cell"],
                "status": outcome.status,
                "error": outcome.error,
                "names": [name for name, _ in images],
                "left_out": notebook.shown.left_out,
                "full": outcome.status == "memory" and not _room(command["spare"]),
            },
            [data for _, data in images],
        )
        notebook.shown.images = []


def _room(spare: int) -> bool:
    """Whether some memory is left for further cells."""
    try:
        bytearray(spare)
    except MemoryError:
        return False
    return True


def _task() -> None:
    """One call of a named function of this package: ``(header, blobs) -> (header, blobs)``."""
    frame = frames.read(COMMANDS)
    module, _, function = frame.header["function"].partition(":")
    try:
        header, blobs = getattr(importlib.import_module(module), function)(frame.header["header"], frame.blobs)
        frames.write(RESULTS, {"status": "ok", "header": header}, blobs)
    except MemoryError:
        frames.write(RESULTS, {"status": "memory"})
    except Exception as error:
        # Parsers fail in any way on hostile input; the caller is told and decides.
        frames.write(RESULTS, {"status": "error", "error": f"{type(error).__name__}: {error}"[:2000]})
