"""Sheets of an xlsx as CSV, and the fill colours of its cells, which some questions are about."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Protocol
from xml.etree import ElementTree

MAX_ROWS = 100_000
MAX_COLUMNS = 2_000
MAX_CELLS = 2_000_000
_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})$")
_DATE_FORMATS = {*range(14, 23), 45, 46, 47}
"""Built-in number formats that show a date or a time (ECMA-376, 18.8.30)."""


class Parts(Protocol):
    """The archive (``office.Package``)."""

    names: list[str]

    def xml(self, name: str) -> ElementTree.Element: ...


Piece = tuple[str, str, str]
"""Suffix of the file name, what it is, its text."""


def sheets(package: Parts) -> list[Piece]:
    """A CSV per sheet, and one of the filled cells where there are any. Raises what the package raises."""
    shared = _shared(package)
    dates, fills = _styles(package)
    pieces: list[Piece] = []
    for number, (title, part) in enumerate(_listed(package), start=1):
        rows: dict[int, dict[int, str]] = {}
        coloured: list[tuple[str, str]] = []
        for (row, column), cell in islice(_cells(package.xml(part)), MAX_CELLS):
            style = int(cell.get("s") or 0) if (cell.get("s") or "0").isdigit() else 0
            if style in fills:
                coloured.append((_name(row, column), fills[style]))
            value = _value(cell, shared, is_date=style in dates)
            if value and row <= MAX_ROWS and column <= MAX_COLUMNS:
                rows.setdefault(row, {})[column] = value
        pieces.append((f"_sheet{number}.csv", f'sheet "{title}" as CSV', _csv(rows)))
        if coloured:
            table = io.StringIO()
            csv.writer(table, lineterminator="\n").writerows([("cell", "fill"), *coloured])
            pieces.append((f"_sheet{number}_fills.csv", f'fill colours of sheet "{title}"', table.getvalue()))
    return pieces


def _local(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _texts(element: ElementTree.Element) -> str:
    """Text of an item without its phonetic guide."""
    out = []
    for child in element:
        name = _local(child)
        if name == "t":
            out.append(child.text or "")
        elif name == "r":
            out.append(_texts(child))
    return "".join(out)


def _shared(package: Parts) -> list[str]:
    if "xl/sharedStrings.xml" not in package.names:
        return []
    return [_texts(item) for item in package.xml("xl/sharedStrings.xml") if _local(item) == "si"]


def _listed(package: Parts) -> Iterator[tuple[str, str]]:
    """Title and part of each sheet in the order of the tabs."""
    book = package.xml("xl/workbook.xml")
    links = {}
    for item in package.xml("xl/_rels/workbook.xml.rels"):
        target = item.get("Target", "")
        links[item.get("Id", "")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    for item in book.iter():
        if _local(item) == "sheet":
            link = next((value for key, value in item.attrib.items() if key.endswith("}id")), "")
            part = links.get(link, "")
            if "worksheets/" in part:  # a chart sheet has no cells
                yield item.get("name", "?"), part


def _cells(sheet: ElementTree.Element) -> Iterator[tuple[tuple[int, int], ElementTree.Element]]:
    """(row, column), from 1, and the cell. Places may be left out; then a cell follows the one before it."""
    row = 0
    for line in sheet.iter():
        if _local(line) != "row":
            continue
        given = line.get("r", "")
        row = int(given) if given.isdigit() and len(given) < 9 else row + 1
        column = 0
        for cell in line:
            if _local(cell) != "c":
                continue
            match = _PLACE.match(cell.get("r", ""))
            column = _number(match[1]) if match else column + 1
            yield (row, column), cell


def _number(letters: str) -> int:
    value = 0
    for letter in letters:
        value = value * 26 + ord(letter) - 64
    return value


def _name(row: int, column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def _value(cell: ElementTree.Element, shared: list[str], *, is_date: bool) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return next((_texts(item) for item in cell if _local(item) == "is"), "")
    text = next((item.text or "" for item in cell if _local(item) == "v"), "")
    if kind == "s":
        return shared[int(text)] if text.isdigit() and int(text) < len(shared) else ""
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(text, text)
    if kind == "n" and is_date and text:
        return _date(text)
    return text


def _date(text: str) -> str:
    """A serial day as ISO text (the 1900 system); the number itself when it is none."""
    try:
        serial = float(text)
        moment = datetime.datetime(1899, 12, 30) + datetime.timedelta(seconds=round(serial * 86400))
    except (ValueError, OverflowError):
        return text
    if serial < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if serial == int(serial) else moment.isoformat(sep=" ")


def _styles(package: Parts) -> tuple[set[int], dict[int, str]]:
    """Numbers of cell styles that are dates, and the fill of those that have one."""
    if "xl/styles.xml" not in package.names:
        return set(), {}
    root = package.xml("xl/styles.xml")
    formats: dict[str, str] = {}
    fills: list[str | None] = []
    dates: set[int] = set()
    colours: dict[int, str] = {}
    for section in root:
        name = _local(section)
        if name == "numFmts":
            formats = {item.get("numFmtId", ""): item.get("formatCode", "") for item in section}
        elif name == "fills":
            fills = [_fill(item) for item in section]
        elif name == "cellXfs":
            for index, style in enumerate(section):
                code = style.get("numFmtId", "0")
                bare = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", formats.get(code, ""))
                if (code.isdigit() and int(code) in _DATE_FORMATS) or re.search(r"[ymdhs]", bare, re.IGNORECASE):
                    dates.add(index)
                fill = style.get("fillId", "0")
                colour = fills[int(fill)] if fill.isdigit() and int(fill) < len(fills) else None
                if colour:
                    colours[index] = colour
    return dates, colours


def _fill(fill: ElementTree.Element) -> str | None:
    """``#RRGGBB``, or a theme or palette number, of a solid fill."""
    for item in fill.iter():
        if _local(item) == "patternFill" and item.get("patternType") == "solid":
            for colour in item:
                if _local(colour) == "fgColor":
                    if colour.get("rgb"):
                        return f"#{colour.get('rgb', '')[-6:]}"
                    for kind in ("theme", "indexed"):
                        if colour.get(kind) is not None:
                            return f"{kind} {colour.get(kind)}"
    return None


def _csv(rows: dict[int, dict[int, str]]) -> str:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    width = max((max(row) for row in rows.values()), default=0)
    cells = 0
    for number in range(1, max(rows, default=0) + 1):
        row = rows.get(number, {})
        cells += width
        if cells > MAX_CELLS:
            break
        writer.writerow([row.get(column, "") for column in range(1, width + 1)])
    return table.getvalue()
