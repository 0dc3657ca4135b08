"""A clone of the project in a temporary folder, Snakemake in it, and embedded servers that count requests."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[1]
SECRET_NAMES = ("TEACHER_API_KEY", "SERPER_API_KEY", "JUDGE_API_KEY")


def copy_project(target: Path) -> Path:
    """What git tracks or would track, as a fresh clone has it; no results, no environment."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=HOME, capture_output=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.decode().split("\0")):
        source = HOME / name
        if source.is_file():
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)
    return target


@dataclass
class Clone:
    """One copy of the project and the environment its commands run in."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--cores", "2", *args]

    def environment(self) -> dict[str, str]:
        return {key: value for key, value in os.environ.items() if key not in SECRET_NAMES} | self.env

    def snakemake(self, *args: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Run to the end; the output of both streams is in ``stdout``."""
        return subprocess.run(
            self.command(*args), cwd=self.root, env=self.environment(), text=True, timeout=timeout, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def planned(self, *args: str) -> Counter[str]:
        """Rule -> number of jobs that a dry run plans."""
        done = self.snakemake("-n", *args)
        assert done.returncode == 0, done.stdout[-3000:]
        return jobs_in(done.stdout)

    def json(self, path: str) -> Any:
        return json.loads((self.root / path).read_text(encoding="utf-8"))

    def lines(self, path: str) -> list[dict[str, Any]]:
        with (self.root / path).open(encoding="utf-8", newline="\n") as handle:
            return [json.loads(line) for line in handle]


def jobs_in(output: str) -> Counter[str]:
    """The job table that Snakemake prints, without its total."""
    tables = re.findall(r"^job +count\n[- ]+\n((?:\S+ +\d+\n)+)", output, re.M)
    counts = Counter(
        {name: int(count) for name, count in re.findall(r"^(\S+) +(\d+)$", tables[-1] if tables else "", re.M)}
    )
    del counts["total"]
    return counts


class Servers:
    """The embedded servers, started by the test so that they outlive one workflow and their counters can be read."""

    def __init__(self, folder: Path, questions: Path, *flags: str) -> None:
        port_file = folder / "ports.json"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tir_distill.demo", "serve", "--questions", str(questions),
             "--port-file", str(port_file), "--parent", str(os.getpid()), *flags],
            env={**os.environ, "PYTHONPATH": str(HOME / "scripts")},
        )  # fmt: skip
        deadline = time.monotonic() + 30
        while not port_file.exists():
            assert self.process.poll() is None, "the embedded servers did not start"
            assert time.monotonic() < deadline, "the embedded servers did not start in 30 s"
            time.sleep(0.05)
        self.env: dict[str, str] = json.loads(port_file.read_text())

    @property
    def base(self) -> str:
        return self.env["TEACHER_URL"].removesuffix("/teacher/v1")

    def counters(self) -> dict[str, int]:
        with urllib.request.urlopen(f"{self.base}/counters", timeout=10) as reply:
            counts: dict[str, int] = json.load(reply)
        return counts

    def set_faults(self, **faults: Any) -> None:
        """Change the faults that the servers play, while they serve."""
        request = urllib.request.Request(f"{self.base}/faults", json.dumps(faults).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10) as reply:
            assert reply.status == 200

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=10)


RUN = "big"
BUCKET = "chartqa_human"


def generated_clone(root: Path, questions: int, shards: int, **sections: Any) -> Clone:
    """A clone whose hand-over is a generated question file without pictures, and its overlay ``run.yaml``.

    The run is called ``big``: one bucket, one sample of a question, no judge. ``sections`` go over that.
    """
    import yaml

    copy_project(root)
    handover = root / "results" / "handover"
    handover.mkdir(parents=True)
    lines = [
        json.dumps(
            {"id": f"g{i}", "source": "demo", "bucket": BUCKET, "priority": "P0", "phase": "full",
             "task_type": "image_reasoning", "question": f"What is item {i}?", "answer": f"thing {i}",
             "candidate_answers": "[]", "images": [], "meta": {}}
        )
        for i in range(questions)
    ]  # fmt: skip
    (handover / "phase_10k.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (handover / "eval_text_index.json").write_text("{}\n", encoding="utf-8")  # read only when a filter asks for it
    shutil.copytree(HOME / ".cache" / "chat_template", root / "results" / "state" / "chat_template")
    others = {name: {"count": 0, "pilot": 0} for name in ("fvqa_train", "evobrowsecomp", "livevqa_news_l2")}
    overlay: dict[str, Any] = {
        "paths": {"handover": "results/handover"},
        "buckets": {**others, BUCKET: {"count": questions, "pilot": 0, "shards": shards}},
        "selection": {"total": questions},
        "runs": {"pilot": None, "full": None, RUN: {"phase": "all", "adopt": [], "gate": None}},
        "plan": {"k_first": 1, "k_max": 1, "k_max_text": 1},
        "budgets": {"serper_qps": 1000},
        "judge": {"enabled": False},
        "mixes": {"pilot": None, "full": None},
        **sections,
    }
    (root / "run.yaml").write_text(yaml.safe_dump(overlay), encoding="utf-8")
    return Clone(root)


@dataclass
class DemoRun:
    """A finished demo run, the servers that it talked to, and the arguments that name it."""

    clone: Clone
    servers: Servers
    args: tuple[str, ...]
    output: str


def processes_with(*words: str) -> list[int]:
    """Ids of processes whose command line holds all of these words."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue  # it ended while we looked
            if all(word in line for word in words):
                found.append(int(entry.name))
    return found


def processes_in(folder: Path) -> list[str]:
    """Command lines of processes whose working folder lies below this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").resolve().is_relative_to(folder.resolve()):
                    found.append((entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " "))
            except OSError:
                continue  # it ended while we looked, or is not ours to look at
    return found
