"""A python session brought back by running its cells again (RULINGS 9)."""

from __future__ import annotations

import asyncio

from rollout_helpers import StubSession
from tir_distill.records import ToolResult, Usage
from tir_distill.rollout import Memory
from tir_distill.rollout.replay import restore_python
from tir_distill.teacher import AskedCall, Reply


class Notes:
    def __init__(self) -> None:
        self.events: list[tuple[str, int]] = []

    def reply(self, turn: int, ask: int, reply: Reply) -> None:
        raise AssertionError

    def result(self, turn: int, position: int, result: ToolResult) -> None:
        self.events.append(("result", turn))

    def rewind(self, turn: int, note: str) -> None:
        self.events.append(("rewind", turn))


def remembered(*outputs: str) -> Memory:
    """One python cell a turn, with these outputs; a search before each."""
    memory = Memory()
    for turn, output in enumerate(outputs):
        calls = (AskedCall("search", '{"query":"a"}'), AskedCall("python", '{"code":"n"}'))
        memory.replies[turn, 0] = Reply(
            thinking="t", content="", calls=calls, finish_reason="tool_calls", usage=Usage()
        )
        memory.results[turn, 0] = ToolResult(call_id=f"call_{turn}_0", name="search", status="ok", content="s")
        memory.results[turn, 1] = ToolResult(call_id=f"call_{turn}_1", name="python", status="ok", content=output)
    return memory


def restore(memory: Memory) -> tuple[StubSession, Notes]:
    session, notes = StubSession("x"), Notes()
    asyncio.run(restore_python(memory, session, notes, 3))
    return session, notes


def test_equal_output_changes_nothing() -> None:
    memory = remembered("cell 1", "cell 2", "cell 3")
    session, notes = restore(memory)
    assert [c.name for c in session.seen] == ["python"] * 3
    assert (len(memory.replies), len(memory.results), notes.events, memory.notes) == (3, 6, [], [])


def test_other_output_goes_on_from_that_turn_and_says_so() -> None:
    memory = remembered("cell 1", "the time is 12:01", "cell 3")
    _, notes = restore(memory)
    assert sorted(memory.replies) == [(0, 0), (1, 0)]
    assert memory.results[1, 1].content == "cell 2"
    assert memory.results[1, 0].content == "s"
    assert (2, 0) not in memory.results
    assert notes.events == [("rewind", 1), ("result", 1)]
    assert memory.notes == ["python output differed when turn 1 was replayed: restarted from there"]


def test_a_cell_that_never_ended_is_left_to_the_loop() -> None:
    memory = remembered("cell 1", "cell 2")
    del memory.results[1, 1]
    session, _ = restore(memory)
    assert len(session.seen) == 1


def test_without_cells_no_session_is_started() -> None:
    memory = Memory()
    memory.replies[0, 0] = Reply(
        thinking="", content="", calls=(AskedCall("search", "{}"),), finish_reason="stop", usage=Usage()
    )
    session, _ = restore(memory)
    assert session.seen == []
