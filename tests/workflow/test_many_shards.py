"""Issue 4, must show 5: 5,000 questions in 50 shards, one shard fails, 49 are finished, the next start runs one."""

from __future__ import annotations

import fcntl
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rollout_helpers import Asked, call, completion, teacher
from workflow_helpers import BUCKET, HOME, RUN, generated_clone, jobs_in

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.skipif(not (HOME / ".cache" / "chat_template").is_dir(), reason="python scripts/fetch_template.py"),
]

QUESTIONS, SHARDS = 5000, 50


def look_it_up(asked: Asked) -> Mapping[str, Any]:
    """A search, then the answer."""
    number = asked.question.removeprefix("What is item ").removesuffix("?")
    if asked.turn == 0:
        return completion(None, calls=[call("search", {"query": f"item {number}"})])
    return completion(f"<answer>thing {number}</answer>")


def test_one_failed_shard_of_fifty_is_the_only_one_to_run_again(tmp_path: Path) -> None:
    clone = generated_clone(tmp_path / "clone", QUESTIONS, SHARDS)
    args = ("--configfile", "run.yaml", "--until", "sample_shard", "--", RUN)
    shards = clone.root / "results" / RUN / "shards" / BUCKET
    journal = clone.root / "results" / RUN / "state" / "journal" / BUCKET / f"0017-of-{SHARDS:04d}.jsonl"
    journal.parent.mkdir(parents=True)
    with teacher(look_it_up) as server:
        clone.env.update(server.env)
        with journal.open("wb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)  # that shard's job fails: another writer is at its journal
            first = clone.snakemake(*args, timeout=3600)
        assert first.returncode == 1, first.stdout[-3000:]
        finished = sorted(path.name for path in shards.glob("*.questions.jsonl"))
        assert len(finished) == SHARDS - 1
        assert f"0017-of-{SHARDS:04d}.questions.jsonl" not in finished
        paid = server.received
        times = {path.name: path.stat().st_mtime_ns for path in shards.iterdir()}
        second = clone.snakemake(*args, timeout=3600)
        assert second.returncode == 0, second.stdout[-3000:]
        assert jobs_in(second.stdout) == Counter(sample_shard=1)
        assert all((shards / name).stat().st_mtime_ns == when for name, when in times.items())
        assert paid < server.received == 2 * QUESTIONS
        assert max(server.answered.values()) == 1
        assert len(server.tool_calls) == sum(server.tool_calls.values()) == QUESTIONS
    ends = [json.loads(line) for path in shards.glob("*.questions.jsonl") for line in path.open(encoding="utf-8")]
    assert len({end["id"] for end in ends}) == len(ends) == QUESTIONS
    assert {end["samples"] for end in ends} == {1}
