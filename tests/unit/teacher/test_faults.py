"""What an answer that is no reply means, and when the next one may be asked for."""

from __future__ import annotations

import email.utils

import pytest

from tir_distill.records import Stopped
from tir_distill.teacher import Breaker, RetryPolicy, TeacherFault, fault_of_status, read_body, retry_after
from tir_distill.teacher.faults import fault_of_error


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, b'{"error":{"message":"slow down"}}', "rate_limited"),
        (429, b'{"error":{"code":"insufficient_quota"}}', "credits_exhausted"),
        (402, b"pay", "credits_exhausted"),
        (
            400,
            b'{"error":{"code":"Arrearage","message":"Access denied"}}',
            "credits_exhausted",
        ),
        (403, b'{"error":{"code":"insufficient_quota"}}', "credits_exhausted"),
        (503, b"billing: insufficient_quota checker is down", "server"),
        (500, b"", "server"),
        (502, b"<html>Bad Gateway</html>", "server"),
        (503, b"overloaded", "server"),
        (401, b'{"error":"bad key"}', "bad_key"),
        (403, b"forbidden", "bad_key"),
        (403, b'{"code":"DataInspectionFailed"}', "refused"),
        (
            400,
            b'{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content."}}',
            "refused",
        ),
        (400, b'{"message":"This model\'s maximum context length is 32768 tokens"}', "context_length"),
        (400, b'{"message":"Range of input length should be [1, 129024]"}', "context_length"),
        (413, b"too large", "context_length"),
        (400, b'{"message":"tools[0] is wrong"}', "bad_request"),
        (404, b'{"message":"model not found"}', "wrong_endpoint"),
        (405, b"", "wrong_endpoint"),
    ],
)
def test_status_and_body_make_the_kind(status: int, body: bytes, kind: str) -> None:
    assert fault_of_status(status, {}, body).kind == kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "Rate limit reached", "code": "rate_limit"}, "rate_limited"),
        ({"message": "boom", "code": 503}, "server"),
        ({"message": "internal"}, "server"),
        ({"type": "insufficient_quota", "message": "You exceeded your current quota"}, "credits_exhausted"),
        ("insufficient_quota", "credits_exhausted"),
        ("no worker is up", "server"),
        ({"message": "slow", "code": "429"}, "rate_limited"),
        ({"message": "content_filter"}, "refused"),
        ({"message": "maximum context length exceeded", "code": 400}, "context_length"),
    ],
)
def test_an_error_object_with_status_200_is_classed_as_well(error: dict[str, object] | str, kind: str) -> None:
    assert fault_of_error(error).kind == kind


def test_a_detail_is_cleaned_before_it_is_cut() -> None:
    """297 characters, then the key: cut first, three of its letters would be left."""

    def clean(text: str) -> str:
        return text.replace("sesame", "[redacted]")

    body = b"x" * 297 + b"sesame is wrong"
    assert fault_of_status(401, {}, body, clean).detail == "HTTP 401: " + "x" * 297 + "[re"
    with pytest.raises(TeacherFault) as caught:
        read_body(body, clean)
    assert caught.value.detail == "not JSON: " + "x" * 297 + "[re"
    assert fault_of_error({"message": "x" * 297 + "sesame"}, clean).detail == "HTTP 500: " + "x" * 297 + "[re"


def test_a_key_that_is_a_part_of_words_does_not_change_the_kind() -> None:
    fault = fault_of_status(400, {}, b"maximum context length", lambda text: text.replace("t", "[redacted]"))
    assert fault.kind == "context_length"


def test_retry_after_in_seconds_and_as_a_date() -> None:
    assert retry_after({"Retry-After": "3"}) == 3.0
    assert retry_after({"Retry-After": "0.3"}) == 0.3
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({"Retry-After": "nan"}) is None
    assert retry_after({}) is None
    assert retry_after({"Retry-After": email.utils.formatdate(1010, usegmt=True)}, now=1000.0) == 10.0
    assert retry_after({"Retry-After": email.utils.formatdate(990, usegmt=True)}, now=1000.0) == 0.0


def test_a_date_counts_from_the_later_end_when_the_clocks_differ() -> None:
    """The server's clock is 5 s behind ours: it means 10 s, we would read 5."""
    headers = {
        "Retry-After": email.utils.formatdate(1005, usegmt=True),
        "Date": email.utils.formatdate(995, usegmt=True),
    }
    assert retry_after(headers, now=1000.0) == 10.0


