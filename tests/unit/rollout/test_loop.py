"""One conversation: limits, notices, what is kept and what is not."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rollout_helpers import Asked, StubSession, call, completion, question
from tir_distill.records import Stopped, ToolCall, ToolResult, opening, turn_messages
from tir_distill.rollout import Conversation, Limits, Memory, SampleFault, Setting, converse, request_seed, tool_schemas
from tir_distill.rollout.notices import ENDING
from tir_distill.teacher import Reply, Transcript, read_reply

TOOLS = tool_schemas()


class Scripted:
    """A teacher in the same process."""

    model = "fake"

    def __init__(self, script: Callable[[Asked], Mapping[str, Any]]) -> None:
        self.script = script
        self.asked: list[Asked] = []

    async def complete(self, messages: Transcript, tools: Any, *, seed: int, max_tokens: int, owner: str = "") -> Reply:
        import orjson

        asked = Asked.of({"messages": orjson.loads(messages.joined()), "seed": seed, "tools": tools})
        self.asked.append(asked)
        return read_reply(self.script(asked), TOOLS, max_tokens=max_tokens)


class Notes:
    """A recorder that remembers."""

    def __init__(self) -> None:
        self.replies: dict[tuple[int, int], Reply] = {}
        self.results: dict[tuple[int, int], ToolResult] = {}
        self.rewinds: list[int] = []

    def reply(self, turn: int, ask: int, reply: Reply) -> None:
        self.replies[turn, ask] = reply

    def result(self, turn: int, position: int, result: ToolResult) -> None:
        self.results[turn, position] = result

    def rewind(self, turn: int, note: str) -> None:
        self.rewinds.append(turn)


def talk(
    script: Callable[[Asked], Mapping[str, Any]],
    *,
    session: Any = None,
    memory: Memory | None = None,
    recorder: Notes | None = None,
    **limits: Any,
) -> tuple[Conversation, Scripted]:
    teacher = Scripted(script)
    setting = Setting(question=question(1), tools=TOOLS, limits=Limits(**limits), version=1)
    transcript = Transcript.of(opening("sys", "Question 1?", []), lambda path: b"")
    done = asyncio.run(
        converse(
            setting,
            0,
            transcript,
            teacher=teacher,
            session=session or StubSession("q1#0"),
            memory=memory or Memory(),
            recorder=recorder or Notes(),
        )
    )
    return done, teacher


def always_search(asked: Asked) -> Mapping[str, Any]:
    if asked.told_to_answer:
        return completion("<answer>right</answer>")
    return completion(calls=[call("search", {"query": f"q {asked.turn}"})])


def test_no_search_comes_before_the_first_reply() -> None:
    session = StubSession("q1#0")
    done, teacher = talk(lambda asked: completion("<answer>right</answer>"), session=session)
    assert session.seen == []
    assert [m["role"] for m in teacher.asked[0].body["messages"]] == ["system", "user"]
    assert (done.stop, done.answer, len(done.turns)) == ("answer", "right", 1)


def test_turn_limit_asks_for_the_answer_inside_the_last_tool_result() -> None:
    done, teacher = talk(always_search, max_turns=3, max_searches=99)
    assert [turn.forced for turn in done.turns] == [False, False, False, True]
    assert done.turns[2].results[-1].notice == f"[notice] The turn limit of this question is reached. {ENDING}"
    assert [turn.results[-1].notice for turn in done.turns[:2]] == ["", ""]
    assert [m["role"] for m in teacher.asked[-1].body["messages"]].count("user") == 1
    assert teacher.asked[-1].observations[-1].endswith(ENDING)
    assert (done.stop, done.answer) == ("answer", "right")


def test_search_limit_asks_for_the_answer_as_soon_as_it_is_reached() -> None:
    done, _ = talk(always_search, max_turns=10, max_searches=2)
    assert len(done.turns) == 3
    assert "search limit" in done.turns[1].results[-1].notice


def test_a_cap_said_by_the_tools_asks_for_the_answer_too() -> None:
    class Capped(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            return ToolResult(call_id="", name="search", status="ok", content="used up", meta={"cap": "question"})

    done, _ = talk(always_search, session=Capped("x"))
    assert len(done.turns) == 2
    assert done.turns[0].results[0].call_id == "call_0_0"


def test_the_runs_limit_stops_and_is_not_remembered() -> None:
    class Capped(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            return ToolResult(call_id="", name="search", status="ok", content="used up", meta={"cap": "run"})

    recorder = Notes()
    with pytest.raises(Stopped, match="budget_searches"):
        talk(always_search, session=Capped("x"), recorder=recorder)
    assert (list(recorder.replies), list(recorder.results)) == ([(0, 0)], [])


def test_calls_in_a_forced_reply_are_not_run() -> None:
    def stubborn(asked: Asked) -> Mapping[str, Any]:
        return completion(calls=[call("search", {"query": "more"})])

    session = StubSession("x")
    done, _ = talk(stubborn, session=session, max_turns=2)
    assert (done.stop, done.answer, len(session.seen)) == ("no_answer", None, 2)
    assert (done.turns[-1].calls, done.turns[-1].dropped_calls) == ((), 1)


def test_only_the_first_three_calls_are_run_and_kept() -> None:
    def five(asked: Asked) -> Mapping[str, Any]:
        if asked.turn:
            return completion("<answer>right</answer>")
        return completion(calls=[call("search", {"query": str(i)}, call_id="same") for i in range(5)])

    session = StubSession("x")
    done, _ = talk(five, session=session)
    assert [c.id for c in done.turns[0].calls] == ["call_0_0", "call_0_1", "call_0_2"]
    assert [r.call_id for r in done.turns[0].results] == ["call_0_0", "call_0_1", "call_0_2"]
    assert done.turns[0].dropped_calls == 2
    assert len(session.seen) == 3


def test_parallel_calls_run_at_once_and_stay_in_call_order() -> None:
    class Slow(StubSession):
        running = 0
        most = 0

        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            Slow.running += 1
            Slow.most = max(Slow.most, Slow.running)
            await asyncio.sleep(0.02 if asked.id.endswith("0") else 0.001)
            Slow.running -= 1
            return await super().call(asked, made=made)

    def three(asked: Asked) -> Mapping[str, Any]:
        if asked.turn:
            return completion("<answer>right</answer>")
        return completion(calls=[call("search", {"query": str(i)}) for i in range(3)])

    done, _ = talk(three, session=Slow("x"))
    assert [r.meta["query"] for r in done.turns[0].results] == ['{"query":"0"}', '{"query":"1"}', '{"query":"2"}']
    assert Slow.most == 3


def test_python_cells_of_one_turn_run_in_call_order() -> None:
    class Slow(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            await asyncio.sleep(0.02 if asked.id.endswith("0") else 0.0)
            return await super().call(asked, made=made)

    def two(asked: Asked) -> Mapping[str, Any]:
        if asked.turn:
            return completion("<answer>right</answer>")
        return completion(
            calls=[call("python", {"code": "a"}), call("search", {"query": "x"}), call("python", {"code": "b"})]
        )

    done, _ = talk(two, session=Slow("x"))
    assert [r.content for r in done.turns[0].results if r.name == "python"] == ["cell 1", "cell 2"]


@pytest.mark.parametrize(("limit", "at_once"), [(3, True), (2, False)])
def test_searches_that_share_the_last_places_run_in_call_order(limit: int, at_once: bool) -> None:
    """Which of three searches is the one too many must not depend on which is quickest."""

    class Counting(StubSession):
        answered = 0
        running = 0
        most = 0

        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            Counting.running += 1
            Counting.most = max(Counting.most, Counting.running)
            await asyncio.sleep(0.02 if asked.id.endswith("0") else 0.0)
            Counting.running -= 1
            Counting.answered += 1
            if Counting.answered > limit:
                return ToolResult(call_id=asked.id, name="search", status="ok", content="", meta={"cap": "trajectory"})
            return await super().call(asked, made=made)

    def three(asked: Asked) -> Mapping[str, Any]:
        if asked.turn:
            return completion("<answer>right</answer>")
        return completion(calls=[call("search", {"query": str(i)}) for i in range(3)])

    done, _ = talk(three, session=Counting("x"), max_searches=limit)
    assert (Counting.most > 1) is at_once
    assert ["cap" in r.meta for r in done.turns[0].results] == [False, False, limit == 2]


@pytest.mark.parametrize("finish", ["length", "tool_calls"])
def test_truncation_ends_the_sample_and_runs_nothing(finish: str) -> None:
    def cut(asked: Asked) -> Mapping[str, Any]:
        return completion("<answer>Mum", calls=[call("search", "{}")], finish=finish, tokens=500)

    session = StubSession("x")
    done, _ = talk(cut, session=session, max_tokens=500)
    assert (done.stop, done.answer, session.seen) == ("truncated", None, [])
    assert (done.turns[0].calls, done.turns[0].dropped_calls) == ((), 1)


def test_a_turn_without_action_is_asked_for_once_more_with_the_same_history() -> None:
    done, teacher = talk(lambda asked: completion("It is probably Mumbai."))
    assert (done.stop, done.answer, len(done.turns), len(teacher.asked)) == ("no_answer", None, 1, 2)
    assert teacher.asked[0].body["messages"] == teacher.asked[1].body["messages"]
    assert teacher.asked[0].seed != teacher.asked[1].seed
    assert done.notes == ("turn 0 had neither call nor answer and was asked for once more",)


def test_the_second_asking_may_succeed() -> None:
    first = request_seed("q1", 0, 0, 0, 1)
    done, _ = talk(lambda asked: completion("hm" if asked.seed == first else "<answer>right</answer>"))
    assert (done.stop, done.answer, len(done.turns)) == ("answer", "right", 1)


@pytest.mark.parametrize("thinking", ["<answer>42</answer>", "I know it.\n<answer>42</answer>"])
def test_an_answer_only_in_the_thinking_is_no_answer(thinking: str) -> None:
    done, _ = talk(lambda asked: completion(None, thinking=thinking))
    assert (done.stop, done.answer) == ("no_answer", None)
    assert done.turns[-1].content == ""


def test_a_call_beside_an_answer_is_run() -> None:
    def both(asked: Asked) -> Mapping[str, Any]:
        if asked.turn:
            return completion("<answer>second</answer>")
        return completion("<answer>first</answer>", calls=[call("search", {"query": "x"})])

    done, _ = talk(both)
    assert (done.answer, len(done.turns)) == ("second", 2)


def test_infrastructure_faults_end_the_sample_but_keep_what_the_turn_has_paid_for() -> None:
    class Broken(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            if asked.id.endswith("0"):
                return ToolResult(call_id=asked.id, name="search", status="infrastructure", content="502")
            await asyncio.sleep(0.01)
            return await super().call(asked, made=made)

    def two(asked: Asked) -> Mapping[str, Any]:
        return completion(calls=[call("search", {"query": "a"}), call("search", {"query": "b"})])

    recorder = Notes()
    with pytest.raises(SampleFault, match="tool_search"):
        talk(two, session=Broken("x"), recorder=recorder)
    assert list(recorder.results) == [(0, 1)]


def test_what_is_remembered_is_neither_asked_nor_run_again() -> None:
    recorder = Notes()
    whole, _ = talk(always_search, recorder=recorder, max_turns=4)
    memory = Memory(
        replies={key: value for key, value in recorder.replies.items() if key[0] <= 2},
        results={key: value for key, value in recorder.results.items() if key[0] <= 1},
    )
    session = StubSession("x")
    again, teacher = talk(always_search, memory=memory, session=session, max_turns=4)
    assert [a.turn for a in teacher.asked] == [3, 4]
    assert [c.id for c in session.seen] == ["call_2_0", "call_3_0"]
    assert [t.results for t in again.turns] == [t.results for t in whole.turns]


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("kept", [kept for n in range(3) for kept in itertools.combinations(range(3), n)])
def test_a_kill_inside_a_turn_moves_no_limit(turn: int, kept: tuple[int, ...]) -> None:
    """Three searches a turn, eight allowed: whatever of a turn was recorded, the same eight are answered."""

    class Limited(StubSession):
        async def call(self, asked: ToolCall, *, made: int = 0) -> ToolResult:
            if made >= 8:
                return ToolResult(call_id=asked.id, name="search", status="ok", content="", meta={"cap": "trajectory"})
            await asyncio.sleep(0.001 if asked.id.endswith("0") else 0.0)
            return await super().call(asked, made=made)

    def three(asked: Asked) -> Mapping[str, Any]:
        if asked.told_to_answer:
            return completion("<answer>right</answer>")
        return completion(calls=[call("search", {"query": f"{asked.turn} {i}"}) for i in range(3)])

    recorder = Notes()
    whole, _ = talk(three, session=Limited("x"), recorder=recorder, max_searches=8)
    assert ["cap" in r.meta for t in whole.turns for r in t.results] == [False] * 8 + [True]
    memory = Memory(
        replies={key: reply for key, reply in recorder.replies.items() if key[0] <= turn},
        results={key: r for key, r in recorder.results.items() if key[0] < turn or (key[0] == turn and key[1] in kept)},
    )
    known = set(memory.results)
    session = Limited("x")
    again, _ = talk(three, session=session, memory=memory, max_searches=8)
    assert [t.results for t in again.turns] == [t.results for t in whole.turns]
    answered = {key for key, r in recorder.results.items() if "cap" not in r.meta}
    assert {c.id for c in session.seen} == {f"call_{t}_{position}" for t, position in answered - known}


def test_thinking_of_every_turn_goes_back_to_the_teacher() -> None:
    done, teacher = talk(always_search, max_turns=3)
    last = teacher.asked[-1].body["messages"]
    kept = [message for turn in done.turns[:-1] for message in turn_messages(turn)]
    assert [m["content"] for m in last[2:]] == [m["content"] for m in kept]
    assert all(m["content"].startswith("<think>\nI think") for m in last if m["role"] == "assistant")


def test_seeds_are_fixed_and_apart() -> None:
    seeds = {
        request_seed(q, sample, turn, ask, 1)
        for q in ("a", "b")
        for sample in range(4)
        for turn in range(5)
        for ask in (0, 1)
    }
    assert len(seeds) == 80
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert request_seed("a", 3, 0, 0, 1) % 16 == 3
    assert request_seed("a", 3, 0, 0, 1) != request_seed("a", 3, 0, 0, 2)
