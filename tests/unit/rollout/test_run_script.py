"""run_distill_10k.sh before anything runs: usage, flags that belong elsewhere, the gate before the full run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(home / "scripts" / "run_distill_10k.sh"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHON": sys.executable}
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an unpacked hand-over has of commands; no Snakefile."""
    home = tmp_path_factory.mktemp("site") / "handover"
    for name in ("scripts", "config", "resources"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
    return home


@pytest.mark.parametrize("words", [[], ["demo"], ["pilot", "--retry"], ["pilot", "--retry", "foo"]])
def test_usage(words: list[str]) -> None:
    done = run(ROOT, *words)
    assert done.returncode == 64
    assert done.stderr.startswith("usage: ")


def test_help() -> None:
    done = run(ROOT, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("The pilot or the full run")


@pytest.mark.parametrize("flag", ["--k-max", "--plan", "--limit=3", "--max-seq-tokens"])
def test_flags_of_the_hand_overs_command_are_named_in_a_clone(flag: str) -> None:
    done = run(ROOT, "pilot", "--resume", flag, "2")
    assert done.returncode == 64
    assert done.stderr.startswith(f"{flag}: in a clone this is a key of the configuration")


def test_the_full_run_of_a_hand_over_is_refused_without_a_gate(site: Path) -> None:
    done = run(site, "full")
    assert done.returncode == 3
    assert "run 'full' is refused: the gate of run 'pilot' is not passed" in done.stderr
    assert not (site / "out").exists()


def test_an_override_is_written_down_before_the_run(site: Path, tmp_path: Path) -> None:
    over = tmp_path / "over.yaml"
    over.write_text("gate: {override: the student was looked at by hand}\n")
    done = run(site, "full", f"--config={over}")
    assert done.returncode != 0  # there is no question file here
    assert '"reason": "the student was looked at by hand"' in (site / "out" / "full_gate.json").read_text()
