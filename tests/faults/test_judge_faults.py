"""What goes wrong with a judge: never a "wrong" that the answer did not earn, never an endless wait."""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from grading_helpers import KEY, FakeJudge, a_grader, a_question, completion
from tir_distill.grading import Grader
from tir_distill.records import Question, Stopped, Verdict


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_API_KEY", KEY)


@pytest.fixture
def httpserver() -> Iterator[HTTPServer]:
    """One that answers requests side by side: the plain fixture takes them one by one."""
    with HTTPServer(threaded=True) as server:
        yield server


def grade(grader: Grader, question: Question, answer: str | None) -> Verdict:
    async def once() -> Verdict:
        try:
            return await grader.grade(question, answer)
        finally:
            await grader.close()

    return asyncio.run(once())


def scripted(*answers: Any) -> Callable[[dict[str, Any], int], Any]:
    """The given answers one after another; the last one again and again."""
    return lambda case, number: answers[min(number, len(answers)) - 1]


def status(code: int, body: str = "{}", **headers: str) -> Response:
    return Response(body, status=code, headers=headers, content_type="application/json")


HTML = Response("<html>Bad gateway</html>", status=502, content_type="text/html")
GOOD = "<judge>Yes</judge>"


def test_undecided_reply_is_asked_for_again(httpserver: HTTPServer) -> None:
    judge = FakeJudge(httpserver, scripted("Hm, let me think.", "", GOOD))
    verdict = grade(a_grader(judge.url), a_question(), "Bombay")
    assert (verdict.correct, verdict.path) == (True, "judge")
    assert len(judge.requests) == 3
    assert "nothing but" not in judge.requests[0]["messages"][1]["content"]
    assert "nothing but" in judge.requests[1]["messages"][1]["content"]


@pytest.mark.parametrize(
    "reply", ["", "Hm.", "I'm sorry, I cannot help.", "<judge>Yes</judge><judge>No</judge>", '{"correct": tr']
)
def test_judge_that_never_says_anything_is_a_failed_judge_not_a_wrong_answer(
    httpserver: HTTPServer, reply: str
) -> None:
    judge = FakeJudge(httpserver, scripted(reply))
    verdict = grade(a_grader(judge.url, attempts=3), a_question(), "Bombay")
    assert (verdict.correct, verdict.path) == (None, "judge_failed")
    assert verdict.judge_model == "gpt-4o-2024-11-20"
    assert len(judge.requests) == 3


def test_null_content_and_cut_reply_are_undecided(httpserver: HTTPServer) -> None:
    judge = FakeJudge(httpserver, scripted(completion(None), completion("Yes", finish_reason="length"), GOOD))
    assert grade(a_grader(judge.url), a_question(), "Bombay").correct is True
    assert len(judge.requests) == 3


@pytest.mark.parametrize(
    "fault",
    [
        HTML,
        status(500),
        status(503, **{"Retry-After": "0"}),
        status(408),
        Response("<html>hello</html>", content_type="text/html"),
        Response("not json", content_type="application/json"),
        status(200, '{"choices": []}'),
        status(200, '{"error": "overloaded"}'),
        status(200, "null"),
    ],
    ids=["502 html", "500", "503", "408", "200 html", "200 no json", "no choices", "error body", "null"],
)
def test_broken_transport_is_retried(httpserver: HTTPServer, fault: Response) -> None:
    judge = FakeJudge(httpserver, scripted(fault, fault, GOOD))
    assert grade(a_grader(judge.url), a_question(), "Bombay").correct is True
    assert len(judge.requests) == 3


