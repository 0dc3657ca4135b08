"""A shard from questions to files: resuming, adopting, deferring, stopping."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from rollout_helpers import (
    Asked,
    FaultMix,
    StubBooks,
    StubFail,
    StubGrader,
    StubReport,
    StubSession,
    StubStop,
    call,
    completion,
    essence,
    job_for,
    lines,
    question,
    run,
    settings,
    stub_rooms,
    teacher,
)
from tir_distill.records import (
    Picture,
    Question,
    Stopped,
    TirError,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
    Verdict,
    read_json,
    write_jsonl,
)
from tir_distill.rollout import Journal, sample_shard, tool_schemas
from tir_distill.rollout.journal import scan
from tir_distill.teacher import RetryPolicy

ONCE = RetryPolicy(attempts=1, first_wait_s=0.0)
QUESTIONS = [question(i) for i in range(12)]


def right(asked: Asked) -> Mapping[str, Any]:
    return completion("<answer>right</answer>")


def test_outputs_hold_every_sample_and_question_in_hand_over_order(tmp_path: Path) -> None:
    questions = [replace(q, priority="P2" if i % 2 else "P0") for i, q in enumerate(QUESTIONS)]
    with teacher() as server:
        report = run(tmp_path, questions, server)
    rows, ends = lines(tmp_path / "t.jsonl"), lines(tmp_path / "q.jsonl")
    assert [end["id"] for end in ends] == [q.id for q in questions]
    order = [(row["id"], row["sample_index"]) for row in rows]
    rank = {q.id: i for i, q in enumerate(questions)}
    assert order == sorted(order, key=lambda pair: (rank[pair[0]], pair[1]))
    assert sum(end["samples"] for end in ends) == len(rows) == report.samples_taken
    assert Counter(end["status"] for end in ends) == Counter(report.statuses)
    for end in ends:
        mine = [row for row in rows if row["id"] == end["id"]]
        best = next((row["sample_index"] for row in mine if row["accepted"]), None)
        assert end["accepted_sample"] == best
        assert (end["status"] == "accepted") is (best is not None)
        assert end["searches_billed"] == sum(row["searches_billed"] for row in mine)
    trajectory = Trajectory.from_dict(rows[0])
    assert trajectory.versions["sandbox_stub"] == "yes"
    assert {"package", "prompt", "tools", "protocol", "config"} <= set(trajectory.versions)
    assert trajectory.filter_hash == "stub"


def test_two_runs_are_equal_whatever_the_order_of_arrival(tmp_path: Path) -> None:
    with teacher() as server:
        run(tmp_path / "a", QUESTIONS, server, job=_into(tmp_path / "a"))
        server.latency = 0.003
        one = settings(engine={"concurrency": 1})
        run(tmp_path / "b", QUESTIONS[::-1], server, one, job=_into(tmp_path / "b"))
    assert sorted(essence(tmp_path / "a" / "t.jsonl")) == sorted(essence(tmp_path / "b" / "t.jsonl"))


def _into(folder: Path) -> dict[str, Any]:
    return {"run_dir": folder, "trajectories": folder / "t.jsonl", "questions_out": folder / "q.jsonl"}


def test_a_second_run_pays_nothing_and_a_longer_list_pays_for_the_new_ones(tmp_path: Path) -> None:
    with teacher() as server:
        run(tmp_path, QUESTIONS[:6], server)
        first, paid = essence(tmp_path / "t.jsonl"), server.received
        run(tmp_path, QUESTIONS[:6], server)
        assert server.received == paid
        report = run(tmp_path, [*QUESTIONS[6:9], *QUESTIONS[:6][::-1]], server)  # shuffled, three new ones at the top
        assert server.received > paid
    assert sorted(first) == sorted(e for e in essence(tmp_path / "t.jsonl") if e[0] in {q.id for q in QUESTIONS[:6]})
    assert {e[0] for e in essence(tmp_path / "t.jsonl")} == {q.id for q in QUESTIONS[:9]}
    assert report.questions == 9


def test_a_torn_journal_costs_only_its_last_line(tmp_path: Path) -> None:
    with teacher() as server:
        run(tmp_path, QUESTIONS, server)
        whole = essence(tmp_path / "t.jsonl")
        journal = next((tmp_path / "state" / "journal" / "demo").glob("*.jsonl"))
        data = journal.read_bytes()
        journal.write_bytes(data[:-7])  # the last line was a finished sample
        (tmp_path / "t.jsonl").unlink()
        before = server.received
        report = run(tmp_path, QUESTIONS, server)
        assert report.samples_taken == 1
        assert server.received == before  # its turns were in the journal
    assert essence(tmp_path / "t.jsonl") == whole


def test_a_changed_setting_samples_again_a_changed_plan_buys_what_is_missing(tmp_path: Path) -> None:
    def wrong(asked: Asked) -> Mapping[str, Any]:
        return completion("<answer>wrong</answer>")

    with teacher(wrong) as server:
        run(tmp_path, QUESTIONS[:2], server)
        assert server.received == 8
        run(tmp_path, QUESTIONS[:2], server, settings(plan={"k_max": 6}))
        assert server.received == 12
        run(tmp_path, QUESTIONS[:2], server, settings(engine={"concurrency": 3}, plan={"k_max": 6}))
        run(tmp_path, QUESTIONS[:2], server, settings(sampling={"max_turns_text": 9}, plan={"k_max": 6}))
        assert server.received == 12
        run(tmp_path, QUESTIONS[:2], server, settings(sampling={"temperature": 0.9}))
        assert server.received == 20
        changed = [replace(QUESTIONS[0], question="Something else?"), QUESTIONS[1]]
        run(tmp_path, changed, server, settings(plan={"k_max": 6}))
        assert server.received == 26


def test_repeated_ids_are_taken_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with teacher(right) as server:
        report = run(tmp_path, [QUESTIONS[0], QUESTIONS[1], QUESTIONS[0]], server)
    assert report.questions == 2
    assert [end["id"] for end in lines(tmp_path / "q.jsonl")] == ["q0", "q1"]
    assert "q0 is listed more than once" in caplog.text


# ---- adopting -------------------------------------------------------------------------------------------------------


def test_samples_of_another_run_cost_nothing(tmp_path: Path) -> None:
    pilot, full = tmp_path / "pilot", tmp_path / "full"
    with teacher() as server:
        run(pilot, QUESTIONS[:6], server, job=_into(pilot))
        paid, tools = server.received, sum(server.tool_calls.values())
        report = run(full, QUESTIONS[:6], server, job={**_into(full), "adopt": [pilot]})
        assert (server.received, sum(server.tool_calls.values())) == (paid, tools)
        assert (report.samples_taken, report.adopted) == (0, len(lines(pilot / "t.jsonl")))
        assert essence(full / "t.jsonl") == essence(pilot / "t.jsonl")
        report = run(full, QUESTIONS, server, job={**_into(full), "adopt": [pilot]})
        assert report.adopted == 0
        assert server.received > paid


def test_pictures_of_adopted_samples_come_along(tmp_path: Path) -> None:
    pilot, full = tmp_path / "pilot", tmp_path / "full"

    class Draws(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            from tir_distill.records import Picture

            (pilot / "tool_images").mkdir(parents=True, exist_ok=True)
            (pilot / "tool_images" / "abc.png").write_bytes(b"\x89PNG drawn")
            picture = Picture(path="tool_images/abc.png", sha256="abc", width=10, height=10)
            return ToolResult(call_id=asked.id, name="python", status="ok", content="", images=(picture,))

    async def draws(asked: Question, sample: int, fingerprint: str) -> StubSession:
        return Draws("x")

    def script(asked: Asked) -> Mapping[str, Any]:
        return completion("<answer>right</answer>") if asked.turn else completion(calls=[call("python", {"code": "x"})])

    with teacher(script) as server:
        read = (pilot / "tool_images" / "abc.png").read_bytes
        from tir_distill.rollout.prepare import Pictures

        pictures = Pictures(pilot, pilot)
        run(pilot, QUESTIONS[:1], server, job=_into(pilot), open_session=draws, read_picture=pictures.read)
        run(full, QUESTIONS[:1], server, job={**_into(full), "adopt": [pilot]})
    assert (full / "tool_images" / "abc.png").read_bytes() == read()


def test_a_sample_whose_picture_is_gone_is_sampled_again(tmp_path: Path) -> None:
    picture = Picture(path="tool_images/a.png", sha256="a", width=1, height=1)

    @dataclass
    class Draws(StubSession):
        folder: Path = tmp_path

        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            (self.folder / "tool_images").mkdir(exist_ok=True)
            Image.new("RGB", (1, 1)).save(self.folder / picture.path)
            return replace(await super().call(asked, made=made), images=(picture,))

    def sample(folder: Path, **job: Any) -> Any:
        async def draws(asked: Question, sample: int, fingerprint: str) -> StubSession:
            return Draws("x", folder=folder)

        return run(folder, QUESTIONS[:2], server, job=job, open_session=draws)

    def script(asked: Asked) -> Mapping[str, Any]:
        drawn = asked.turn == 0 and asked.question == "Question 1?"
        return completion(calls=[call("python", {"code": "1"})]) if drawn else right(asked)

    with teacher(script) as server:
        sample(tmp_path / "pilot")
        (tmp_path / "pilot" / picture.path).unlink()
        before = server.received
        report = sample(tmp_path / "full", adopt=[tmp_path / "pilot"])
        assert (report.adopted, report.samples_taken) == (2, 2)  # of q0, of q1
        assert server.received - before == 4


def test_another_fingerprint_is_not_adopted(tmp_path: Path) -> None:
    pilot, full = tmp_path / "pilot", tmp_path / "full"
    with teacher(right) as server:
        run(pilot, QUESTIONS[:2], server, job=_into(pilot))
        changed = [replace(QUESTIONS[0], answer="other"), QUESTIONS[1]]
        report = run(full, changed, server, job={**_into(full), "adopt": [pilot]})
    assert report.adopted == 2


# ---- deferring ------------------------------------------------------------------------------------------------------


def hang_one(asked: Asked) -> Mapping[str, Any]:
    return {"_status": 503} if asked.question == "Question 1?" else right(asked)


def test_a_question_that_always_fails_is_given_up_after_three_runs(tmp_path: Path) -> None:
    with teacher(hang_one) as server:
        for attempt in range(3):
            if attempt < 2:
                with pytest.raises(Stopped, match=r"deferred: 1 questions could not be sampled \(server\)"):
                    run(tmp_path, QUESTIONS[:4], server, retry=ONCE)
                assert not (tmp_path / "t.jsonl").exists()
                mark = read_json(tmp_path / "state" / "stop.json")
                assert (mark["reason"], mark["left"]) == ("deferred", 1)
            else:
                report = run(tmp_path, QUESTIONS[:4], server, retry=ONCE)
        assert report.statuses == {"accepted": 3, "deferred": 1}
        end = lines(tmp_path / "q.jsonl")[1]
        assert (end["status"], end["reason"], end["samples"]) == ("deferred", "server", 0)
        server.script = right
        report = run(tmp_path, QUESTIONS[:4], server, job={"retry_deferred": True})
        assert report.statuses == {"accepted": 4}


def test_other_samples_of_the_question_are_kept(tmp_path: Path) -> None:
    def one_sample_fails(asked: Asked) -> Mapping[str, Any]:
        return {"_status": 500} if asked.sample == 0 else right(asked)

    with teacher(one_sample_fails) as server:
        for _ in range(2):
            with pytest.raises(Stopped):
                run(tmp_path, QUESTIONS[:1], server, retry=ONCE)
        run(tmp_path, QUESTIONS[:1], server, retry=ONCE)
        assert sum(server.answered.values()) == 1
    end = lines(tmp_path / "q.jsonl")[0]
    assert (end["status"], end["samples"], end["accepted_sample"]) == ("accepted", 1, 1)


@pytest.mark.parametrize("body", [b"maximum context length is 100", b"data_inspection_failed"])
def test_a_sample_that_can_never_be_taken_makes_room_for_the_next_index(tmp_path: Path, body: bytes) -> None:
    def script(asked: Asked) -> Mapping[str, Any]:
        return {"_status": 400, "_body": body} if asked.sample == 0 else completion(f"<answer>{asked.sample}</answer>")

    with teacher(script) as server:
        report = run(tmp_path, QUESTIONS[:1], server)
    assert report.statuses == {"exhausted": 1}
    assert [row["sample_index"] for row in lines(tmp_path / "t.jsonl")] == [1, 2, 3, 4]


def test_a_question_that_is_always_refused_ends_in_one_run(tmp_path: Path) -> None:
    with teacher(lambda asked: {"_status": 400, "_body": b"content_filter"}) as server:
        report = run(tmp_path, QUESTIONS[:3], server)
        assert server.received == 3 * 3 * 2  # three indexes a question, two tries each
    assert report.statuses == {"deferred": 3}
    assert lines(tmp_path / "q.jsonl")[0]["reason"] == "refused"


def deferrals(folder: Path) -> list[tuple[str, int, str, bool]]:
    """Question, sample, reason and whether it is void, as the journal has them."""
    (path,) = (folder / "state" / "journal" / "demo").glob("*.jsonl")
    events = [event for _, _, event in scan(path) if event is not None]
    return sorted((e["q"], e["s"], e["reason"], e["void"]) for e in events if e["e"] == "deferred")


def test_a_bad_request_among_good_ones_voids_its_sample(tmp_path: Path) -> None:
    def script(asked: Asked) -> Mapping[str, Any]:
        bad = asked.sample == 0 and asked.question == "Question 1?"
        return {"_status": 400, "_body": b"messages[7] is wrong"} if bad else right(asked)

    with teacher(script) as server:
        assert run(tmp_path, QUESTIONS[:3], server).statuses == {"accepted": 3}
    assert deferrals(tmp_path) == [("q1", 0, "bad_request", True)]
    assert [row["sample_index"] for row in lines(tmp_path / "t.jsonl")] == [0, 1, 1, 2, 0, 1]


def test_an_endpoint_that_begins_to_refuse_every_request_voids_nothing(tmp_path: Path) -> None:
    """Turn 0 is answered, then the server takes no request any more: each sample goes on from turn 1 later."""
    closed = True

    def script(asked: Asked) -> Mapping[str, Any]:
        if asked.turn == 0:
            return completion(calls=[call("search", {"query": f"{asked.question} {asked.sample}"})])
        return {"_status": 400, "_body": b"this deployment is disabled"} if closed else right(asked)

    with teacher(script) as server:
        with pytest.raises(Stopped, match="endpoint_saturated"):
            run(tmp_path, QUESTIONS, server, settings(engine={"concurrency": 12}))
        assert {void for _, _, _, void in deferrals(tmp_path)} == {False}
        closed = False
        assert run(tmp_path, QUESTIONS, server).statuses == {"accepted": 12}
    rows = lines(tmp_path / "t.jsonl")
    assert [row["sample_index"] for row in rows] == [0, 1] * 12
    searched = server.tool_calls
    assert set(searched.values()) == {1}  # each search was paid for once


@pytest.mark.parametrize(
    "reply",
    [
        {"_status": 400, "_body": b'{"error":{"code":"Arrearage","message":"Access denied."}}'},
        {"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}},
    ],
)
def test_an_empty_account_stops_the_run_and_costs_no_sample(tmp_path: Path, reply: Mapping[str, Any]) -> None:
    left = 5

    def script(asked: Asked) -> Mapping[str, Any]:
        nonlocal left
        left -= 1
        return right(asked) if left >= 0 else reply

    with teacher(script) as server:
        with pytest.raises(Stopped, match="credits_exhausted"):
            run(tmp_path, QUESTIONS, server, settings(engine={"concurrency": 4}))
        assert not [void for _, _, _, void in deferrals(tmp_path) if void]
        left = 1000
        assert run(tmp_path, QUESTIONS, server).statuses == {"accepted": 12}
    assert [row["sample_index"] for row in lines(tmp_path / "t.jsonl")] == [0, 1] * 12


def test_max_tokens_beyond_the_served_context_stops_the_run_with_words(tmp_path: Path) -> None:
    body = b"This model's maximum context length is 8192 tokens. However, you requested 8892 tokens"
    with teacher(lambda asked: {"_status": 400, "_body": body}) as server:
        with pytest.raises(Stopped, match=r"context_length: .*--max-tokens.*12 of 12 questions left"):
            run(tmp_path, QUESTIONS, server, settings(engine={"concurrency": 2}))
        assert not [void for _, _, _, void in deferrals(tmp_path) if void]
        server.script = right
        assert run(tmp_path, QUESTIONS, server).statuses == {"accepted": 12}
    assert [row["sample_index"] for row in lines(tmp_path / "t.jsonl")] == [0, 1] * 12


def test_an_endpoint_that_answers_nobody_stops_with_a_count(tmp_path: Path) -> None:
    with teacher(faults=FaultMix(rate_limited=1.0, retry_after=0.01)) as server:
        with pytest.raises(Stopped, match=r"endpoint_saturated.*12 of 12 questions left"):
            run(tmp_path, QUESTIONS, server, settings(engine={"concurrency": 4}))
        assert server.received < 12 * 2 * 5
        assert read_json(tmp_path / "state" / "stop.json")["reason"] == "endpoint_saturated"
        server.faults = FaultMix()
        server.script = right
        assert run(tmp_path, QUESTIONS, server).statuses == {"accepted": 12}


def test_a_failed_judge_costs_no_teacher_and_is_no_wrong_answer(tmp_path: Path) -> None:
    class Broken(StubGrader):
        async def grade(self, asked: Question, answer: str | None) -> Verdict:
            return Verdict(correct=None, path="judge_failed", detail="502")

    with teacher(right) as server:
        with pytest.raises(Stopped, match="judge_failed"):
            run(tmp_path, QUESTIONS[:2], server, grader=Broken())
        assert server.received == 4
        assert run(tmp_path, QUESTIONS[:2], server).statuses == {"accepted": 2}
        assert server.received == 4


def test_after_the_last_attempt_an_ungraded_sample_is_kept(tmp_path: Path) -> None:
    class Broken(StubGrader):
        async def grade(self, asked: Question, answer: str | None) -> Verdict:
            return Verdict(correct=None, path="judge_failed", detail="no clear verdict")

    with teacher(right) as server:
        for _ in range(2):
            with pytest.raises(Stopped):
                run(tmp_path, QUESTIONS[:1], server, grader=Broken())
        run(tmp_path, QUESTIONS[:1], server, grader=Broken())
    assert {row["verdict"]["path"] for row in lines(tmp_path / "t.jsonl")} == {"judge_failed"}


def test_a_tool_that_fails_on_our_side_is_never_a_sample(tmp_path: Path) -> None:
    class Down(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            return ToolResult(call_id=asked.id, name="search", status="infrastructure", content="502")

    async def down(asked: Question, sample: int, fingerprint: str) -> StubSession:
        return Down("x")

    with teacher(lambda asked: completion(calls=[call("search", {"query": "a"})])) as server:
        with pytest.raises(Stopped, match="tool_search"):
            run(tmp_path, QUESTIONS[:1], server, open_session=down)
        assert server.received == 2
        server.script = lambda asked: right(asked) if asked.turn else completion(calls=[call("search", {"query": "a"})])
        run(tmp_path, QUESTIONS[:1], server)
        assert server.received == 4  # the first replies were remembered
    assert all(r["status"] == "ok" for row in lines(tmp_path / "t.jsonl") for t in row["turns"] for r in t["results"])


def test_a_bug_in_one_conversation_holds_up_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Buggy(StubGrader):
        async def grade(self, asked: Question, answer: str | None) -> Verdict:
            if asked.id == "q1":
                raise ZeroDivisionError("oops")
            return await super().grade(asked, answer)

    with teacher(right) as server:
        for _ in range(2):
            with pytest.raises(Stopped, match="internal"):
                run(tmp_path, QUESTIONS[:3], server, grader=Buggy())
        report = run(tmp_path, QUESTIONS[:3], server, grader=Buggy())
    assert report.statuses == {"accepted": 2, "deferred": 1}
    assert "ZeroDivisionError" in caplog.text


# ---- stopping -------------------------------------------------------------------------------------------------------


def test_half_an_emoji_in_a_call_left_as_text_is_searched_for_as_a_replacement(tmp_path: Path) -> None:
    def script(asked: Asked) -> Mapping[str, Any]:
        if asked.turn == 0:
            return completion('<tool_call>{"name": "search", "arguments": {"query": "flag \\ud83d"}}</tool_call>')
        return right(asked)

    with teacher(script) as server:
        assert run(tmp_path, QUESTIONS[:2], server).statuses == {"accepted": 2}
    for row in lines(tmp_path / "t.jsonl"):
        assert row["turns"][0]["calls"][0]["arguments"] == '{"query":"flag \ufffd"}'


def test_a_result_that_cannot_be_written_sets_one_question_aside(tmp_path: Path) -> None:
    class Odd(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            return ToolResult(call_id=asked.id, name="search", status="ok", content="half \ud83d")

    async def odd(asked: Question, sample: int, fingerprint: str) -> StubSession:
        return Odd("x")

    def script(asked: Asked) -> Mapping[str, Any]:
        return completion(calls=[call("search", {"query": "a"})]) if asked.question == "Question 1?" else right(asked)

    with teacher(script) as server:
        for _ in range(2):
            with pytest.raises(Stopped, match=r"unwritable\); 1 of 3 questions left"):
                run(tmp_path, QUESTIONS[:3], server, open_session=odd)
        assert run(tmp_path, QUESTIONS[:3], server, open_session=odd).statuses == {"accepted": 2, "deferred": 1}


def test_the_words_of_an_unexpected_error_are_not_kept(tmp_path: Path) -> None:
    """Errors of HTTP packages quote the header that they could not send."""

    class Buggy(StubGrader):
        async def grade(self, asked: Question, answer: str | None) -> Verdict:
            raise UnicodeEncodeError("latin-1", "Bearer sesame\u2011open", 13, 14, "ordinal not in range(256)")

    with teacher(right) as server, pytest.raises(Stopped, match="internal"):
        run(tmp_path, QUESTIONS[:1], server, grader=Buggy())
    (path,) = (tmp_path / "state" / "journal" / "demo").glob("*.jsonl")
    (event,) = [e for _, _, e in scan(path) if e is not None and e["e"] == "deferred"]
    assert event["detail"].startswith("UnicodeEncodeError at test_shard.py:")
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"sesame" in file.read_bytes()]


def test_a_stop_flag_ends_the_run_and_nothing_is_written(tmp_path: Path) -> None:
    books = StubBooks(flag=StubStop("credits_exhausted", "Not enough credits"))
    with teacher(latency=0.3) as server:
        with pytest.raises(Stopped, match="credits_exhausted: Not enough credits"):
            run(tmp_path, [question(i) for i in range(40)], server, settings(engine={"concurrency": 4}), books=books)
        assert not (tmp_path / "q.jsonl").exists()
        server.latency = 0
        run(tmp_path, [question(i) for i in range(40)], server)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_what_does_not_end_in_time_for_the_next_run(tmp_path: Path, number: int) -> None:
    """Shared case A 8: eight conversations under way, none becomes a row, the next run finishes exactly them."""
    config = settings(engine={"grace_seconds": 0.2, "concurrency": 8})

    async def main(url: str) -> None:
        async with stub_rooms(config, url) as rooms:
            task = asyncio.create_task(sample_shard(config, job_for(tmp_path, QUESTIONS[:4]), rooms))
            await asyncio.sleep(0.4)
            os.kill(os.getpid(), number)
            await task

    with teacher(right, latency=30) as server:
        with pytest.raises(Stopped, match=f"operator: {signal.Signals(number).name} received; 4 of 4 questions left"):
            asyncio.run(main(server.url))
        assert not (tmp_path / "t.jsonl").exists()
        server.latency = 0
        assert run(tmp_path, QUESTIONS[:4], server).samples_taken == 8


def test_conversations_that_end_within_the_grace_period_are_kept(tmp_path: Path) -> None:
    config = settings(engine={"grace_seconds": 5, "concurrency": 8})

    async def main(url: str) -> None:
        async with stub_rooms(config, url) as rooms:
            task = asyncio.create_task(sample_shard(config, job_for(tmp_path, QUESTIONS), rooms))
            await asyncio.sleep(0.3)
            os.kill(os.getpid(), signal.SIGTERM)
            await task

    with teacher(right, latency=0.6) as server:
        with pytest.raises(Stopped, match="operator"):
            asyncio.run(main(server.url))
        paid = server.received
        assert paid == 8
        run(tmp_path, QUESTIONS, server)
        assert server.received == 24


def test_a_second_signal_does_not_wait_for_the_grace_period(tmp_path: Path) -> None:
    config = settings(engine={"grace_seconds": 60, "concurrency": 8})

    async def main(url: str) -> None:
        async with stub_rooms(config, url) as rooms:
            task = asyncio.create_task(sample_shard(config, job_for(tmp_path, QUESTIONS[:2]), rooms))
            for wait in (0.3, 0.01, 0.7):  # the second comes too soon to be another one
                await asyncio.sleep(wait)
                os.kill(os.getpid(), signal.SIGINT)
                assert not task.done()
            await task

    with teacher(right, latency=30) as server:
        start = time.monotonic()
        with pytest.raises(Stopped, match="operator"):
            asyncio.run(main(server.url))
        assert time.monotonic() - start < 20


def test_two_processes_on_one_shard_are_refused(tmp_path: Path) -> None:
    held = Journal(tmp_path / "state" / "journal" / "demo" / "0000-of-0001.jsonl")
    with teacher(right) as server, pytest.raises(TirError, match="another process is sampling this shard"):
        run(tmp_path, QUESTIONS[:1], server)
    held.close()


# ---- pictures -------------------------------------------------------------------------------------------------------


def png(width: int = 4, height: int = 4) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("gone.png", None, "No such file"),
        ("empty.png", b"", "neither PNG"),
        ("text.png", b"<html>", "neither PNG"),
        ("cut.png", png()[:20], "Truncated"),
        ("../secret.png", png(), "outside"),
        ("a b 图.png", png(), None),
    ],
)
def test_bad_pictures_set_one_question_aside(
    tmp_path: Path, name: str, content: bytes | None, reason: str | None
) -> None:
    root = tmp_path / "handover"
    root.mkdir()
    if content is not None:
        (root / name).write_bytes(content)
    from tir_distill.rollout.prepare import Pictures

    with teacher(right) as server:
        run(
            tmp_path,
            [question(0, images=(name,)), question(1)],
            server,
            job={"image_root": root},
            read_picture=Pictures(root, tmp_path).read,
        )
    first, second = lines(tmp_path / "q.jsonl")
    assert second["status"] == "accepted"
    if reason is None:
        assert first["status"] == "accepted"
    else:
        assert first["status"] == "deferred"
        assert reason in first["reason"]


def test_a_changed_picture_is_another_question(tmp_path: Path) -> None:
    from tir_distill.rollout.prepare import Pictures

    asked = [question(0, images=("a.png",))]
    with teacher(right) as server:
        for size, paid in ((4, 2), (4, 2), (5, 4)):
            (tmp_path / "a.png").write_bytes(png(size, size))
            run(tmp_path, asked, server, read_picture=Pictures(tmp_path, tmp_path).read)
            assert server.received == paid


def test_text_mode_sends_no_tools_and_reads_calls_from_text(tmp_path: Path) -> None:
    def script(asked: Asked) -> Mapping[str, Any]:
        assert "tools" not in asked.body
        if asked.turn:
            return completion("<answer>right</answer>", thinking=None)
        return completion('<think>I look.</think><tool_call>{"action":"search","query":"a"}', thinking=None)

    with teacher(script) as server:
        run(tmp_path, QUESTIONS[:1], server, settings(sampling={"text_protocol": True}))
    row = lines(tmp_path / "t.jsonl")[0]
    assert row["protocol"] == "text"
    assert row["turns"][0]["calls"][0]["arguments"] == '{"query":"a"}'
    assert row["turns"][0]["thinking"] == "I look."
    assert row["tools"] == list(tool_schemas())


def test_large_rows_of_many_conversations_are_all_there(tmp_path: Path) -> None:
    """Shared case A 13: 300 kB rows, 256 conversations at once."""
    long = "x" * 300_000

    def script(asked: Asked) -> Mapping[str, Any]:
        return completion("<answer>right</answer>", thinking=f"{asked.seed} {long}")

    with teacher(script) as server:
        config = settings(engine={"concurrency": 256, "request_timeout": 60}, plan={"k_max": 1})
        report = run(tmp_path, [question(i) for i in range(256)], server, config)
    rows = lines(tmp_path / "t.jsonl")
    assert report.samples_taken == len(rows) == len({row["id"] for row in rows}) == 256
    assert all(row["turns"][0]["thinking"] == f"{row['seed']} {long}" for row in rows)


def test_a_flag_that_is_already_up_asks_nobody(tmp_path: Path) -> None:
    books = StubBooks(flag=StubStop("operator", "stop"))
    with teacher() as server:
        with pytest.raises(Stopped, match="operator"):
            run(tmp_path, QUESTIONS, server, books=books)
        assert server.received == 0


@pytest.mark.parametrize("status", [401, 429])
def test_other_shards_are_told_that_the_endpoint_is_out(tmp_path: Path, status: int) -> None:
    books = StubBooks()
    with teacher(lambda asked: {"_status": status, "_body": b"no"}) as server, pytest.raises(Stopped):
        run(tmp_path, QUESTIONS, server, retry=ONCE, books=books)
    assert books.flag is not None
    assert books.flag.reason == ("bad_key" if status == 401 else "endpoint_saturated")


def test_a_signal_to_one_shard_is_not_the_others_business(tmp_path: Path) -> None:
    books = StubBooks()

    async def main(url: str) -> None:
        async with stub_rooms(settings(), url, books=books) as rooms:
            task = asyncio.create_task(sample_shard(settings(), job_for(tmp_path, QUESTIONS), rooms))
            await asyncio.sleep(0.2)
            os.kill(os.getpid(), signal.SIGTERM)
            await task

    with teacher(latency=0.5) as server, pytest.raises(Stopped, match="operator"):
        asyncio.run(main(server.url))
    assert books.flag is None


def test_a_damaged_line_drops_what_was_said_after_it(tmp_path: Path) -> None:
    """The second reply is lost: the third answered a history that nobody can show any more."""

    def three(asked: Asked) -> Mapping[str, Any]:
        if asked.turn < 3:
            return completion(calls=[call("search", {"query": f"{asked.turn} after {len(asked.observations)}"})])
        return completion("<answer>right</answer>")

    one = settings(plan={"k_first": 1, "k_max": 1})
    with teacher(three) as server:
        run(tmp_path, QUESTIONS[:1], server, one)
        path = next((tmp_path / "state" / "journal" / "demo").glob("*.jsonl"))
        kept = path.read_bytes().split(b"\n")[:-2]  # without the finished sample
        place = [i for i, line in enumerate(kept) if b'"e":"reply"' in line][1]
        kept[place] = kept[place].replace(b"reply", b"rep1y")
        path.write_bytes(b"\n".join(kept) + b"\n")
        before = server.received
        run(tmp_path, QUESTIONS[:1], server, one)
        assert server.received - before == 3  # turns 1, 2 and 3
    (row,) = lines(tmp_path / "t.jsonl")
    assert [turn["calls"][0]["arguments"] for turn in row["turns"][:3]] == [
        f'{{"query":"{n} after {n}"}}' for n in range(3)
    ]


def test_top_up_buys_where_the_filters_accepted_nothing_and_stays_in_force(tmp_path: Path) -> None:
    """RULINGS 2: a changed filter buys nothing by itself; asked for, it buys what the plan still allows."""
    with teacher(right) as server:
        run(tmp_path, QUESTIONS[:2], server)
        assert server.received == 4
        rows = lines(tmp_path / "t.jsonl")
        for row in rows:  # the filter stage's word: q0 loses both of its samples, q1 keeps one
            row["accepted"] = row["id"] == "q1" and row["sample_index"] == 0
        filtered = tmp_path / "f.jsonl"
        write_jsonl(filtered, rows)
        run(tmp_path, QUESTIONS[:2], server)
        assert server.received == 4
        run(tmp_path, QUESTIONS[:2], server, job={"top_up": filtered})
        assert server.received == 5
        (q0, q1) = lines(tmp_path / "q.jsonl")
        assert (q0["samples"], q0["accepted_sample"], q1["samples"], q1["accepted_sample"]) == (3, 2, 2, 0)
        run(tmp_path, QUESTIONS[:2], server)
        assert server.received == 5
        assert lines(tmp_path / "q.jsonl")[0]["accepted_sample"] == 2


def test_top_up_also_takes_over_what_the_filters_accept(tmp_path: Path) -> None:
    """Sampled under strict filters, which were loosened since: the question needs no further sample."""
    two, four = settings(plan={"k_max": 2}), settings(plan={"k_max": 4})
    with teacher(right) as server:
        report = run(tmp_path, QUESTIONS[:1], server, two, evaluate=lambda row: StubReport((StubFail("F9"),)))
        assert (report.statuses, server.received) == ({"exhausted": 1}, 2)
        rows = lines(tmp_path / "t.jsonl")
        rows[1]["accepted"] = True
        write_jsonl(tmp_path / "f.jsonl", rows)
        report = run(tmp_path, QUESTIONS[:1], server, four, job={"top_up": tmp_path / "f.jsonl"})
        assert (report.statuses, server.received) == ({"accepted": 1}, 2)
    assert lines(tmp_path / "q.jsonl")[0]["accepted_sample"] == 1


def test_verdicts_on_samples_of_other_settings_are_passed_over(tmp_path: Path) -> None:
    cooler = settings(sampling={"temperature": 0.7})
    with teacher(right) as server:
        run(tmp_path, QUESTIONS[:1], server)
        rows = [row | {"accepted": False} for row in lines(tmp_path / "t.jsonl")]
        write_jsonl(tmp_path / "f.jsonl", rows)
        run(tmp_path, QUESTIONS[:1], server, cooler)
        assert server.received == 4
        run(tmp_path, QUESTIONS[:1], server, cooler, job={"top_up": tmp_path / "f.jsonl"})
        assert server.received == 4
    assert lines(tmp_path / "q.jsonl")[0]["status"] == "accepted"


def test_a_picture_that_goes_away_puts_one_question_aside(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    with_picture = replace(QUESTIONS[0], images=("a.png",))

    def gone(asked: Asked) -> Mapping[str, Any]:
        (tmp_path / "a.png").unlink(missing_ok=True)
        return completion("<answer>wrong</answer>")

    with teacher(gone) as server, pytest.raises(Stopped, match="bad_picture"):
        run(tmp_path, [with_picture, *QUESTIONS[1:3]], server, settings(engine={"concurrency": 1}))


# ---- a selection of a run's questions -------------------------------------------------------------------------------


def select(folder: Path, server: Any, ids: set[str], config: Any = None, **job: Any) -> Any:
    return run(folder, QUESTIONS, server, config, job={"selected": frozenset(ids), **job})


def test_sampling_a_few_questions_keeps_the_others_in_the_files(tmp_path: Path) -> None:
    with teacher() as server:
        run(tmp_path, QUESTIONS, server)
        rows, ends, paid = lines(tmp_path / "t.jsonl"), lines(tmp_path / "q.jsonl"), server.received
        report = select(tmp_path, server, {"q3", "q5"})
        assert server.received == paid
    assert lines(tmp_path / "t.jsonl") == rows
    assert lines(tmp_path / "q.jsonl") == ends
    assert (report.questions, report.kept, report.unfinished) == (12, 10, 0)


def test_a_selection_grows_into_the_whole_run(tmp_path: Path) -> None:
    with teacher() as server:
        assert select(tmp_path, server, {"q1"}).questions == 1
        report = select(tmp_path, server, {"q0", "q7"})
        assert [end["id"] for end in lines(tmp_path / "q.jsonl")] == ["q0", "q1", "q7"]
        assert {row["id"] for row in lines(tmp_path / "t.jsonl")} == {"q0", "q1", "q7"}
        assert (report.questions, report.kept) == (3, 1)
        run(tmp_path, QUESTIONS, server)
    with teacher() as server:
        run(tmp_path / "once", QUESTIONS, server, job=_into(tmp_path / "once"))
    assert essence(tmp_path / "t.jsonl") == essence(tmp_path / "once" / "t.jsonl")


def test_a_question_that_has_only_begun_is_counted_and_left_for_later(tmp_path: Path) -> None:
    with teacher(hang_one) as server:
        with pytest.raises(Stopped):
            run(tmp_path, QUESTIONS[:4], server, retry=ONCE)
        report = select(tmp_path, server, {"q0", "q9"})
        assert (report.questions, report.kept, report.unfinished) == (4, 2, 1)
        assert [end["id"] for end in lines(tmp_path / "q.jsonl")] == ["q0", "q2", "q3", "q9"]
        server.script = right
        assert run(tmp_path, QUESTIONS[:4], server).statuses == {"accepted": 4}


def test_a_larger_plan_for_a_few_leaves_the_others_ended_as_they_were(tmp_path: Path) -> None:
    with teacher(lambda asked: completion("<answer>wrong</answer>")) as server:
        run(tmp_path, QUESTIONS[:4], server)
        report = select(tmp_path, server, {"q1"}, settings(plan={"k_max": 6}))
    assert (report.questions, report.samples_taken) == (4, 2)
    assert [(e["status"], e["samples"]) for e in lines(tmp_path / "q.jsonl")] == [
        ("exhausted", samples) for samples in (4, 6, 4, 4)
    ]


def test_a_few_questions_under_other_settings_are_refused_before_they_cost_the_others(tmp_path: Path) -> None:
    with teacher(right) as server:
        run(tmp_path, QUESTIONS[:4], server)
        before, paid = lines(tmp_path / "t.jsonl"), server.received
        with pytest.raises(UsageError, match=r"3 questions outside .* other settings"):
            select(tmp_path, server, {"q1"}, settings(sampling={"temperature": 0.5}))
        assert server.received == paid
    assert lines(tmp_path / "t.jsonl") == before


def test_retrying_a_few_opens_no_other_question(tmp_path: Path) -> None:
    def two_fail(asked: Asked) -> Mapping[str, Any]:
        return {"_status": 503} if asked.question in ("Question 1?", "Question 2?") else right(asked)

    once = settings(engine={"deferred_attempts": 1})
    with teacher(two_fail) as server:
        assert run(tmp_path, QUESTIONS[:3], server, once, retry=ONCE).statuses == {"accepted": 1, "deferred": 2}
        server.script = right
        select(tmp_path, server, {"q1"}, once, retry_deferred=True)
    assert [end["status"] for end in lines(tmp_path / "q.jsonl")] == ["accepted", "accepted", "deferred"]


# ---- attempts over runs (shared case A 7, RULINGS 8) ----------------------------------------------------------------


@pytest.mark.parametrize("hanging", [1, 2, 3])
def test_questions_that_always_hang_end_in_the_third_run(tmp_path: Path, hanging: int) -> None:
    """However many tries a run makes, and also where nothing else is left that the endpoint could answer."""
    ids = {f"Question {i}?" for i in range(hanging)}

    def hang(asked: Asked) -> Mapping[str, Any]:
        return {"_status": 504} if asked.question in ids else right(asked)

    with teacher(hang) as server:
        for _ in range(2):
            with pytest.raises(Stopped):
                run(tmp_path, QUESTIONS[:6], server)
        report = run(tmp_path, QUESTIONS[:6], server)
    assert report.statuses == {"accepted": 6 - hanging, "deferred": hanging}
    assert [end["reason"] for end in lines(tmp_path / "q.jsonl")][:hanging] == ["server"] * hanging


def test_two_hanging_questions_are_no_saturated_endpoint(tmp_path: Path) -> None:
    """They are put aside; the run's other shards are not told to stop."""
    books = StubBooks()
    ids = {"Question 0?", "Question 1?"}
    with teacher(lambda asked: {"_status": 504} if asked.question in ids else right(asked)) as server:
        for _ in range(2):
            with pytest.raises(Stopped, match=r"deferred: 2 questions could not be sampled \(server\)"):
                run(tmp_path, QUESTIONS[:2], server, books=books)
    assert books.flag is None


