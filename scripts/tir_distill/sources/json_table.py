"""Rows of JSON files, one at a time: JSON Lines, and what stands in a ``.json`` file.

A ``.json`` file is read when it is certain what its rows are:

* a list of objects;
* an object with one key that holds a list of objects (lists of anything else and single values beside it are no rows);
* an object that maps ids to objects; the id becomes the row's ``id`` unless the object has one;
* JSON Lines under this name.

Anything else is an error of the file, since a guess would lose rows without a word. A row that is no object, or that
cannot be read, is a ``DamagedLine``. Bytes that are no UTF-8 become lone surrogates, which no field accepts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TextIO

import orjson

from ..records.errors import TirError

_CHUNK = 1 << 20
_FIRST_LINE = 1 << 26
"""A longer first line is no row of JSON Lines."""
_BOM = b"\xef\xbb\xbf"
_PIECE = re.compile(r'"(?:[^"\\]+|\\.)*"|"|[\[{]|[\]}]', re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]+|\\.)*"|[^\s,\[\]{}"]+', re.DOTALL)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """Stands for a line or an element that is no JSON object."""

    detail: str


def json_lines(path: Path) -> Iterator[Row | DamagedLine]:
    """One object a line; empty lines are passed over."""
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            if number == 1:
                line = line.removeprefix(_BOM)
            if not line.strip():
                continue
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                yield DamagedLine(f"{path.name}:{number}: {error}")
                continue
            yield value if isinstance(value, dict) else DamagedLine(f"{path.name}:{number}: not an object")


def json_rows(path: Path) -> Iterator[Row | DamagedLine]:
    """Rows of a ``.json`` file. Raises TirError when it is not certain what they are."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as handle:
        scan = _Scanner(path, handle)
        if scan.peek() == "[":
            yield from _rows_of(scan, path)
            scan.end()
            return
        if scan.peek() != "{":
            _unclear(path, "it begins with neither [ nor {")
        lists, objects, others = _outline(scan)
        more = scan.peek()
    if more:
        if more == "{" and _first_line_is_a_row(path):
            yield from json_lines(path)
            return
        _unclear(path, "there is more after the first object, which does not stand on one line")
    if len(lists) == 1 and not objects:
        yield from _under(path, next(iter(lists)))
    elif objects and not lists and not others:
        yield from _by_id(path)
    else:
        _unclear(path, f"it holds {len(lists)} lists of objects, {objects} objects and {others} other values")


def _unclear(path: Path, found: str) -> NoReturn:
    raise TirError(
        f"{path}: not certain what its rows are ({found}); expected a list of objects, one key that holds such a list, "
        "a mapping of ids to objects, or JSON Lines"
    )


def _outline(scan: _Scanner) -> tuple[Counter[str], int, int]:
    """Of the object that comes next: keys with lists of objects, number of objects, number of other values."""
    lists: Counter[str] = Counter()
    objects = others = 0
    for key in scan.members():
        kind = scan.peek()
        if kind == "[":
            before = lists[key]
            lists[key] += sum(isinstance(value, dict) for value in scan.elements())
            others += lists[key] == before
        else:
            scan.value()
            objects += kind == "{"
            others += kind != "{"
    return +lists, objects, others


def _rows_of(scan: _Scanner, path: Path) -> Iterator[Row | DamagedLine]:
    for number, value in enumerate(scan.elements(), start=1):
        yield value if isinstance(value, dict) else DamagedLine(f"{path.name}: element {number} {_why(value)}")


def _why(value: Any) -> str:
    return "cannot be read" if value is _UNREADABLE else "is not an object"


def _under(path: Path, wanted: str) -> Iterator[Row | DamagedLine]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as handle:
        scan = _Scanner(path, handle)
        for key in scan.members():
            if key == wanted and scan.peek() == "[":
                yield from _rows_of(scan, path)
            else:
                scan.value()


def _by_id(path: Path) -> Iterator[Row | DamagedLine]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape") as handle:
        scan = _Scanner(path, handle)
        for number, key in enumerate(scan.members(), start=1):
            value = scan.value()
            if isinstance(value, dict):
                yield {"id": key, **value}
            else:
                yield DamagedLine(f"{path.name}: value {number} {_why(value)}")


def _first_line_is_a_row(path: Path) -> bool:
    with path.open("rb") as handle:
        line = handle.readline(_FIRST_LINE).removeprefix(_BOM).strip()
    return line.startswith(b"{") and line.endswith(b"}")


_UNREADABLE = object()
"""Stands for a value whose end is known but that is no JSON, or that is nested too deep."""


class _Scanner:
    """Reads values one after the other; of the text only what is not yet read is in memory."""

    def __init__(self, path: Path, handle: TextIO) -> None:
        self._path = path
        self._handle = handle
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._read = 0

    def peek(self, also: str = "") -> str:
        """The next character that is neither white space nor among ``also``; empty at the end of the file."""
        while True:
            while self._at < len(self._text):
                char = self._text[self._at]
                if char not in " \t\r\n" and char not in also:
                    return char
                self._at += 1
            if not self._more():
                return ""

    def end(self) -> None:
        """Raise TirError unless the file ends here."""
        if self.peek():
            _unclear(self._path, "there is more after the end of the list")

    def elements(self) -> Iterator[Any]:
        """Values of the list that comes next; ``_UNREADABLE`` for those that are none."""
        self._at += 1
        while (char := self.peek(",")) != "]":
            if not char:
                self._cut()
            yield self.value()
            self._read += 1
        self._at += 1

    def members(self) -> Iterator[str]:
        """Keys of the object that comes next; the caller reads the value of each before it asks for another."""
        self.peek()
        self._at += 1
        while (char := self.peek(",")) != "}":
            if not char:
                self._cut()
            key = self.value() if char == '"' else None
            if not isinstance(key, str) or self.peek() != ":":
                _unclear(self._path, "it is not JSON")
            self._at += 1
            if not self.peek():
                self._cut()
            yield key
            self._read += 1
        self._at += 1

    def value(self) -> Any:
        """The value that begins at the next character, or ``_UNREADABLE``. Raises TirError when the file ends in it."""
        self.peek()
        whole = False
        while True:
            end: int | None
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):  # no JSON, an integer of too many digits, nested too deep; or cut
                value, end = _UNREADABLE, _end_of_value(self._text, self._at)
            if end is not None and (whole or end < len(self._text)):  # a number may go on in the next chunk
                self._at = end
                return value
            if not self._more():
                if end is None or whole:
                    self._cut()
                whole = True

    def _more(self) -> bool:
        rest = self._text[self._at :]
        more = self._handle.read(max(_CHUNK, len(rest)))
        if more:
            self._text, self._at = rest + more, 0
        return bool(more)

    def _cut(self) -> NoReturn:
        raise TirError(
            f"{self._path}: the file ends in the middle, after {self._read} elements; fetch the source again"
        )


def _end_of_value(text: str, at: int) -> int | None:
    """Where the value ends by its brackets and quotes alone; None when the text ends first."""
    if text[at : at + 1] not in ("[", "{"):
        found = _SCALAR.match(text, at)
        return found.end() if found else None if text[at : at + 1] in ('"', "") else at + 1
    depth = 0
    for piece in _PIECE.finditer(text, at):
        char = piece.group()
        if char == '"':
            return None
        if char in ("[", "{"):
            depth += 1
        elif char in ("]", "}"):
            depth -= 1
            if depth == 0:
                return piece.end()
    return None
