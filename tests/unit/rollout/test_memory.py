"""What a damaged journal leaves behind: nothing is kept that belongs to a reply which is missing."""

from __future__ import annotations

import pytest

from tir_distill.records import ToolResult, Usage
from tir_distill.rollout import Memory
from tir_distill.teacher import AskedCall, Reply


def reply(calls: int = 0) -> Reply:
    asked = tuple(AskedCall("search", f'{{"query":"{n}"}}') for n in range(calls))
    return Reply(thinking="", content="", calls=asked, finish_reason="stop", usage=Usage())


def remembered(replies: dict[tuple[int, int], int], results: list[tuple[int, int]]) -> Memory:
    """``replies``: (turn, ask) -> number of calls."""
    memory = Memory()
    memory.replies = {key: reply(calls) for key, calls in replies.items()}
    memory.results = {
        (turn, position): ToolResult(call_id=f"call_{turn}_{position}", name="search", status="ok", content="")
        for turn, position in results
    }
    return memory


@pytest.mark.parametrize(
    ("replies", "results", "left", "left_results"),
    [
        # whole: two turns and a last answer
        (
            {(0, 0): 1, (1, 0): 2, (2, 0): 0},
            [(0, 0), (1, 0), (1, 1)],
            [(0, 0), (1, 0), (2, 0)],
            [(0, 0), (1, 0), (1, 1)],
        ),
        # killed while the second call of turn 1 was made
        ({(0, 0): 1, (1, 0): 2}, [(0, 0), (1, 0)], [(0, 0), (1, 0)], [(0, 0), (1, 0)]),
        # the reply of turn 1 is lost: its results are of calls that nobody knows
        ({(0, 0): 1, (2, 0): 0}, [(0, 0), (1, 0)], [(0, 0)], [(0, 0)]),
        # the reply of turn 0 is lost
        ({(1, 0): 0}, [(0, 0)], [], []),
        # a result of turn 0 is lost: later replies answered another history
        ({(0, 0): 2, (1, 0): 0}, [(0, 1)], [(0, 0)], [(0, 1)]),
        # asked for once more in turn 1; then that second reply is lost
        ({(0, 0): 1, (1, 0): 0, (1, 1): 1}, [(0, 0), (1, 0)], [(0, 0), (1, 0), (1, 1)], [(0, 0), (1, 0)]),
        ({(0, 0): 1, (1, 0): 0, (2, 0): 0}, [(0, 0), (1, 0)], [(0, 0), (1, 0)], [(0, 0)]),
        # the first reply of turn 1 is lost: the second one followed it
        ({(0, 0): 1, (1, 1): 1, (2, 0): 0}, [(0, 0), (1, 0)], [(0, 0)], [(0, 0)]),
        # a call above the limit of a turn was never run
        ({(0, 0): 4, (1, 0): 0}, [(0, 0), (0, 1), (0, 2)], [(0, 0), (1, 0)], [(0, 0), (0, 1), (0, 2)]),
    ],
)
def test_gaps_are_closed(
    replies: dict[tuple[int, int], int],
    results: list[tuple[int, int]],
    left: list[tuple[int, int]],
    left_results: list[tuple[int, int]],
) -> None:
    memory = remembered(replies, results)
    memory.close_gaps(3)
    assert (sorted(memory.replies), sorted(memory.results)) == (left, left_results)
