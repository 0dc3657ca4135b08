"""Tokens of the teacher in the ledger: held before, counted after, no more than the limit."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from ledger_helpers import open_ledger, sqlite_url
from rollout_helpers import StubBooks
from tir_distill.ledger import LedgerLost
from tir_distill.records import Stopped, ToolCall, Usage, opening
from tir_distill.rollout.metered import Meter, Metered, most_tokens
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
    books = StubBooks(limit=6000)
    done = ask(Metered(Fixed(), Meter(books, "run", limited=True)), 64)
    assert books.tokens <= 6000
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
        asyncio.run(Meter(StubBooks(limit=10), "run", limited=True).hold(11))


def png(width: int, height: int) -> bytes:
    out = BytesIO()
    Image.new("1", (width, height)).save(out, "PNG")
    return out.getvalue()


def test_text_is_at_most_a_token_a_byte() -> None:
    text = b'[{"role":"user","content":"1234567890 ;base64, {\\"url\\":\\"data:image/png;base64,AAAA\\"}"}]'
    assert most_tokens(text) == 500 + len(text), "what looks like a picture inside a text is text"


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        (png(1000, 700), 2000),  # 1028 * 728 / 750 = 997
        (png(3000, 2000), 8187),  # 3028 * 2028 / 750 = 8187.7
        (png(6000, 6000), 16384),  # 6028 * 6028 / 750 = 48449
        (b"no picture at all", 16384),
    ],
)
def test_pictures_count_by_their_size(data: bytes, tokens: int) -> None:
    begin, end = b'[{"type":"image_url","image_url":{"url":"data:image/png;base64,', b'"}},{"text":"what?"}]'
    encoded = base64.b64encode(data)
    assert most_tokens(begin + encoded + end) == 500 + len(begin) + tokens + len(end)
    assert most_tokens(begin + encoded + end[:-1] + b"," + begin[1:] + encoded + end) == (
        500 + 2 * (len(begin) + tokens + len(end)) - 1
    )


class Counting:
    """A teacher for which each byte is a token: the worst case. ``usage``: what the server says of it."""

    model = "fake"

    def __init__(self, usage: Callable[[Usage], Usage] = lambda usage: usage) -> None:
        self.usage = usage
        self.spent = 0

    async def complete(self, messages: Transcript, tools: Any, *, max_tokens: int, **_: Any) -> Reply:
        used = Usage(prompt_tokens=len(messages.joined()), completion_tokens=max_tokens)
        self.spent += used.prompt_tokens + used.completion_tokens
        calls = (ToolCall(id="call_0_0", name="python", arguments='{"code": "print(1)"}'),)
        return Reply(thinking="", content="x" * max_tokens, calls=calls, finish_reason="stop", usage=self.usage(used))


@dataclass
class Noting(StubBooks):
    """Books that note what was held."""

    held: list[int] = field(default_factory=list)

    def reserve_tokens(self, run: str, tokens: int) -> str:
        hold = super().reserve_tokens(run, tokens)
        self.held.append(tokens)
        return hold


def talk(teacher: Metered, turns: int, max_tokens: int = 100) -> int:
    """One conversation whose tools answer 1,000 digits each time; returns the turns it got."""

    async def main() -> int:
        transcript = messages()
        for turn in range(turns):
            try:
                await teacher.complete(transcript, [], seed=turn, max_tokens=max_tokens, owner="q#0")
            except Stopped:
                return turn
            transcript.extend([{"role": "tool", "content": "1234567890" * 100, "tool_call_id": f"call_{turn}_0"}])
        return turns

    return asyncio.run(main())


@pytest.mark.parametrize("says", [lambda usage: usage, lambda usage: Usage()], ids=["counted", "no usage"])
def test_digits_and_a_silent_server_do_not_pass_the_limit(says: Callable[[Usage], Usage]) -> None:
    for limit in range(1000, 20_000, 777):
        books = StubBooks(limit=limit)
        teacher = Counting(says)
        turns = talk(Metered(teacher, Meter(books, "run", limited=True)), 50)
        assert turns < 50
        assert teacher.spent <= books.tokens <= limit


def test_a_known_request_bounds_the_next_one() -> None:
    """The first request could have 500 tokens more than bytes; it had a tenth of its bytes. The next one is held with
    what the first one had, and a token for each byte that came since."""
    books = Noting(limit=100_000)
    first = len(messages().joined())
    grown = len(b',{"role":"tool","content":"","tool_call_id":"call_0_0"}') + 1000
    teacher = Metered(
        Counting(lambda used: Usage(prompt_tokens=used.prompt_tokens // 10, completion_tokens=7)),
        Meter(books, "run", limited=True),
    )
    assert talk(teacher, 2) == 2
    tools = len(b"[]")
    assert books.held == [500 + tools + first + 100, first // 10 + grown + 100]
    assert books.tokens == first // 10 + 7 + (first + grown) // 10 + 7


def test_a_server_that_says_nothing_is_counted_without_a_limit_too() -> None:
    books = StubBooks()
    meter = Meter(books, "run", limited=False)
    assert talk(Metered(Counting(lambda used: Usage()), meter), 1) == 1
    meter.settle()
    assert books.tokens == 500 + len(b"[]") + len(messages().joined()) + 100


def test_a_nonsensical_count_is_cut() -> None:
    books = StubBooks()
    meter = Meter(books, "run", limited=False)
    assert talk(Metered(Counting(lambda used: Usage(prompt_tokens=10**30, completion_tokens=1)), meter), 1) == 1
    assert meter.total == 10**12 + 1


def test_a_paid_reply_is_handed_on_when_the_ledger_is_away() -> None:
    """Its tokens are written down before the next ones; until then its hold counts."""

    class Away(StubBooks):
        away = 0

        def settle_tokens(self, run: str, hold: str | None, tokens: int) -> None:
            if self.away:
                self.away -= 1
                raise LedgerLost("cut")
            super().settle_tokens(run, hold, tokens)

    books = Away(limit=100_000)
    meter = Meter(books, "run", limited=True)
    teacher = Metered(Fixed(), meter)
    held = 500 + len(b"[]") + len(messages().joined()) + 500
    books.away = 1
    assert isinstance(ask(teacher, 1)[0], Reply)
    assert books.tokens == held
    assert isinstance(ask(teacher, 1)[0], Reply)
    assert books.tokens == 600
    books.away = 2
    assert isinstance(ask(teacher, 1)[0], Reply)
    with pytest.raises(LedgerLost):
        meter.settle()
    meter.settle()
    assert books.tokens == 900


@pytest.mark.parametrize("room", [0, 299])
def test_a_limit_is_used_up_at_any_concurrency(tmp_path: Path, room: int) -> None:
    """Each request holds H and uses 300. With 10 x 300 used, H of the limit is left: eleven requests are made, and the
    twelfth would find 300 less. Nobody is turned away because of what others only hold."""
    held = 500 + len(b"[]") + len(messages().joined()) + 500
    ledger = open_ledger(sqlite_url(tmp_path), run="run", max_tokens_total=10 * 300 + held + room)
    done = ask(Metered(Fixed(), Meter(ledger, "run", limited=True)), 40)
    assert sum(isinstance(item, Reply) for item in done) == 11
    assert sum(isinstance(item, Stopped) for item in done) == 29
    assert ledger.run_totals("run").tokens == 3300
    flag = ledger.stopped()
    assert flag is not None
    assert flag.reason == "budget_tokens"
    ledger.close()
