"""F5 and its repair: picture code that failed or whose output nobody used is cut out (seed section 5).

In a sample with pictures, a python call that handles pictures is *good* when it ran without error and a later assistant
text or call uses its output: a number, a word or a picture that first appeared there. A picture counts as used by the
next turn, in whatever words, unless that says that it stands on something else: nobody can tell from words alone that
a sign was read in one picture and not in another. Every other call is cut with its result, and its whole turn too when
nothing else was called in it. The chain is *broken*, and the sample dropped as it was, when what is left still needs
what was cut, or may need it: a later cell takes a name, an object's state or a file from the cut cell, the answer or a
later quote stands on the cut output alone, the next turn speaks of it, or our notice to answer now went with it.

Decisions run from the last call to the first, because a use inside a call that is itself cut is no use. Calls that
failed are settled before: their output never counts as a source.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ..records import TokenCounts, ToolCall, ToolResult, Trajectory, Turn
from ..records.behaviour import has_image_code
from .calls import code_of, paired, texts
from .cell_chain import CellChain
from .cell_choices import chosen_words
from .mentions import (
    all_mentions,
    mentions,
    speaks_of_failure,
    speaks_of_other_source,
    speaks_of_picture,
    speaks_of_run,
    speaks_of_tool_picture,
    with_roundings,
)
from .report import Fail

RULE = "F5"
PATCH = 32
"""Pixels along one side of what becomes one picture token in Qwen3.5 (16-pixel patches merged two by two)."""


@dataclass(frozen=True, slots=True)
class Repair:
    """The repaired trajectory, or the untouched one and why it cannot be repaired."""

    trajectory: Trajectory
    fail: Fail | None = None


@dataclass(slots=True)
class _Cell:
    """One python call of the sample."""

    position: int
    """Index of its turn in ``turns``."""
    call: ToolCall
    result: ToolResult | None
    code: str
    image: bool
    cut: bool = False

    @property
    def failed(self) -> bool:
        if self.result is None or self.result.status != "ok":
            return True
        return bool(self.result.meta.get("cell", "ok") != "ok")

    @property
    def output(self) -> str:
        return self.result.content if self.result is not None else ""

    @property
    def pictures(self) -> bool:
        return bool(self.result and self.result.images)


def repair(trajectory: Trajectory) -> Repair:
    """Cut what F5 says must go. Pure: the given trajectory is never changed."""
    if not trajectory.question.images:
        return Repair(trajectory)
    cells = [
        _Cell(position, call, result, code := code_of(call), has_image_code(code))
        for position, turn in enumerate(trajectory.turns)
        for call, result in paired(turn)
        if call.name == "python" and call.malformed is None
    ]
    suspects = [cell for cell in cells if cell.image]
    if not suspects:
        return Repair(trajectory)
    for cell in suspects:
        cell.cut = cell.failed
    view = _View(trajectory, cells)
    for cell in reversed(suspects):
        if not cell.cut and not view.is_used(cell):
            cell.cut = True
    cuts = [cell for cell in suspects if cell.cut]
    if not cuts:
        return Repair(trajectory)
    broken = next((reason for cell in cuts if (reason := view.breaks(cell))), None)
    if broken:
        return Repair(trajectory, Fail(RULE, broken))
    return Repair(_without(trajectory, cuts))


class _View:
    """The sample as it would be without the cells cut so far."""

    def __init__(self, trajectory: Trajectory, cells: list[_Cell]) -> None:
        self._trajectory = trajectory
        self._cells = cells
        self._by_call = {cell.call.id: cell for cell in cells}
        self._chain = CellChain(cells)
        self._said = [mentions(f"{turn.thinking}\n{turn.content}") for turn in trajectory.turns]
        self._called = {call.id: all_mentions(texts(call)) for turn in trajectory.turns for call in turn.calls}
        self._returned: dict[int, set[str]] = {}
        self._asked = mentions(trajectory.question.question) | mentions(trajectory.system)
        self._answer = mentions(trajectory.answer or "")

    def _is_cut(self, call_id: str) -> bool:
        cell = self._by_call.get(call_id)
        return cell is not None and cell.cut

    def _turn_is_cut(self, turn: Turn) -> bool:
        last = turn is self._trajectory.turns[-1]  # it holds the answer and stays, without its calls
        return not last and bool(turn.calls) and all(self._is_cut(call.id) for call in turn.calls)

    def _of_result(self, result: ToolResult) -> set[str]:
        """Mentions of one result; results are long, so they are read only when something is looked for in them."""
        if id(result) not in self._returned:
            self._returned[id(result)] = mentions(result.text)
        return self._returned[id(result)]

    def _first_seen(self, cell: _Cell, wanted: set[str], *, with_own: bool = True) -> set[str]:
        """Those of ``wanted`` that nobody knew before the cell's output told them.

        ``with_own``: its own code and the words that led to it count as known; not so when they go with it.
        """
        fresh = with_roundings(mentions(cell.output)) & wanted
        fresh -= self._asked
        if with_own:
            fresh -= self._said[cell.position] | self._called[cell.call.id]
        for index, turn in enumerate(self._trajectory.turns[: cell.position + 1]):
            if not fresh:
                return fresh
            if not self._turn_is_cut(turn):
                fresh -= self._said[index]
                for call in turn.calls:
                    if not self._is_cut(call.id):
                        fresh -= self._called[call.id]
            for result in turn.results:
                if result.call_id == cell.call.id:  # results come in call order
                    break
                if fresh and not self._is_cut(result.call_id):
                    fresh -= self._of_result(result)
        return fresh

    def _after(self, position: int) -> set[str]:
        """What later turns say and ask for, and the answer."""
        said = set(self._answer)
        for index in range(position + 1, len(self._trajectory.turns)):
            turn = self._trajectory.turns[index]
            if self._turn_is_cut(turn):
                continue
            said |= self._said[index]
            for call in turn.calls:
                if not self._is_cut(call.id):
                    said |= self._called[call.id]
        return said

    def _later_texts(self, position: int) -> list[str]:
        return [
            f"{turn.thinking}\n{turn.content}"
            for turn in self._trajectory.turns[position + 1 :]
            if not self._turn_is_cut(turn)
        ]

    def is_used(self, cell: _Cell) -> bool:
        """Whether anything later uses what first appeared in the cell's output."""
        later = self._later_texts(cell.position)
        if cell.pictures and later and later[0].strip():
            if speaks_of_picture(later[0]) or not speaks_of_other_source(later[0]):
                return True
            if any(map(speaks_of_tool_picture, later[1:])):
                return True
        after = self._after(cell.position)
        return bool(self._first_seen(cell, after) or after & chosen_words(cell.code, cell.output))

    def breaks(self, cell: _Cell) -> str | None:
        """Why the sample cannot do without the cell, or None."""
        if cell.result is not None and cell.result.notice:
            return "notice_cut"
        place = next(index for index, other in enumerate(self._cells) if other is cell)
        return self._chain.needs(place) or (self._quoted(cell) if cell.failed else self._spoken_of(cell))

    def _spoken_of(self, cell: _Cell) -> str | None:
        """Whether the next turn speaks of an output that none of its words quotes: "the pixel is pure red"."""
        later = self._later_texts(cell.position)
        return "output_spoken_of" if mentions(cell.output) and later and speaks_of_run(later[0]) else None

    def _quoted(self, cell: _Cell) -> str | None:
        """Whether a later text speaks of the failed cell's output, or of the failure itself."""
        new = self._first_seen(cell, self._after(cell.position))
        known: set[str] = set()
        pictures = False
        for index in range(cell.position, len(self._trajectory.turns)):
            turn = self._trajectory.turns[index]
            if index > cell.position and not self._turn_is_cut(turn):
                said = set(self._said[index])
                for call in turn.calls:
                    if not self._is_cut(call.id):
                        said |= self._called[call.id]
                if not (new & said) <= known:
                    return "quote_needed"
                words = f"{turn.thinking}\n{turn.content}"
                if index == cell.position + 1 and speaks_of_failure(words):
                    return "failure_quoted"
                if cell.pictures and not pictures and speaks_of_tool_picture(words):
                    return "picture_needed"
                known |= said
            for result in turn.results:
                if not self._is_cut(result.call_id):
                    known |= with_roundings(self._of_result(result)) if new else set()
                    pictures = pictures or bool(result.images)
        return "answer_needed" if not (new & self._answer) <= known or self._answers(cell) else None

    def _answers(self, cell: _Cell) -> bool:
        """Whether the answer stands nowhere but in the output of the cell and what goes with it."""
        left = self._first_seen(cell, self._answer, with_own=False)
        for turn in self._trajectory.turns[cell.position :]:
            for result in turn.results:
                if left and not self._is_cut(result.call_id):
                    left -= with_roundings(self._of_result(result))
        return bool(left)


