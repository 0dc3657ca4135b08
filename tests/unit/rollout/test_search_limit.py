"""The question's limit of billed searches: over kills, over adopted samples, and when it is raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rollout_helpers import (
    Asked,
    StubBooks,
    StubGrader,
    StubSession,
    call,
    completion,
    lines,
    question,
    run,
    settings,
    teacher,
)
from tir_distill.records import Question, Stopped, ToolCall, ToolResult, Verdict, write_jsonl
from tir_distill.rollout.assemble import with_lower_limits


class Purse(StubBooks):
    """A ledger that counts each question's paid searches and says where the limit is."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.question_limit = limit
        self.elsewhere: dict[str, int] = {}

    def pay(self, question_id: str) -> bool:
        if self.billed[question_id] >= self.question_limit - self.elsewhere.get(question_id, 0):
            return False
        self.billed[question_id] += 1
        return True

    async def open_session(self, asked: Question, sample: int, fingerprint: str) -> Paying:
        return Paying(f"{asked.id}#{sample}", purse=self, question_id=asked.id)

    def rooms(self) -> dict[str, Any]:
        return {"books": self, "open_session": self.open_session, "note_adopted": self.elsewhere.update}


@dataclass
class Paying(StubSession):
    purse: Purse | None = None
    question_id: str = ""

    async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
        assert self.purse is not None
        if not self.purse.pay(self.question_id):
            return ToolResult(
                call_id=asked.id, name="search", status="ok", content="limit", meta={"billed": 0, "cap": "question"}
            )
        return await super().call(asked, made=made)


def searching(asked: Asked) -> Mapping[str, Any]:
    """Eight searches at most; sample 2 is right."""
    if asked.turn < 8 and not asked.told_to_answer:
        return completion(calls=[call("search", {"query": f"{asked.sample} {asked.turn}"})])
    return completion("<answer>right</answer>" if asked.sample == 2 else "<answer>wrong</answer>")


def limits(question_limit: int, **plan: int) -> dict[str, Any]:
    return settings(
        plan={"max_search_per_question": question_limit, **plan}, sampling={"max_search_per_traj": 8, "max_turns": 12}
    )


def summary(folder: Path) -> tuple[str, int, list[int], list[int]]:
    (end,) = lines(folder / "q.jsonl")
    rows = lines(folder / "t.jsonl")
    return (
        end["status"],
        end["searches_billed"],
        [row["sample_index"] for row in rows],
        [row["searches_billed"] for row in rows],
    )


class FailsOnce(StubGrader):
    """The judge is down when the right answer comes for the first time."""

    down = True

    async def grade(self, asked: Question, answer: str | None) -> Verdict:
        if answer == "right" and self.down:
            self.down = False
            return Verdict(correct=None, path="judge_failed", detail="502")
        return await super().grade(asked, answer)


def test_a_sample_that_took_the_last_searches_is_finished_after_an_interruption(tmp_path: Path) -> None:
    """Samples 0 and 1 pay 8 each, sample 2 the last 8 of 24, and then its grade is missing."""
    books = Purse(24)
    with teacher(searching) as server:
        with pytest.raises(Stopped, match="judge_failed"):
            run(tmp_path, [question(1)], server, limits(24), grader=FailsOnce(), **books.rooms())
        assert books.billed["q1"] == 24
        before = server.received
        run(tmp_path, [question(1)], server, limits(24), **books.rooms())
        assert server.received == before  # it was only graded
    assert summary(tmp_path) == ("accepted", 24, [0, 1, 2], [8, 8, 8])


