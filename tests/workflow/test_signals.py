"""SIGTERM and SIGINT to a whole run: exit code 2, nothing left behind, the journal whole, the same command goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rollout_helpers import Asked, FakeTeacher, call, completion, teacher
from tir_distill.rollout.journal import scan
from workflow_helpers import BUCKET, HOME, RUN, Clone, generated_clone, processes_in

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(not (HOME / ".cache" / "chat_template").is_dir(), reason="python scripts/fetch_template.py"),
]

QUESTIONS = 8


def four_turns(asked: Asked) -> Mapping[str, Any]:
    number = asked.question.removeprefix("What is item ").removesuffix("?")
    if asked.turn < 3:
        return completion(None, calls=[call("search", {"query": f"item {number} {asked.turn}"})])
    return completion(f"<answer>thing {number}</answer>")


@pytest.fixture
def server() -> Iterator[FakeTeacher]:
    with teacher(four_turns) as running:
        yield running


def until(what: Callable[[], object], why: str, *, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.02)


def interrupt(process: subprocess.Popen[str], server: FakeTeacher, number: int, *, group: bool = False) -> str:
    """Signal it once the teacher is at work, holding all further replies; returns its output."""
    until(lambda: server.received >= 4 or process.poll() is not None, "the teacher was never asked")
    server.latency = 3600.0
    if group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 2, output[-3000:]
    server.latency = 0.0
    return output


def start(command: list[str], folder: Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, cwd=folder, env=dict(env), text=True, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def assert_whole(journals: Path) -> None:
    """Every line of every journal can be read, the last one too."""
    paths = list(journals.rglob("*.jsonl"))
    assert paths
    for path in paths:
        assert all(event is not None for _, _, event in scan(path)), path


def hand_over(clone: Clone) -> Path:
    """As unpacked at a teacher's site: scripts and resources beside the questions, and no Snakefile."""
    site = clone.root / "site"
    for name in ("scripts", "resources", "config", "envs"):
        shutil.copytree(clone.root / name, site / name)
    shutil.copytree(HOME / ".cache", site / ".cache")
    shutil.copy(clone.root / "results" / "handover" / "phase_10k.jsonl", site / "phase_10k_pilot.jsonl")
    (site / "eval_text_index.json").write_text("{}\n", encoding="utf-8")
    shutil.copy(clone.root / "run.yaml", site / "run.yaml")
    return site


@pytest.mark.slow
@pytest.mark.parametrize(("number", "group"), [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGINT, True)])
def test_the_hand_overs_command(tmp_path: Path, server: FakeTeacher, number: int, group: bool) -> None:
    """To the script alone, as ``kill`` does, and to all of its processes, as a terminal and a service manager do."""
    clone = generated_clone(tmp_path / "clone", QUESTIONS, 1, engine={"grace_seconds": 0.5, "concurrency": 2})
    site = hand_over(clone)
    env = {**clone.environment(), **server.env, "PYTHON": sys.executable}
    command = ["bash", "scripts/run_distill_10k.sh", "pilot", "--config", "run.yaml"]
    output = interrupt(start(command, site, env), server, number, group=group)
    assert f"operator: {signal.Signals(number).name} received" in output
    assert processes_in(site) == []
    assert_whole(site / "out" / "pilot" / "state" / "journal")
    assert not (site / "out" / "pilot" / "accepted.jsonl").exists()
    asked = dict(server.answered)
    done = start(command, site, env)
    until(lambda: done.poll() is not None, "the second start did not end")
    assert (site / "out" / "pilot" / "stats.json").exists(), done.communicate()[0][-3000:]
    assert asked.items() <= dict(server.answered).items(), "a reply that was paid for was asked for again"
    assert len(server.answered) == 4 * QUESTIONS


@pytest.mark.slow
@pytest.mark.parametrize(("number", "group"), [(signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGINT, True)])
def test_the_workflow(tmp_path: Path, server: FakeTeacher, number: int, group: bool) -> None:
    clone = generated_clone(
        tmp_path / "clone", QUESTIONS, 2, engine={"grace_seconds": 0.5, "concurrency": 2},
        demo={"draw": False, "serve": True, "corpus_from_questions": False},
    )  # fmt: skip
    clone.env.update(server.env)
    log = clone.root / "results" / "state" / "demo_servers.log"
    # the embedded servers would answer themselves: a sitecustomize keeps our endpoints, so that replies can be held
    (clone.root / "held").mkdir()
    (clone.root / "held" / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if any('sample_shard.py' in word for word in sys.orig_argv):\n"
        f"    os.environ.update({server.env!r})\n"
    )
    clone.env["PYTHONPATH"] = str(clone.root / "held")
    args = ("--configfile", "run.yaml", "--until", "sample_shard", "--", RUN)
    output = interrupt(start(clone.command(*args), clone.root, clone.environment()), server, number, group=group)
    assert "resumable" in output or "goes on from here" in output
    assert log.exists(), "the embedded servers were never started"
    assert processes_in(clone.root) == [], "shards and embedded servers must be gone"
    assert_whole(clone.root / "results" / RUN / "state" / "journal")
    asked = dict(server.answered)
    again = clone.snakemake(*args)
    assert again.returncode == 0, again.stdout[-3000:]
    assert asked.items() <= dict(server.answered).items(), "a reply that was paid for was asked for again"
    assert len(server.answered) == 4 * QUESTIONS
    ends = list((clone.root / "results" / RUN / "shards" / BUCKET).glob("*.questions.jsonl"))
    assert sum(len(path.read_text().splitlines()) for path in ends) == QUESTIONS