@pytest.mark.parametrize("chance", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("asked", [0.2, 3.0, 45.0])
def test_no_jitter_comes_before_a_retry_after(asked: float, chance: float) -> None:
    policy = RetryPolicy()
    for tries in range(1, 5):
        wait = policy.wait(tries, TeacherFault("rate_limited", retry_after=asked), chance)
        assert wait is not None
        assert wait >= asked


def test_a_short_retry_after_is_not_stretched_to_minutes() -> None:
    policy = RetryPolicy(first_wait_s=0.1)
    wait = policy.wait(1, TeacherFault("rate_limited", retry_after=0.3), 0.999)
    assert wait is not None
    assert wait < 0.5


def test_waits_grow_and_end_after_five_tries() -> None:
    policy = RetryPolicy()
    waits = [policy.wait(tries, TeacherFault("server"), 0.0) for tries in range(1, 6)]
    assert waits == [1.0, 2.0, 4.0, 8.0, None]


def test_certain_faults_get_fewer_tries() -> None:
    policy = RetryPolicy()
    assert policy.wait(1, TeacherFault("context_length"), 0.0) is None
    assert policy.wait(1, TeacherFault("bad_request"), 0.0) is None
    assert policy.wait(1, TeacherFault("refused"), 0.0) == 1.0
    assert policy.wait(2, TeacherFault("refused"), 0.0) is None


def test_a_wait_that_is_too_long_ends_the_tries() -> None:
    assert RetryPolicy().wait(1, TeacherFault("rate_limited", retry_after=3600), 0.0) is None


def test_breaker_trips_on_failures_in_a_row_only() -> None:
    breaker = Breaker(limit=3)
    fault = TeacherFault("rate_limited")
    breaker.exhausted(fault)
    breaker.exhausted(fault)
    breaker.success()
    breaker.exhausted(fault)
    breaker.exhausted(fault)
    with pytest.raises(Stopped, match="endpoint_saturated: 3 requests in a row"):
        breaker.exhausted(fault)
    with pytest.raises(Stopped, match="endpoint_saturated"):
        breaker.check()


def test_one_question_that_always_fails_is_no_saturated_endpoint() -> None:
    breaker = Breaker(limit=3)
    for question in ("a", "a", "a", "b", "b"):
        breaker.exhausted(TeacherFault("timeout"), question)
    with pytest.raises(Stopped, match="endpoint_saturated"):
        breaker.exhausted(TeacherFault("timeout"), "c")


def test_breaker_waits_while_more_requests_are_being_worked_on() -> None:
    breaker = Breaker(limit=3, waiting_first=5)
    for _ in range(4):
        breaker.exhausted(TeacherFault("rate_limited"))
    with pytest.raises(Stopped):
        breaker.exhausted(TeacherFault("rate_limited"))


def test_first_requests_that_are_all_too_long_are_the_settings_fault() -> None:
    fault = TeacherFault("context_length", "HTTP 400: maximum context length is 8192 tokens")
    breaker = Breaker(limit=3)
    breaker.exhausted(fault, "a", opening=True)
    breaker.exhausted(fault, "b", opening=True)
    breaker.exhausted(fault, "c", opening=False)  # a long conversation
    with pytest.raises(Stopped, match=r"context_length: .*3 questions.*--max-tokens.*8192") as caught:
        breaker.exhausted(fault, "c", opening=True)
    assert caught.value.reason == "context_length"
    answered = Breaker(limit=1)
    answered.success()
    answered.exhausted(fault, "a", opening=True)  # the endpoint takes other questions
    answered.check()


def test_a_refused_question_says_nothing_of_the_endpoint() -> None:
    breaker = Breaker(limit=1)
    breaker.exhausted(TeacherFault("refused"))
    breaker.exhausted(TeacherFault("context_length"))
    breaker.check()


@pytest.mark.parametrize(
    "value",
    ["soon", "", "nan", "inf", "-inf", "Mon, 32 Jan 2026 00:00:00 GMT", f"Mon, 01 Jan {10**30} 00:00:00 GMT", "12:00"],
)
def test_a_retry_after_that_says_nothing_is_none(value: str) -> None:
    assert retry_after({"Retry-After": value}, now=0.0) is None


def test_absurd_waits_are_read_and_end_the_tries() -> None:
    assert retry_after({"Retry-After": "-3"}) == 0.0
    for value in ("99999999999", "Fri, 31 Dec 9999 23:59:59 GMT"):
        asked = retry_after({"Retry-After": value}, now=0.0)
        assert asked is not None
        assert RetryPolicy().wait(1, TeacherFault("rate_limited", retry_after=asked), 0.0) is None
