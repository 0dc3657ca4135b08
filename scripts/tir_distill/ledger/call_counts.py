"""How many searches a trajectory has made, whatever was killed and run again in between.

A trajectory that is taken up again repeats its unfinished turn, and calls have the same ids as before. Counting ids
rather than events keeps a repeated call from counting twice; an abandoned attempt's other calls must not count either.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

NO_TURN = -1
_TURN = re.compile(r"call_(\d+)_\d+")


@dataclass(frozen=True, slots=True)
class CallMark:
    """One search call as the ledger remembers it."""

    call_id: str
    turn: int
    attempt: str
    at: float


def turn_of(call_id: str) -> int:
    """The turn in ids of the form ``call_<turn>_<position>``; ``NO_TURN`` for any other id."""
    match = _TURN.fullmatch(call_id)
    return int(match.group(1)) if match else NO_TURN


def calls_before(marks: Iterable[CallMark], call_id: str, attempt: str) -> int:
    """Search calls of the trajectory so far, without the one named.

    Turns are run one after another, so marks of later turns belong to an attempt that was given up. Of each earlier
    turn the latest attempt's calls count; of the turn under way only this attempt's.
    """
    turn = turn_of(call_id)
    by_turn: dict[int, list[CallMark]] = defaultdict(list)
    for mark in marks:
        if mark.call_id != call_id and mark.turn <= turn:
            by_turn[mark.turn].append(mark)
    count = 0
    for number, group in by_turn.items():
        if number == NO_TURN:
            count += len(group)
            continue
        valid = attempt if number == turn else max(group, key=lambda mark: mark.at).attempt
        count += sum(mark.attempt == valid for mark in group)
    return count
