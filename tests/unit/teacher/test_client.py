"""The client against a real server: retries, replicas, keys, breaker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from rollout_helpers import FAST, FakeTeacher, FaultMix, completion, settings, teacher
from tir_distill.records import Stopped, UsageError
from tir_distill.teacher import Endpoint, Reply, RetryPolicy, TeacherClient, TeacherFault, TeacherPool, TeacherSettings

MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]


def asking(urls: list[str], work: Callable[[TeacherClient], Any], *, retry: RetryPolicy = FAST, **sampling: Any) -> Any:
    async def main() -> Any:
        chosen = TeacherSettings.from_config(settings(sampling=sampling, engine={"request_timeout": 0.5}))
        async with TeacherPool.open(chosen, retry=retry) as pool:
            client = TeacherClient(Endpoint(tuple(urls), "fake", "TEACHER_API_KEY"), chosen, pool._session, retry=retry)
            return await work(client)

    return asyncio.run(main())


def one(client: TeacherClient) -> Any:
    return client.complete(MESSAGES, [], seed=16)


def test_request_holds_what_was_set_and_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEACHER_API_KEY", "sesame-open")
    with teacher() as server:
        server.keep = True
        asking([server.url], one, temperature=0.7, chat_template_kwargs={"enable_thinking": True})
    body = server.requests[0]
    assert {k: body[k] for k in ("model", "temperature", "top_p", "seed", "max_tokens")} == {
        "model": "fake",
        "temperature": 0.7,
        "top_p": 1.0,
        "seed": 16,
        "max_tokens": 8192,
    }
    assert body["chat_template_kwargs"] == {"enable_thinking": True}
    assert "tools" not in body
    assert server.headers[0]["Authorization"] == "Bearer sesame-open"


def test_key_is_in_no_fault_and_no_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEACHER_API_KEY", "sesame-open")
    with teacher(lambda asked: {"_status": 401, "_body": b"no"}) as server:
        with pytest.raises(Stopped, match="bad_key") as caught:
            asking([server.url], one)
        assert server.received == 1
    assert "sesame" not in f"{caught.value!r} {caught.value} {Endpoint((server.url,), 'm', 'TEACHER_API_KEY')!r}"


@pytest.mark.parametrize("fault", ["rate_limited", "unavailable", "hang", "html", "cut_json", "reset"])
def test_every_passing_fault_is_tried_again(fault: str) -> None:
    with teacher(faults=FaultMix(**{fault: 1.0}, retry_after=0.05)) as server:  # type: ignore[arg-type]

        async def heal(client: TeacherClient) -> Reply:
            task = asyncio.create_task(one(client))
            while server.received < 2:
                await asyncio.sleep(0.01)
            server.faults = FaultMix()
            return await task  # type: ignore[no-any-return]

        reply = asking([server.url], heal)
    assert reply.thinking
    assert server.undercut == []


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_kept_in_seconds_and_as_a_date(as_date: bool) -> None:
    with teacher(faults=FaultMix(rate_limited=1.0, retry_after=1.2, as_date=as_date)) as server:

        async def heal(client: TeacherClient) -> float:
            start = time.monotonic()
            task = asyncio.create_task(one(client))
            while server.received < 1:
                await asyncio.sleep(0.01)
            server.faults = FaultMix()
            await task
            return time.monotonic() - start

        took = asking([server.url], heal)
    assert server.undercut == []
    assert took > (0.2 if as_date else 1.2)


def test_five_tries_then_a_fault_with_its_kind() -> None:
    with teacher(faults=FaultMix(unavailable=1.0)) as server:
        with pytest.raises(TeacherFault, match="server: HTTP 503"):
            asking([server.url], one)
        assert server.received == 5


def test_closed_port_is_a_reset_within_seconds() -> None:
    start = time.monotonic()
    with pytest.raises(TeacherFault, match="reset"):
        asking(["http://127.0.0.1:9/v1"], one)
    assert time.monotonic() - start < 5


def test_saturated_endpoint_stops_the_run_and_every_later_request() -> None:
    with teacher(faults=FaultMix(rate_limited=1.0, retry_after=0.01)) as server:

        async def many(client: TeacherClient) -> list[BaseException | Reply]:
            done = await asyncio.gather(*(one(client) for _ in range(20)), return_exceptions=True)
            before = server.received
            with pytest.raises(Stopped, match="endpoint_saturated"):
                await one(client)
            assert server.received == before
            return done

        done = asking([server.url], many)
    assert {type(item) for item in done} <= {Stopped, TeacherFault}
    assert any(isinstance(item, Stopped) for item in done)


def test_replicas_share_the_work_and_a_dead_one_is_passed_over() -> None:
    with teacher(latency=0.05) as a, teacher(latency=0.05) as b:

        async def many(client: TeacherClient) -> None:
            await asyncio.gather(*(client.complete(MESSAGES, [], seed=i) for i in range(40)))

        asking([a.url, b.url], many)
        assert a.received == b.received == 20
        asking(["http://127.0.0.1:9/v1", b.url], many)
        assert b.received == 60


def test_a_conversation_stays_with_its_replica() -> None:
    with teacher() as a, teacher() as b:

        async def turns(client: TeacherClient) -> None:
            for seed in range(8):
                await client.complete(MESSAGES, [], seed=seed, owner="q1#0")

        asking([a.url, b.url], turns)
        assert sorted([a.received, b.received]) == [0, 8]


def test_another_teacher_by_bucket_and_task_type(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TEACHER", "TEXT", "CHART"):
        monkeypatch.setenv(f"{name}_URL", f"http://{name.lower()}/v1/, http://{name.lower()}2/v1")
        monkeypatch.setenv(f"{name}_MODEL", name.lower())
    config = settings(
        teacher={
            "per_task_type": {"text_search": {"url_env": "TEXT_URL", "model_env": "TEXT_MODEL"}},
            "per_bucket": {
                "chartqa_human": {"url_env": "CHART_URL", "model_env": "CHART_MODEL", "key_env": "CHART_KEY"}
            },
        }
    )
    chosen = TeacherSettings.from_config(config)
    found = {
        (task, bucket): chosen.names_for(task_type=task, bucket=bucket).resolve()
        for task, bucket in [("image_search", "x"), ("text_search", "x"), ("text_search", "chartqa_human")]
    }
    assert [(e.model, e.urls[0], e.key_env) for e in found.values()] == [
        ("teacher", "http://teacher/v1", "TEACHER_API_KEY"),
        ("text", "http://text/v1", "TEACHER_API_KEY"),
        ("chart", "http://chart/v1", "CHART_KEY"),
    ]
    monkeypatch.delenv("TEXT_URL")
    with pytest.raises(UsageError, match="TEXT_URL is not set"):
        chosen.names_for(task_type="text_search", bucket="x").resolve()


def test_context_length_and_refusals_are_not_hammered() -> None:
    def script(asked: Any) -> dict[str, Any]:
        return {"_status": 400, "_body": b'{"message": "maximum context length is 100"}'}

    with FakeTeacher(script) as server:
        with pytest.raises(TeacherFault, match="context_length"):
            asking([server.url], one)
        assert server.received == 1
        server.script = lambda asked: completion("", finish="content_filter")
        with pytest.raises(TeacherFault, match="refused"):
            asking([server.url], one)
        assert server.received == 3


def test_a_key_that_the_server_repeats_goes_no_further(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TEACHER_API_KEY", "sesame-open")
    body = b'{"error": {"message": "Incorrect API key provided: sesame-open"}}'
    with teacher(lambda asked: {"_status": 401, "_body": body}) as server, pytest.raises(Stopped) as stopped:
        asking([server.url], one)
    assert "sesame-open" not in str(stopped.value) + caplog.text
    assert "[redacted]" in str(stopped.value)


@pytest.mark.parametrize(
    "said",
    [
        b"x" * 265 + b"sk-SENTINEL/0123456789abcdefghijklmnopqrst is wrong",  # the cut goes through the key
        b"key sk-SENTINEL%2F0123456789abcdefghijklmnopqrst",
        b'{"key": "sk-SENTINEL\\/0123456789abcdefghijklmnopqrst"}',
    ],
)
@pytest.mark.parametrize("status", [401, 200])
def test_no_part_and_no_other_spelling_of_the_key_goes_further(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, said: bytes, status: int
) -> None:
    """With 200 it is a page that is no completion."""
    monkeypatch.setenv("TEACHER_API_KEY", "sk-SENTINEL/0123456789abcdefghijklmnopqrst")
    page = {"_status": status, "_body": b"<html>" * (status == 200) + said}
    with teacher(lambda asked: page) as server, pytest.raises((Stopped, TeacherFault)) as caught:
        asking([server.url], one)
    assert "SENTINEL" not in f"{caught.value}{caught.value.__cause__}{caplog.text}"
    assert "[redacted]"[:3] in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "host/v1", "http://a/v1, b:8000/v1"])
def test_an_address_without_its_scheme_is_named_at_once(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("TEACHER_URL", url)
    monkeypatch.setenv("TEACHER_MODEL", "m")
    names = TeacherSettings.from_config(settings()).names_for(task_type="image_search", bucket="x")
    with pytest.raises(UsageError, match=r"TEACHER_URL: .* is no address"):
        names.resolve()


def test_a_password_in_an_address_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEACHER_URL", "http://user:sesame-open@host/v1")
    monkeypatch.setenv("TEACHER_MODEL", "m")
    names = TeacherSettings.from_config(settings()).names_for(task_type="image_search", bucket="x")
    with pytest.raises(UsageError, match="give the key as TEACHER_API_KEY") as caught:
        names.resolve()
    assert "sesame" not in str(caught.value)


def test_a_path_or_model_that_is_not_there_stops_the_run() -> None:
    """Not one question more is given up for it: the address is wrong, or the model's name."""
    body = b'{"error": {"message": "The model `m` does not exist."}}'
    with teacher(lambda asked: {"_status": 404, "_body": body}) as server, pytest.raises(Stopped) as stopped:
        asking([server.url], one)
    assert stopped.value.reason == "wrong_endpoint"
    assert "are the URL (with /v1) and the model right?" in str(stopped.value)
