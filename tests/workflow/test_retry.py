"""RULINGS 8: given-up questions are ended, and opened again only when asked, in the shards that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rollout_helpers import Asked, completion, lines, teacher
from workflow_helpers import BUCKET, HOME, RUN, generated_clone, jobs_in

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.skipif(not (HOME / ".cache" / "chat_template").is_dir(), reason="python scripts/fetch_template.py"),
]


def test_retry_deferred_is_a_target_of_its_own(tmp_path: Path) -> None:
    clone = generated_clone(tmp_path / "clone", 6, 2, engine={"deferred_attempts": 1, "attempts": 1})
    sampling = ("--configfile", "run.yaml", "--until", "sample_shard", "--", RUN)
    retry = ("--configfile", "run.yaml", "--", "retry_deferred")
    shards = clone.root / "results" / RUN / "shards" / BUCKET
    sick = True

    def script(asked: Asked) -> Mapping[str, Any]:
        return {"_status": 504} if sick and asked.question == "What is item 1?" else completion("<answer>x</answer>")

    def statuses() -> dict[str, str]:
        return {end["id"]: end["status"] for path in shards.glob("*.questions.jsonl") for end in lines(path)}

    with teacher(script) as server:
        clone.env.update(server.env)
        first = clone.snakemake(*sampling)
        assert first.returncode == 0, first.stdout[-3000:]
        assert statuses() == {f"g{i}": "deferred" if i == 1 else "exhausted" for i in range(6)}
        asked = server.received
        assert "sample_shard" not in clone.planned(*sampling)
        again = clone.snakemake(*retry)  # still sick: it ends as it was, and only its shard was looked at
        assert again.returncode == 0, again.stdout[-3000:]
        assert jobs_in(again.stdout)["retry_deferred_shard"] == 1
        assert server.received == asked + 1
        sick = False
        assert clone.snakemake(*retry).returncode == 0
        assert statuses() == {f"g{i}": "exhausted" for i in range(6)}
        assert server.received == asked + 2
        assert clone.planned(*retry) == Counter(retry_deferred=1)
        assert "sample_shard" not in clone.planned(*sampling)
        assert max(server.answered.values()) == 1
