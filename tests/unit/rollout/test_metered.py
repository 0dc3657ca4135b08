"""Tokens of the teacher in the ledger: held before, counted after, no more than the limit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rollout_helpers import StubBooks
from tir_distill.records import Stopped, Usage, opening
from tir_distill.rollout.metered import Meter, Metered
from tir_distill.teacher import Reply, TeacherFault, Transcript


class Fixed:
    """A teacher whose every reply costs 300 tokens."""

    model = "fake"
    fails = False

    async def complete(self, messages: Transcript, tools: Any, **_: Any) -> Reply:
        await asyncio.sleep(0)
        if self.fails:
            raise TeacherFault("server")
        return Reply(
            thinking="",
            content="",
            calls=(),
            finish_reason="stop",
            usage=Usage(prompt_tokens=200, completion_tokens=100),
        )


def messages() -> Transcript:
    return Transcript.of(opening("s", "q", []), lambda path: b"")


def ask(teacher: Metered, times: int, max_tokens: int = 500) -> list[Any]:
    async def main() -> list[Any]:
        return await asyncio.gather(
            *(teacher.complete(messages(), [], seed=1, max_tokens=max_tokens, owner=str(i)) for i in range(times)),
            return_exceptions=True,
        )

    return asyncio.run(main())


def test_without_a_limit_tokens_reach_the_ledger_in_one_entry() -> None:
    books = StubBooks()
    meter = Meter(books, "run", limited=False)
    ask(Metered(Fixed(), meter), 5)
    assert (books.tokens, meter.total) == (0, 1500)
    meter.settle()
    meter.settle()
    assert books.tokens == 1500


def test_a_limit_is_never_passed_at_any_concurrency() -> None:
    books = StubBooks(limit=2000)
    done = ask(Metered(Fixed(), Meter(books, "run", limited=True)), 64)
    assert books.tokens <= 2000
    assert sum(isinstance(item, Stopped) for item in done) > 0
    assert sum(isinstance(item, Reply) for item in done) >= 3


def test_a_failed_request_gives_its_hold_back() -> None:
    books = StubBooks(limit=2000)
    teacher = Fixed()
    teacher.fails = True
    ask(Metered(teacher, Meter(books, "run", limited=True)), 2)
    assert books.tokens == 0


def test_a_full_budget_stops_before_the_request() -> None:
    with pytest.raises(Stopped, match="budget_tokens"):
        Meter(StubBooks(limit=10), "run", limited=True).hold(11)
