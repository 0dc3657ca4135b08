"""Snakemake started from a process that has imported it already: half of a short run's work is the import."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from workflow_helpers import Clone


def _run(args: Sequence[str], folder: str, env: Mapping[str, str], out: str) -> None:
    """In a child of its own: as the command line would, with both streams in one file."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    descriptor = os.open(out, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.stdout, sys.stderr = (open(stream, "w", buffering=1, closefd=False) for stream in (1, 2))  # noqa: SIM115
    sys.argv = ["snakemake", *args]
    from snakemake.cli import main

    main(list(args))


class WarmClone(Clone):
    """A clone whose short runs share one import. What a run does, prints and returns is the same."""

    def snakemake(self, *args: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["snakemake.cli", "snakemake.workflow", "snakemake.dag"])
        given = self.command(*args)[3:]
        with tempfile.NamedTemporaryFile(suffix=".log") as log:
            process = context.Process(target=_run, args=(given, str(self.root), self.environment(), log.name))
            process.start()
            process.join(timeout)
            if process.is_alive():
                process.kill()
                raise subprocess.TimeoutExpired(given, timeout)
            return subprocess.CompletedProcess(given, process.exitcode or 0, Path(log.name).read_text("utf-8"), "")