def _without(trajectory: Trajectory, cuts: list[_Cell]) -> Trajectory:
    gone = {cell.call.id for cell in cuts}
    turns: list[Turn] = []
    removed_output = 0
    removed_results = 0
    removed_pictures = 0
    for turn in trajectory.turns:
        if gone.isdisjoint(call.id for call in turn.calls):
            turns.append(turn)
            continue
        calls = tuple(call for call in turn.calls if call.id not in gone)
        results = tuple(result for result in turn.results if result.call_id not in gone)
        for result in turn.results:
            if result.call_id in gone:
                removed_results += len(result.text)
                removed_pictures += sum(picture_tokens(p.width, p.height) for p in result.images)
        kept = dataclasses.replace(turn, calls=calls, results=results)
        if calls or turn is trajectory.turns[-1]:
            turns.append(kept)
            removed_output += _written(turn) - _written(kept)
        else:
            removed_output += _written(turn)
    indices = {trajectory.turns[cell.position].index for cell in cuts}
    return dataclasses.replace(
        trajectory,
        turns=tuple(turns),
        repaired_turns=tuple(sorted(indices | set(trajectory.repaired_turns))),
        notes=(*trajectory.notes, *(f"f5_cut:{cell.call.id}" for cell in cuts)),
        tokens=_tokens(trajectory, removed_output, removed_results, removed_pictures),
    )


def picture_tokens(width: int, height: int) -> int:
    """Tokens of one tool picture under Qwen3.5's patch rule."""
    return -(-width // PATCH) * -(-height // PATCH)


def _written(turn: Turn) -> int:
    return len(turn.thinking) + len(turn.content) + sum(len(call.arguments) for call in turn.calls)


def _tokens(trajectory: Trajectory, output: int, results: int, pictures: int) -> TokenCounts:
    """Counts without the cut part, estimated from characters: filtering tokenises nothing.

    The teacher's output shrinks in proportion. The sequence shrinks by that, by the cut pictures and by one token for
    four characters of tool text: rather too little than too much, since F11 is an upper bound.
    """
    before = trajectory.tokens
    written = sum(_written(turn) for turn in trajectory.turns)
    assistant = round(before.assistant * (1 - output / written)) if written else before.assistant
    sequence = before.sequence - (before.assistant - assistant) - pictures - results // 4
    return TokenCounts(assistant=assistant, sequence=max(sequence, assistant), exact=False)