def body_with(content: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    "body",
    [
        body_with(1),
        body_with(True),
        body_with({"correct": True}),
        body_with(0.5),
        {"choices": [{"index": 0}]},
        {"choices": [{"index": 0, "message": "Yes"}]},
        {"choices": [{"index": 0, "message": ["Yes"]}]},
        {"choices": [{"index": 0, "message": 1}]},
        {"choices": {"a": 1}},
        {"choices": "Yes"},
        {"choices": [None]},
        {"choices": ["Yes"]},
        [1],
        "Yes",
    ],
    ids=str,
)
def test_a_reply_of_another_type_is_a_broken_transport(httpserver: HTTPServer, body: Any) -> None:
    reply = Response(json.dumps(body), content_type="application/json")
    judge = FakeJudge(httpserver, scripted(reply, reply, GOOD))
    verdict = grade(a_grader(judge.url, attempts=1), a_question(), "Bombay")
    assert (verdict.correct, verdict.path) == (None, "judge_failed")
    assert grade(a_grader(judge.url), a_question(), "Bombay").correct is True
    assert len(judge.requests) == 3


def test_text_parts_are_joined(httpserver: HTTPServer) -> None:
    parts = [{"type": "text", "text": "<judge>N"}, {"type": "image"}, None, 7, "o</judge>"]
    judge = FakeJudge(httpserver, scripted(body_with(parts)))
    verdict = grade(a_grader(judge.url), a_question(), "Bombay")
    assert (verdict.correct, verdict.path, len(judge.requests)) == (False, "judge", 1)


@pytest.mark.parametrize("code", ["[1]", '{"a": 1}', "7", "null"])
def test_an_error_code_of_another_type_is_no_crash(httpserver: HTTPServer, code: str) -> None:
    judge = FakeJudge(httpserver, scripted(status(400, f'{{"error": {{"code": {code}}}}}')))
    assert grade(a_grader(judge.url), a_question(), "Bombay").path == "judge_failed"


def test_lasting_transport_fault_is_undecided_then_stops_the_run(httpserver: HTTPServer) -> None:
    judge = FakeJudge(httpserver, scripted(HTML))
    grader = a_grader(judge.url, attempts=2, breaker=3)

    async def run() -> list[Any]:
        out: list[Any] = []
        for number in range(3):
            try:
                out.append(await grader.grade(a_question(), f"Bombay {number}"))
            except Stopped as stopped:
                out.append(stopped)
        await grader.close()
        return out

    first, second, third = asyncio.run(run())
    assert first.path == second.path == "judge_failed"
    assert first.correct is None
    assert isinstance(third, Stopped)
    assert third.reason == "endpoint_saturated"


def test_closed_port_ends_within_seconds() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start = time.monotonic()
    verdict = grade(a_grader(f"http://127.0.0.1:{port}/v1"), a_question(), "Bombay")
    assert verdict.path == "judge_failed"
    assert time.monotonic() - start < 10


def test_server_that_never_answers_meets_the_deadline(httpserver: HTTPServer) -> None:
    def slow(case: dict[str, Any], number: int) -> Any:
        if number == 1:
            time.sleep(1.0)
        return GOOD

    judge = FakeJudge(httpserver, slow)
    assert grade(a_grader(judge.url, timeout_s=0.3), a_question(), "Bombay").correct is True
    assert len(judge.requests) == 2


@pytest.mark.parametrize("code", [401, 403])
def test_refused_key_stops_at_once_and_names_the_variable(httpserver: HTTPServer, code: int) -> None:
    body = f'{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}'
    judge = FakeJudge(httpserver, scripted(status(code, body)))
    with pytest.raises(Stopped) as caught:
        grade(a_grader(judge.url), a_question(), "Bombay")
    assert caught.value.reason == "bad_key"
    assert "JUDGE_API_KEY" in str(caught.value)
    assert KEY not in repr(caught.value)
    assert len(judge.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [status(402), status(429, '{"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}')],
    ids=["402", "429 quota"],
)
def test_used_up_credit_is_no_rate_limit(httpserver: HTTPServer, answer: Response) -> None:
    judge = FakeJudge(httpserver, scripted(answer))
    with pytest.raises(Stopped) as caught:
        grade(a_grader(judge.url), a_question(), "Bombay")
    assert caught.value.reason == "credits_exhausted"
    assert len(judge.requests) == 1


def test_rate_limit_waits_as_told_and_costs_no_attempt(httpserver: HTTPServer) -> None:
    limited = status(429, **{"Retry-After": "0.3"})
    judge = FakeJudge(httpserver, scripted(*[limited] * 4, GOOD))
    start = time.monotonic()
    verdict = grade(a_grader(judge.url, attempts=1, patience_s=30.0), a_question(), "Bombay")
    assert verdict.correct is True
    assert time.monotonic() - start >= 4 * 0.3


