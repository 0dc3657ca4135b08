"""Whether later cells can do without one that is cut: names, objects, modules' state and files (F5).

What cannot be decided counts as needed. A sample is then dropped; the other choice would keep rows whose later results
cannot have come about without the cell that is no longer there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from .cell_files import GIVEN
from .cell_names import CellNames, Function, Outside, cell_names, connected


class Cell(Protocol):
    """One python call of a sample."""

    @property
    def code(self) -> str: ...

    @property
    def cut(self) -> bool: ...


class CellChain:
    """The cells of one sample in their order."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = cells
        self._names: list[CellNames] = []

    def _all(self) -> list[CellNames]:
        """Names of all cells; read at the first question, since most samples have nothing to cut."""
        imports: dict[str, str] = {}
        functions: dict[str, Function] = {}
        while len(self._names) < len(self._cells):
            names = cell_names(self._cells[len(self._names)].code, imports, functions)
            imports, functions = dict(names.imports), dict(names.functions)
            self._names.append(names)
        return self._names

    def needs(self, place: int) -> str | None:
        """Why what is left needs the cell at ``place``, or None."""
        every = self._all()
        mine = every[place]
        before = [names for names, cell in zip(every[:place], self._cells, strict=False) if not cell.cut]
        after = [
            names for names, cell in zip(every[place + 1 :], self._cells[place + 1 :], strict=True) if not cell.cut
        ]
        if mine.ran and any(
            (mine.outside.dynamic and (n.needed or n.outside.dynamic)) or (n.outside.dynamic and _leaves(mine))
            for n in after
        ):
            return "state_unknown"
        return self._name_needed(place, before, after) or _file_needed(
            mine.outside, [names.outside for names in before], [names.outside for names in after]
        )

    def _name_needed(self, place: int, before: list[CellNames], after: list[CellNames]) -> str | None:
        mine = self._names[place]
        known = frozenset[str]().union(*(names.defined for names in before))
        missing = set(mine.defined - known)
        if mine.ran:
            links = [link for names in (*before, mine) for link in names.links]
            missing |= connected(mine.changed, links)
            missing |= self._other_values(place, missing)
        seen = set(known)
        for names in after:
            if names.needed & missing or ("*" in missing and names.needed - seen):
                return "name_needed"
            if any(_overlap(part, used) for part in mine.outside.state for used in names.outside.modules):
                return "state_needed"
            missing -= names.defined
            seen |= names.defined
        return None

    def _other_values(self, place: int, missing: set[str]) -> set[str]:
        """Names to which the cell gave another value than they would have without it.

        An import done again is none, nor the same line once more, if nothing that it rests on has changed in between.
        """
        mine = self._names[place]
        last: dict[str, int] = {}
        """Name -> the last kept cell before that gave it a value."""
        touched: dict[str, int] = {}
        links: list[frozenset[str]] = []
        for index, names in enumerate(self._names[:place]):
            if self._cells[index].cut:
                continue
            links += names.links
            last.update(dict.fromkeys(names.defined - names.imported, index))
            touched.update(dict.fromkeys(connected(names.changed, links), index))
        other: set[str] = set()
        pending = mine.defined - mine.imported - missing
        while True:
            bad = missing | other
            new = {name for name in pending - other if not self._repeats(name, place, bad, last, touched)}
            if not new:
                return other
            other |= new

    def _repeats(self, name: str, place: int, bad: set[str], last: dict[str, int], touched: dict[str, int]) -> bool:
        where = last.get(name)
        lines = _assignments(name, self._cells[place].code)
        if where is None or not lines or touched.get(name, -1) >= where:
            return False
        if not lines <= {line.strip() for line in self._cells[where].code.split("\n")}:
            return False
        sources = set(re.findall(r"[^\W\d]\w*", " ".join(lines))) - {name}
        return all(
            source not in bad and last.get(source, -1) <= where and touched.get(source, -1) <= where
            for source in sources
        )


def _leaves(names: CellNames) -> bool:
    done = names.outside
    return bool(names.defined or names.changed or done.state or done.written or done.writes_any)


def _assignments(name: str, code: str) -> set[str]:
    """Lines of a cell that give a name its value by plain assignment."""
    return {line.strip() for line in code.split("\n") if re.match(rf"{re.escape(name)}\s*=(?!=)", line.strip())}


def _overlap(part: str, used: str) -> bool:
    return used == part or used.startswith(f"{part}.") or part.startswith(f"{used}.")


def _file_needed(mine: Outside, before: list[Outside], after: list[Outside]) -> str | None:
    """Whether a later cell reads a file that the cut one wrote, or may have written."""
    written = set(mine.written)
    named = {GIVEN}.union(*(names.read | names.written for names in before))
    for names in after:
        unexplained = mine.writes_any and names.read - named
        if names.read & written or unexplained or (GIVEN in written and names.ours):
            return "file_needed"
        if names.reads_any and (written or mine.writes_any):
            return "file_needed"
        written -= names.written
        named |= names.read | names.written
    return None
