"""Bringing a fresh python session to where the conversation had left the old one (RULINGS 9)."""

from __future__ import annotations

from ..records import ToolCall, ToolResult
from .faults import SampleFault
from .memory import Memory
from .ports import Recorder, Session
from .tool_turn import STATEFUL, keep_calls


async def restore_python(memory: Memory, session: Session, recorder: Recorder, max_calls: int) -> None:
    """Run the remembered cells again, in order, and compare what they say.

    At the first difference the conversation goes on from the beginning of that turn: its reply stays, its cells'
    results become the new ones, everything later is forgotten, and the record says so. The reply stays because it was
    given before the cell ran: its history is the same, so asking again would ask the same request, with the same seed,
    and pay for it twice.
    """
    for turn, position, call in _cells(memory, max_calls):
        before = memory.results.get((turn, position))
        if before is None:  # asked for but never finished: the loop runs it
            continue
        result = await session.call(call)
        if result.status == "infrastructure":
            raise SampleFault(f"tool_{call.name}", result.content[:200])
        if not _same(before, result):
            note = f"python output differed when turn {turn} was replayed: restarted from there"
            recorder.rewind(turn, note)
            memory.forget_after(turn)
            for key in [key for key in memory.results if key[0] == turn and key[1] > position]:
                if _is_stateful(memory, key, max_calls):
                    del memory.results[key]
            memory.results[turn, position] = result
            memory.notes.append(note)
            recorder.result(turn, position, result)
            return


def _cells(memory: Memory, max_calls: int) -> list[tuple[int, int, ToolCall]]:
    """Remembered python calls in order, up to the first turn whose reply is missing."""
    cells: list[tuple[int, int, ToolCall]] = []
    turn = 0
    while (reply := memory.replies.get((turn, 1)) or memory.replies.get((turn, 0))) is not None:
        calls = keep_calls(reply.calls, turn, max_calls)
        cells += [(turn, position, call) for position, call in enumerate(calls) if call.name == STATEFUL]
        turn += 1
    return cells


def _is_stateful(memory: Memory, key: tuple[int, int], max_calls: int) -> bool:
    return any((turn, position) == key for turn, position, _ in _cells(memory, max_calls))


def _same(before: ToolResult, after: ToolResult) -> bool:
    return (before.status, before.content, [p.sha256 for p in before.images]) == (
        after.status,
        after.content,
        [p.sha256 for p in after.images],
    )
