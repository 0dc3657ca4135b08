"""The attack battery: as root and as an ordinary user, with every optional layer switched off in turn.

Every attack on something outside is first shown to work without the sandbox.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ordinary_user import NOT_POSSIBLE
from sandbox_attacks import ATTACKS

TESTS = Path(__file__).resolve().parents[1]
QUICK = "files,network,processes,protocol"
ORDINARY = 12345


def battery(*arguments: str, ordinary: bool = False) -> dict[str, str]:
    """Verdicts by attack; skips where this machine cannot do it."""
    command = [sys.executable]
    if ordinary and os.geteuid() == 0:
        command += [str(TESTS / "ordinary_user.py"), str(ORDINARY)]
    done = subprocess.run(
        [*command, str(TESTS / "sandbox_battery.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    if done.returncode == NOT_POSSIBLE:
        pytest.skip(done.stderr.strip())
    if "SandboxRefused" in done.stderr:
        pytest.skip(f"not offered here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@cache
def offered() -> dict[str, str]:
    """Layers of this machine."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "scripts")}
    done = subprocess.run(
        [sys.executable, "-m", "tir_distill.sandbox", "--layers"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return json.loads(done.stdout)


def unsafe(verdicts: dict[str, str]) -> dict[str, str]:
    return {name: why for name, why in verdicts.items() if why and name != "layers"}


def test_there_are_enough_attacks_in_every_family() -> None:
    families = {attack.family for attack in ATTACKS}
    assert families == {"files", "network", "processes", "protocol", "resources"}
    assert len(ATTACKS) >= 230
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize(
    "ordinary",
    [pytest.param(False, id="own user"), pytest.param(True, id="ordinary user", marks=pytest.mark.slow)],
)
def test_every_attack_works_without_the_sandbox(ordinary: bool) -> None:
    if ordinary and os.geteuid() != 0:
        pytest.skip("the own user is an ordinary one")
    assert unsafe(battery("--controls", ordinary=ordinary)) == {}


def test_all_layers() -> None:
    verdicts = battery()
    assert len(verdicts) >= 230
    assert unsafe(verdicts) == {}


@pytest.mark.parametrize(
    ("ordinary", "without"),
    [
        pytest.param(True, "private_root", id="ordinary user, no private root", marks=pytest.mark.slow),
        pytest.param(False, "landlock", id="own user, no Landlock"),
        pytest.param(True, "private_root,landlock:1", id="ordinary user, oldest Landlock alone"),
        pytest.param(True, "", id="ordinary user, all layers", marks=pytest.mark.slow),
        pytest.param(True, "landlock", id="ordinary user, no Landlock", marks=pytest.mark.slow),
        pytest.param(False, "private_root", id="own user, no private root", marks=pytest.mark.slow),
        pytest.param(False, "private_root,landlock:1", id="own user, oldest Landlock alone", marks=pytest.mark.slow),
        pytest.param(False, "capabilities", id="own user, capabilities kept", marks=pytest.mark.slow),
        pytest.param(False, "private_root,capabilities", id="own user, neither", marks=pytest.mark.slow),
    ],
)
def test_with_layers_off(ordinary: bool, without: str) -> None:
    arguments = ["--families", QUICK, *(["--without", without] if without else [])]
    assert unsafe(battery(*arguments, ordinary=ordinary)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("without", ["private_root", "landlock"])
def test_resources_with_layers_off(without: str) -> None:
    assert unsafe(battery("--families", "resources", "--without", without, ordinary=True)) == {}


@pytest.mark.parametrize("without", ["seccomp", "private_root,landlock"])
def test_a_missing_must_have_is_refused(without: str) -> None:
    program = (
        "import asyncio; from tir_distill.sandbox import Sandbox, SandboxSettings\n"
        f"asyncio.run(Sandbox.start(SandboxSettings(without={tuple(without.split(','))!r})))"
    )
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "scripts")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode != 0
    assert "SandboxRefused" in done.stderr
    assert "this machine lacks" in done.stderr
    assert "allow_unsafe" in done.stderr


def test_unsafe_runs_only_when_asked_and_says_so() -> None:
    layers = json.loads(battery("--families", "none", "--without", "private_root,landlock", "--unsafe")["layers"])
    assert layers["unsafe"]
    assert layers["proved"] == "no"
