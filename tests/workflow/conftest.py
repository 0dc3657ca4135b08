"""One demo run, shared by the tests of this folder in the order in which they stand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from workflow_helpers import Clone, DemoRun, Servers, copy_project

DEMO = "config/demo.yaml"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoRun]:
    """The whole demo in a fresh clone, with servers of ours in place of the workflow's own."""
    root = copy_project(tmp_path_factory.mktemp("clone"))
    served = root / "overlays" / "served.yaml"  # outside config/, which a hand-over carries
    served.parent.mkdir()
    served.write_text(yaml.safe_dump({"demo": {"draw": True, "serve": False, "corpus_from_questions": False}}))
    servers = Servers(tmp_path_factory.mktemp("servers"), root / "results" / "handover_demo" / "phase_10k.jsonl")
    clone = Clone(root, dict(servers.env))
    args = ("--configfile", DEMO, "overlays/served.yaml")
    done = clone.snakemake(*args)
    assert done.returncode == 0, done.stdout[-6000:]
    yield DemoRun(clone, servers, args, done.stdout)
    servers.stop()


@pytest.fixture
def overlay(demo: DemoRun, tmp_path: Path) -> Iterator[object]:
    """Write a further configuration file into the clone; it is gone after the test."""
    written: list[Path] = []

    def write(value: dict[str, object]) -> tuple[str, ...]:
        path = demo.clone.root / "overlays" / f"over_{len(written)}.yaml"
        path.write_text(yaml.safe_dump(value))
        written.append(path)
        return (*demo.args, str(path.relative_to(demo.clone.root)))

    yield write
    for path in written:
        path.unlink()
