"""Training and serving a student with configured commands where there is a GPU; elsewhere, what to run and put back.

Nothing here pretends to have trained: ``student.json`` is written after the command came to its end and left a
checkpoint, or by the person who trained elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import Stopped, TirError, file_sha256, read_json, write_json

POLL_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """Commands of the section ``student``; ``{mix}`` and ``{checkpoint}`` are filled in, quoted."""

    train: str
    serve: str
    url: str
    """Where the serving command answers."""
    model: str
    """Name under which it serves."""
    serve_seconds: float
    """How long it may take to load the model."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> TrainingSettings:
        names = ("train", "serve", "url", "model", "serve_seconds")
        return cls(**{name: config["student"][name] for name in names})

    def train_command(self, mix: Path) -> str:
        return self.train.replace("{mix}", shlex.quote(str(mix)))

    def serve_command(self, mix: Path, checkpoint: str) -> str:
        text = self.serve.replace("{mix}", shlex.quote(str(mix)))
        return text.replace("{checkpoint}", shlex.quote(checkpoint) if "<" not in checkpoint else checkpoint)


def has_gpu() -> bool:
    """Whether the driver's own tool lists a GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return False
    done = subprocess.run([tool, "-L"], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode == 0 and "GPU" in done.stdout


def train(settings: TrainingSettings, mix: Path, out: Path) -> dict[str, Any]:
    """Train on the mix and write ``out``.

    Raises Stopped (exit 2) without a GPU, with the commands to run; TirError when the command fails or leaves no
    checkpoint.
    """
    card = mix / "MIX.json"
    if not card.is_file():
        raise TirError(f"{card}: no such file; build the mix first")
    command = settings.train_command(mix)
    sha256 = file_sha256(card)
    if not has_gpu():
        raise Stopped("student_not_trained", instructions(settings, mix, out, sha256))
    started = time.time()
    done = subprocess.run(["bash", "-c", command], check=False)
    if done.returncode:
        raise TirError(f"training ended with exit code {done.returncode}: {command}")
    checkpoint = newest_checkpoint(mix / "checkpoints", since=started)
    if checkpoint is None:
        raise TirError(f"training left no checkpoint-* below {mix / 'checkpoints'}: {command}")
    document = {"checkpoint": str(checkpoint), "mix_sha256": sha256, "command": command}
    write_json(out, document)
    return document


def newest_checkpoint(folder: Path, *, since: float = 0.0) -> Path | None:
    """The last ``checkpoint-<step>`` that was written after ``since`` (seconds since the epoch)."""
    found = [path for path in folder.rglob("checkpoint-*") if path.is_dir() and path.stat().st_mtime >= since - 1]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def instructions(settings: TrainingSettings, mix: Path, out: Path, sha256: str) -> str:
    """What to run on a machine with a GPU, and the file to put back."""
    back = f'{{"checkpoint": "<checkpoint folder>", "mix_sha256": "{sha256}"}}'
    return (
        "no GPU here, nothing was trained. On a machine with one, in this folder:\n"
        f"  {settings.train_command(mix)}\n"
        f"then write {out} with the line\n"
        f"  {back}\n"
        "then serve the checkpoint and start the same target with the server's address:\n"
        f"  {settings.serve_command(mix, '<checkpoint folder>')}\n"
        f"  STUDENT_URL={settings.url} STUDENT_MODEL={settings.model} snakemake pilot_gate"
    )


def check_student(path: Path, mix: Path) -> dict[str, Any]:
    """``student.json``, which must name a checkpoint that was trained on this very mix. Raises TirError."""
    document: dict[str, Any] = read_json(path)
    if not isinstance(document.get("checkpoint"), str) or not document["checkpoint"]:
        raise TirError(f"{path}: expected the field 'checkpoint' with the folder of the trained student")
    if document.get("mix_sha256") != file_sha256(mix / "MIX.json"):
        raise TirError(f"{path}: the student was trained on another mix than {mix}; train again, or delete the file")
    return document


@contextlib.contextmanager
def served(settings: TrainingSettings, mix: Path, checkpoint: str) -> Iterator[str]:
    """The student's address while its server runs. Raises Stopped without a GPU, TirError when it does not start."""
    command = settings.serve_command(mix, checkpoint)
    if not has_gpu():
        raise Stopped(
            "student_not_served",
            "no GPU here. Serve the checkpoint where there is one and start the same target with its address:\n"
            f"  {command}\n  STUDENT_URL={settings.url} STUDENT_MODEL={settings.model} snakemake pilot_gate",
        )
    process = subprocess.Popen(["bash", "-c", command], start_new_session=True)
    try:
        _wait(process, settings, command)
        yield settings.url
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], settings: TrainingSettings, command: str) -> None:
    deadline = time.monotonic() + settings.serve_seconds
    while True:
        if process.poll() is not None:
            raise TirError(f"the serving command ended with exit code {process.returncode}: {command}")
        try:
            with urllib.request.urlopen(f"{settings.url}/models", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise TirError(f"no answer at {settings.url} after {settings.serve_seconds:g} s: {command}") from None
        time.sleep(POLL_S)
