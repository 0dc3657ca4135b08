"""Equal inputs give equal bytes under another path, umask, time zone, language, hash seed, order of rows and files."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from questions_helpers import World, small_world
from tir_distill.config import ROOT

PLAIN = {"TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
ODD = {"TZ": "Asia/Kolkata", "LANG": "C", "LC_ALL": "C", "PYTHONHASHSEED": "4242", "PYTHONUTF8": "0"}


def run(world: World, script: str, *words: str | Path, umask: int, env: dict[str, str], cwd: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, *map(str, words)],
        env={**os.environ, **env}, cwd=cwd, capture_output=True, text=True, preexec_fn=lambda: os.umask(umask),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def build(world: World, out: Path, *, umask: int, env: dict[str, str], cwd: Path) -> None:
    """The three commands as the workflow calls them."""
    for table, kept, drops in zip(world.questions, world.kept(), world.drops(), strict=True):
        run(world, "decontaminate.py", "run", "--config", world.config_file, "--questions", table, "--evaluation",
            *world.evaluation, "--out", kept, "--drops", drops, umask=umask, env=env, cwd=cwd)  # fmt: skip
    run(world, "build_handover.py", "all", "--config", world.config_file, "--buckets", *world.kept(),
        "--evaluation", *world.evaluation, "--evaluation-counts", *world.set_counts(), "--images", world.images,
        "--counts", *world.counts(), "--drops", *world.drops(), "--locks", *world.locks,
        "--scripts-root", world.checkout, "--out", out, umask=umask, env=env, cwd=cwd)  # fmt: skip


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
def test_byte_identical_elsewhere(tmp_path: Path) -> None:
    here = small_world(tmp_path / "here")
    build(here, tmp_path / "first", umask=0o022, env=PLAIN, cwd=tmp_path)
    there = small_world(tmp_path / "some where else" / "数据", shuffle=3)
    build(there, there.root / "deep" / "er" / "out", umask=0o077, env=ODD, cwd=there.root)
    first, second = fingerprint(tmp_path / "first"), fingerprint(there.root / "deep" / "er" / "out")
    assert first == second
    assert {"phase_10k.jsonl", "images.tar", "MANIFEST.json", "croissant.json", "README.md"} <= set(first)