def test_rate_limit_given_as_a_date_is_honoured(httpserver: HTTPServer) -> None:
    when = email.utils.formatdate(time.time() + 2.0, usegmt=True)
    judge = FakeJudge(httpserver, scripted(status(429, **{"Retry-After": when}), GOOD))
    start = time.time()
    assert grade(a_grader(judge.url, patience_s=30.0), a_question(), "Bombay").correct is True
    assert time.time() - start >= 0.9  # HTTP dates have whole seconds


def test_lasting_rate_limit_stops_the_run(httpserver: HTTPServer) -> None:
    judge = FakeJudge(httpserver, scripted(status(429)))
    with pytest.raises(Stopped) as caught:
        grade(a_grader(judge.url, patience_s=0.3), a_question(), "Bombay")
    assert caught.value.reason == "endpoint_saturated"


def test_retry_after_beyond_all_patience_stops_without_waiting(httpserver: HTTPServer) -> None:
    judge = FakeJudge(httpserver, scripted(status(429, **{"Retry-After": "3600"})))
    start = time.monotonic()
    with pytest.raises(Stopped):
        grade(a_grader(judge.url), a_question(), "Bombay")
    assert time.monotonic() - start < 5


def test_refused_request_is_undecided_and_not_repeated(httpserver: HTTPServer) -> None:
    judge = FakeJudge(httpserver, scripted(status(400, '{"error": {"message": "content filter"}}')))
    assert grade(a_grader(judge.url), a_question(), "Bombay").path == "judge_failed"
    assert len(judge.requests) == 1


def test_wrong_address_is_said_at_once(httpserver: HTTPServer) -> None:
    judge = FakeJudge(httpserver, scripted(status(404)))
    with pytest.raises(Stopped, match="address"):
        grade(a_grader(judge.url), a_question(), "Bombay")


def test_without_a_key_nothing_is_asked(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = FakeJudge(httpserver, scripted(GOOD))
    monkeypatch.delenv("JUDGE_API_KEY")
    verdict = grade(a_grader(judge.url), a_question(), "Bombay")
    assert (verdict.correct, verdict.path, verdict.detail) == (None, "judge_failed", "no judge configured")
    monkeypatch.setenv("JUDGE_API_KEY", KEY)
    assert grade(a_grader(judge.url, enabled=False), a_question(), "Bombay").path == "judge_failed"
    assert judge.requests == []


def test_key_is_in_no_log_cache_verdict_or_repr(
    httpserver: HTTPServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    judge = FakeJudge(httpserver, scripted(HTML, status(500, f'"{KEY}"'), GOOD))
    grader = a_grader(judge.url, tmp_path / "verdicts.jsonl")
    verdict = grade(grader, a_question(), "Bombay")
    assert judge.keys == {f"Bearer {KEY}"}
    texts = [repr(verdict), repr(grader.settings), (tmp_path / "verdicts.jsonl").read_text(), caplog.text]
    assert not any(KEY in text for text in texts)


def test_sixty_four_at_once(httpserver: HTTPServer) -> None:
    """Each answer gets its own verdict, and no more requests are open than allowed."""
    open_now, most = 0, 0

    def decide(case: dict[str, Any], number: int) -> str:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        time.sleep(0.005)
        open_now -= 1
        return GOOD if int(case["response"].split()[1]) % 2 else "<judge>No</judge>"

    judge = FakeJudge(httpserver, decide)
    grader = a_grader(judge.url, concurrency=4)

    async def run() -> list[Verdict]:
        try:
            return await asyncio.gather(*(grader.grade(a_question(), f"Bombay {n}") for n in range(64)))
        finally:
            await grader.close()

    verdicts = asyncio.run(run())
    assert [verdict.correct for verdict in verdicts] == [bool(n % 2) for n in range(64)]
    assert len(judge.requests) == 64
    assert 1 < most <= 4
