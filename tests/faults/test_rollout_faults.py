"""A teacher that fails in every way at once: nothing is lost, nothing is counted twice, no Retry-After is undercut."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from pathlib import Path

import pytest

from rollout_helpers import ROUGH, FaultMix, essence, lines, question, run, settings, teacher
from tir_distill.records import Stopped
from tir_distill.rollout import decide
from tir_distill.rollout.plan import Outcome
from tir_distill.rollout.settings import PlanSettings

QUESTIONS = [question(i) for i in range(60)]


def test_rough_teacher_every_question_ends_and_counts_add_up(tmp_path: Path) -> None:
    config = settings(engine={"request_timeout": 1.0, "concurrency": 32})
    with teacher() as server:
        run(tmp_path / "calm", QUESTIONS, server, config, job=_into(tmp_path / "calm"))
    with teacher(faults=ROUGH, seed=5) as server:
        for _ in range(3):  # three runs end every question, whatever the luck
            try:
                report = run(tmp_path / "rough", QUESTIONS, server, config, job=_into(tmp_path / "rough"))
                break
            except Stopped as stopped:
                if stopped.reason != "deferred":
                    raise
                time.sleep(2 * (ROUGH.retry_after or 0))  # nobody starts again within the wait that was asked for
        assert server.undercut == []
        assert max(server.answered.values()) == 1, "a reply that was paid for was asked for again"
    ends = lines(tmp_path / "rough" / "q.jsonl")
    rows = lines(tmp_path / "rough" / "t.jsonl")
    assert len(ends) == report.questions == len(QUESTIONS)
    assert all(end["reason"] for end in ends)
    assert Counter(end["status"] for end in ends) == Counter(report.statuses)
    assert sum(end["samples"] for end in ends) == len(rows)
    assert all(r["status"] != "infrastructure" for row in rows for t in row["turns"] for r in t["results"])
    done = {end["id"] for end in ends if end["status"] != "deferred"}
    calm = [e for e in essence(tmp_path / "calm" / "t.jsonl") if e[0] in done]
    assert [e for e in essence(tmp_path / "rough" / "t.jsonl") if e[0] in done] == calm
    for end in ends:
        if end["status"] != "deferred":
            outcomes = [
                Outcome(index=row["sample_index"], accepted=row["accepted"], answered=row["answer"] is not None)
                for row in rows
                if row["id"] == end["id"]
            ]
            assert decide(outcomes, PlanSettings(), billed=end["searches_billed"]).status == end["status"]


def _into(folder: Path) -> dict[str, Path]:
    return {"run_dir": folder, "trajectories": folder / "t.jsonl", "questions_out": folder / "q.jsonl"}


def test_28_a_short_retry_after_costs_seconds_not_minutes(tmp_path: Path) -> None:
    start = time.monotonic()
    with teacher(faults=FaultMix(rate_limited=0.15, retry_after=0.3)) as server:
        run(tmp_path, [question(i) for i in range(40)], server)
        assert server.undercut == []
    assert time.monotonic() - start < 55  # a worker that one 429 parks for a minute would take longer


def test_26_five_hundred_conversations_at_once_share_one_pool(tmp_path: Path) -> None:
    config = settings(engine={"concurrency": 512, "request_timeout": 30})
    with teacher(latency=0.05) as server:
        report = run(tmp_path, [question(i) for i in range(256)], server, config)
        assert sum(report.statuses.values()) == 256
        assert server.received == sum(server.answered.values())


def test_22_a_closed_port_ends_within_seconds_with_a_reason(tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(Stopped, match="endpoint_saturated"):
        run(tmp_path, QUESTIONS, "http://127.0.0.1:9/v1")
    assert time.monotonic() - start < 10


def test_23_a_request_that_is_never_answered_has_a_deadline(tmp_path: Path) -> None:
    config = settings(engine={"request_timeout": 0.3})
    with teacher(faults=FaultMix(hang=0.1), seed=2) as server:
        start = time.monotonic()
        report = run(tmp_path, QUESTIONS[:20], server, config)
        assert server.received > sum(server.answered.values())
    assert "deferred" not in report.statuses
    assert time.monotonic() - start < 20


def test_92_no_key_in_journal_rows_or_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TEACHER_API_KEY", "sentinel-key-12345")
    with teacher(faults=FaultMix(unavailable=0.3), seed=3) as server:
        with contextlib.suppress(Stopped):
            run(tmp_path, QUESTIONS[:6], server)
        server.script = lambda asked: {"_status": 401, "_body": b"wrong key sentinel?"}
        with pytest.raises(Stopped, match="bad_key"):
            run(tmp_path, QUESTIONS, server)
        assert server.headers[0]["Authorization"] == "Bearer sentinel-key-12345"
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"sentinel-key" not in path.read_bytes()
    assert "sentinel-key" not in caplog.text