# ---- journals of other versions, full disks -------------------------------------------------------------------------


def test_a_journal_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    with teacher(right) as server:
        run(tmp_path, QUESTIONS[:1], server)
        (path,) = (tmp_path / "state" / "journal" / "demo").glob("*.jsonl")
        journal = Journal(path)
        (first, *_) = [event for _, _, event in journal.events()]
        assert first == {"e": "head", "format": 1}
        journal.append({"e": "head", "format": 2})
        journal.close()
        before = path.read_bytes()
        with pytest.raises(TirError, match=r"newer version \(journal format 2, this one reads 1\)"):
            run(tmp_path, QUESTIONS[:1], server)
        with pytest.raises(TirError, match="newer version"):
            run(tmp_path / "full", QUESTIONS[:1], server, job={**_into(tmp_path / "full"), "adopt": [tmp_path]})
        assert path.read_bytes() == before


def test_a_full_disk_while_sampling_or_writing_the_files_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = os.write, [40]

    def full(fd: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] < 0 and data.startswith(b'["'):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data)

    def no_room(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with teacher() as server:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(Stopped, match=r"disk_full: .*No space left on device; nothing is lost"):
            run(tmp_path, QUESTIONS, server)
        monkeypatch.setattr(os, "write", real)
        monkeypatch.setattr("tir_distill.rollout.shard.write_outputs", no_room)
        with pytest.raises(Stopped, match=r"disk_full: .*t\.jsonl: No space left on device; nothing is lost"):
            run(tmp_path, QUESTIONS, server)
        monkeypatch.undo()
        paid = server.received
        run(tmp_path, QUESTIONS, server)
        assert server.received == paid
        run(tmp_path / "calm", QUESTIONS, server, job=_into(tmp_path / "calm"))
    assert essence(tmp_path / "t.jsonl") == essence(tmp_path / "calm" / "t.jsonl")
