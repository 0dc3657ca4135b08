#!/usr/bin/env python3
"""Get the official Qwen3.5 chat template out of the pinned trl wheel: its own file, nothing of trl is installed."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tir_distill import cli
from tir_distill.export.template_source import CACHE, ROOT, pinned
from tir_distill.records import ExitCode, TirError, atomic_writer

LOCK = ROOT / "envs" / "optional-template.txt"

parser = cli.Parser(description=__doc__, example="python scripts/fetch_template.py")
parser.add_argument("--wheel", type=Path, help="a trl 1.16.0 wheel that is already here; default: downloaded by pip")
parser.add_argument("--out", type=Path, default=CACHE, help="folder for the template (default: .cache/chat_template)")


def download(folder: Path) -> Path:
    """The wheel, without its dependencies, its hash checked by pip against the lock. Raises TirError."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", "-r", str(LOCK), "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("trl-*.whl"))
    if done.returncode or not wheels:
        raise TirError(
            f"pip could not get the wheel of {LOCK.name}; with a copy at hand use --wheel\n{done.stderr.strip()}"
        )
    return wheels[0]


def main(args: argparse.Namespace) -> ExitCode | None:
    """Nothing to do when the pinned file is there already."""
    name, sha256 = pinned()
    target: Path = args.out / name
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == sha256:
        return None
    with tempfile.TemporaryDirectory() as folder:
        wheel = args.wheel or download(Path(folder))
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(f"trl/chat_templates/{name}")
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise TirError(f"{wheel}: {name} has sha256 {found}, expected {sha256}")
    with atomic_writer(target) as handle:
        handle.write(data)
    if args.out == CACHE:
        (CACHE.parent / ".gitignore").write_text("*\n", encoding="ascii")
    print(f"{target}: chat template of trl 1.16.0 (Apache-2.0)")
    return None


if __name__ == "__main__":
    cli.run(main, parser)
