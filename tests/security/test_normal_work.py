"""Ordinary cells print the same inside the sandbox as outside: the walls are not in the way of honest work."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from normal_cells import CELLS
from tir_distill.sandbox import Sandbox, SandboxSettings

TESTS = Path(__file__).resolve().parents[1]


def outside() -> list[str]:
    environment = {**os.environ, "TZ": "UTC", "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg", "LC_ALL": "C.UTF-8"}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(TESTS / "run_outside.py")], capture_output=True, check=True, env=environment, cwd="/tmp"
    )
    return json.loads(done.stdout)


async def inside(settings: SandboxSettings) -> list[tuple[str, str, str]]:
    sandbox = await Sandbox.start(settings)
    found = []
    try:
        for cell in CELLS:
            session = await sandbox.session()
            result = await session.run(cell)
            found.append((result.status, result.stdout, result.tail))
            await session.close()
    finally:
        await sandbox.close()
    return found


def test_normal_cells_print_the_same_inside_as_outside() -> None:
    assert len(CELLS) >= 120
    expected = outside()
    got = asyncio.run(inside(SandboxSettings()))
    differing = {
        cell: (status, text, tail, wanted)
        for cell, (status, text, tail), wanted in zip(CELLS, got, expected, strict=True)
        if status != "ok" or text != wanted or not text
    }
    assert differing == {}


def test_they_do_so_under_landlock_alone() -> None:
    """The other wall: the usual one in containers."""
    got = asyncio.run(inside(SandboxSettings(without=("private_root",))))
    assert [cell for cell, (status, _, _) in zip(CELLS, got, strict=True) if status != "ok"] == []