def test_the_same_when_another_sample_of_the_question_is_void(tmp_path: Path) -> None:
    """Sample 0 pays 4 and is refused for good, sample 1 pays 8, sample 2 the last 8 of 20, and its grade is missing."""

    def script(asked: Asked) -> Mapping[str, Any]:
        if asked.sample == 0 and asked.turn == 4:
            return {"_status": 400, "_body": b"data_inspection_failed"}
        return searching(asked)

    books = Purse(20)
    with teacher(script) as server:
        with pytest.raises(Stopped, match="judge_failed"):
            run(tmp_path, [question(1)], server, limits(20), grader=FailsOnce(), **books.rooms())
        run(tmp_path, [question(1)], server, limits(20), **books.rooms())
    assert summary(tmp_path) == ("accepted", 20, [1, 2], [8, 8])


def test_adopted_searches_count_against_the_limit(tmp_path: Path) -> None:
    """The pilot paid 8 of 10 for sample 0: 2 are left for sample 1, and none for a third."""
    pilot, full = Purse(10), Purse(10)
    with teacher(searching) as server:
        run(tmp_path / "pilot", [question(1)], server, limits(10, k_first=1, k_max=1), **pilot.rooms())
        assert summary(tmp_path / "pilot") == ("exhausted", 8, [0], [8])
        job = {"adopt": [tmp_path / "pilot"]}
        for _ in range(2):  # the second time from the journal alone
            run(tmp_path / "full", [question(1)], server, limits(10), job=job, **full.rooms())
            assert summary(tmp_path / "full") == ("stopped_question_budget", 10, [0, 1], [8, 2])
            assert full.elsewhere == {"q1": 8}
    assert (pilot.billed["q1"], full.billed["q1"]) == (8, 2)


def test_a_raised_limit_goes_on_where_the_old_one_had_ended(tmp_path: Path) -> None:
    """4 of 4 are paid in sample 0; with 100, samples 1 (8) and 2 (8, right) follow."""
    books = Purse(4)
    with teacher(searching) as server:
        run(tmp_path, [question(1)], server, limits(4), **books.rooms())
        assert summary(tmp_path) == ("stopped_question_budget", 4, [0], [4])
        books.question_limit = 100
        run(tmp_path, [question(1)], server, limits(100), **books.rooms())
    assert summary(tmp_path) == ("accepted", 20, [0, 1, 2], [4, 8, 8])


def test_lowered_limits_leave_everything_else() -> None:
    config = settings()
    lowered = with_lower_limits(config, 30)
    assert lowered["plan"]["max_search_per_question"] == 0  # 24 - 30
    assert lowered["plan"]["max_search_per_question_text"] == 20  # 50 - 30
    assert config["plan"]["max_search_per_question"] == 24
    assert {key: value for key, value in lowered.items() if key != "plan"} == {
        key: value for key, value in config.items() if key != "plan"
    }


def test_the_command_keeps_the_limit_over_adopted_samples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the real rooms: 8 of 10 came with the pilot's sample, so the full run buys 2, and the provider sees 10."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[3] / "scripts"))
    import distill_trajectories as distill

    write_jsonl(tmp_path / "q.jsonl", [question(1).to_dict()])

    def sample(name: str, *words: str) -> tuple[str, int, list[int], list[int]]:
        out = tmp_path / "out" / name
        places = ["--in", str(tmp_path / "q.jsonl"), "--img-root", str(tmp_path), "--out", str(out)]
        distill.main(distill._parser().parse_args([*places, "--max-search-per-question", "10", *words]))
        shard = out / "shards" / "all"
        (end,) = lines(shard / "0000-of-0001.questions.jsonl")
        rows = lines(shard / "0000-of-0001.trajectories.jsonl")
        counts = [row["searches_billed"] for row in rows]
        return end["status"], end["searches_billed"], [row["sample_index"] for row in rows], counts

    with teacher(searching) as server:
        for key, value in server.env.items():
            monkeypatch.setenv(key, value)
        assert sample("pilot", "--k-max", "1") == ("exhausted", 8, [0], [8])
        adopted = sample("full", "--adopt", str(tmp_path / "out" / "pilot"))
        assert adopted == ("stopped_question_budget", 10, [0, 1], [8, 2])
        assert sum(server.tool_calls.values()) == 10
