"""Locks hold hashes and no index addresses; the conda file agrees with the lock."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tir_distill.config import ROOT

ENVS = ROOT / "envs"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> set[tuple[str, str]]:
    return {
        (canonical(name), version) for name, version in re.findall(r"^([\w.-]+)==([^ \\;]+)", path.read_text(), re.M)
    }


@pytest.mark.parametrize("lock", sorted(ENVS.glob("*.txt")), ids=lambda path: path.name)
def test_every_pin_has_a_hash_and_no_address_stands_in_a_lock(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "index-url" not in text
    for block in re.split(r"\n(?=[\w.-]+==)", text.strip()):
        if re.match(r"[\w.-]+==", block):
            assert "--hash=sha256:" in block, block.splitlines()[0]


def test_conda_pins_are_the_locks_and_name_every_direct_requirement() -> None:
    conda = yaml.safe_load((ENVS / "tir-distill.yaml").read_text())
    listed = {
        (canonical(name), version)
        for entry in conda["dependencies"]
        if isinstance(entry, dict)
        for name, version in (item.split("==") for item in entry["pip"])
    }
    assert listed <= pins(ENVS / "requirements.txt")
    direct = re.findall(r"^[A-Za-z][\w.-]*", (ENVS / "requirements.in").read_text(), re.M)
    assert {name for name, _ in listed} == {canonical(name) for name in direct}


def test_the_development_lock_holds_the_same_versions() -> None:
    assert pins(ENVS / "requirements.txt") <= pins(ENVS / "requirements-dev.txt")
