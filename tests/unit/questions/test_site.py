"""The unpacked hand-over runs by itself at a teacher's site: keys in .env, one command, outputs in out/, audited."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from questions_helpers import read_lines
from tir_distill.config import ROOT, load
from tir_distill.questions import (
    DecontaminationSettings,
    Evidence,
    Fingerprints,
    Matcher,
    SelectionSettings,
    decontaminate,
    pack,
    pack_pictures,
    select,
)
from tir_distill.sources import ReadSettings, SourceSettings, fetch, read_evaluation, read_questions

TEMPLATE = ROOT / ".cache" / "chat_template"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TEMPLATE.is_dir(), reason="the chat template is not here: python scripts/fetch_template.py"),
]
SERVER_START_S = 60


def demo(*words: str | Path, **options: object) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    return subprocess.Popen([sys.executable, "-m", "tir_distill.demo", *map(str, words)], env=env)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hand-over of the drawn sources, unpacked in a folder of its own, as sent: without the picture folder."""
    data, out = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("built") / "handover"
    assert demo("draw", "--out", data / "mirror").wait(120) == 0
    config = load(ROOT / "config" / "demo.yaml")
    config["sources"]["mirror"] = str(data / "mirror")
    locks, sets, tables, kept, drops = [], [], [], [], []

    def source(name: str) -> Path:
        folder = data / "sources" / name
        if not folder.exists():
            fetch(SourceSettings.from_config(config, name), folder)
            locks.append(folder / "lock.json")
        return folder

    rules = DecontaminationSettings.from_config(config)
    for name, entry in config["evaluation"].items():
        sets.append(data / "evaluation" / f"{name}.parquet")
        read_evaluation(ReadSettings.for_evaluation(config, name), source(entry["source"]), out=sets[-1])
    matcher = Matcher(Fingerprints.read(sets), rules)
    for name, entry in config["buckets"].items():
        tables.append(data / "questions" / f"{name}.parquet")
        kept.append(data / "kept" / f"{name}.parquet")
        drops.append(kept[-1].with_suffix(".drops.parquet"))
        settings = ReadSettings.for_bucket(config, name)
        read_questions(settings, source(entry["source"]), images=data / "images", out=tables[-1])
        decontaminate(tables[-1], matcher, out=kept[-1], drops=drops[-1])
    select(kept, sets, SelectionSettings.from_config(config), rules, images=data / "images", out=out)
    evidence = Evidence(
        counts=[path.with_suffix(".counts.json") for path in tables],
        kept=kept,
        drops=drops,
        evaluation=[path.with_suffix(".counts.json") for path in sets],
        locks=locks,
    )
    pack(config, evidence, pack_pictures(out), out=out, scripts_root=ROOT)
    there = tmp_path_factory.mktemp("site") / "handover"
    shutil.copytree(out, there, ignore=shutil.ignore_patterns("images"))
    subprocess.run(["tar", "-xf", "images.tar"], cwd=there, check=True)
    shutil.copytree(TEMPLATE, there / ".cache" / "chat_template")
    return there


@pytest.fixture
def servers(site: Path, tmp_path: Path) -> Iterator[None]:
    """The embedded endpoints, named in the site's .env."""
    ports = tmp_path / "ports.json"
    process = demo("serve", "--questions", site / "phase_10k.jsonl", "--port-file", ports, "--parent", str(os.getpid()))
    deadline = time.monotonic() + SERVER_START_S
    while not ports.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    (site / ".env").write_text("".join(f"{key}={value}\n" for key, value in json.loads(ports.read_text()).items()))
    yield
    process.terminate()
    process.wait(20)


def test_the_pilot_runs_and_is_audited(site: Path, servers: None) -> None:
    secret = ("TEACHER", "SERPER", "JUDGE", "READER", "PYTHONPATH")
    env = {key: value for key, value in os.environ.items() if not key.startswith(secret)}
    done = subprocess.run(
        ["bash", "scripts/run_distill_10k.sh", "pilot"],
        cwd=site, env={**env, "PYTHON": sys.executable}, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = read_lines(site / "out" / "pilot" / "accepted.jsonl")
    pilot = {row["id"] for row in read_lines(site / "phase_10k_pilot.jsonl")}
    assert rows
    assert {row["id"] for row in rows} <= pilot
    assert json.loads((site / "out" / "pilot" / "audit.json").read_text())["passed"] is True
    assert (site / "out" / "pilot" / "stats.json").exists()
    for row in rows:
        for image in row["images"]:
            assert (site / image).is_file(), image
