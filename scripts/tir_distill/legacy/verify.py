"""Recorded outputs of converted rows against what their cells give in the sandbox (issue: ``verify_execution``).

Every python cell of a row runs, in order, in one session with the row's input pictures placed by the convention (seed
section 10.1). What a cell comes to:

| verdict | meaning |
| --- | --- |
| match | same text (``outputs_alike``), and pictures where the record has some; or the same exception as recorded |
| mismatch | it ran, and says something else |
| error | it failed, timed out or was killed, where the record shows an output; or fails in another way |
| no_picture | the code reads an input picture and the row has none: not run |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from ..export import IMAGE_TAG, Row
from ..records import Progress, Stopped, atomic_writer, dumps, read_jsonl
from ..records.behaviour import has_image_code
from ..sandbox import CellResult, Sandbox
from .convention import uses
from .outputs_alike import alike, error_name, plain
from .window import in_order

CellVerdict = Literal["match", "mismatch", "error", "no_picture"]
WORST: tuple[CellVerdict, ...] = ("error", "mismatch", "no_picture", "match")
SHOWN = 300
"""Characters of either output in the side report."""


@dataclass
class VerifyReport:
    """Counts; ``rows`` = ``rows_without_code`` + the sum of ``row_verdicts``."""

    rows: int = 0
    rows_without_code: int = 0
    cells: Counter[str] = field(default_factory=Counter)
    row_verdicts: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "rows_without_code": self.rows_without_code,
            "cells": {name: self.cells[name] for name in WORST},
            "row_verdicts": {name: self.row_verdicts[name] for name in WORST},
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """One python call of a row and what its result was recorded as."""

    message: int
    code: str
    recorded: str


def cells_of(row: Mapping[str, Any]) -> Iterator[Cell]:
    """Python calls in order."""
    told = {m["tool_call_id"]: m["content"] for m in row["messages"] if m["role"] == "tool"}
    for number, message in enumerate(row["messages"]):
        for call in message.get("tool_calls") or ():
            if call["function"]["name"] == "python":
                yield Cell(number, orjson.loads(call["function"]["arguments"])["code"], told.get(call["id"], ""))


def judge(recorded: str, result: CellResult) -> CellVerdict:
    """One cell that ran."""
    if result.status != "ok":
        raised = error_name(result.error)
        return "match" if raised is not None and raised == error_name(plain(recorded)) else "error"
    if IMAGE_TAG in recorded and not result.images:
        return "mismatch"
    return "match" if alike(recorded, result.stdout) else "mismatch"


async def verify_row(row: Row, sandbox: Sandbox, img_root: Path) -> dict[str, Any]:
    """``{"id", "verdict", "cells": [{"message", "verdict", "recorded", "real"}]}``; verdict ``no_code`` without cells.

    Raises Stopped when the sandbox itself fails twice: that says nothing about the row.
    """
    cells = list(cells_of(row))
    entry: dict[str, Any] = {"id": row["id"], "verdict": "no_code", "cells": []}
    if not cells:
        return entry
    given = sum(m["content"].count(IMAGE_TAG) for m in row["messages"] if m["role"] == "user")
    if not given and any(has_image_code(cell.code) or any(uses(cell.code)) for cell in cells):
        entry["cells"] = [{"message": cell.message, "verdict": "no_picture"} for cell in cells]
        return entry | {"verdict": "no_picture"}
    note = ""
    for _ in range(2):
        entry["cells"] = []
        session = await sandbox.session([img_root / path for path in row["images"][:given]])
        try:
            for cell in cells:
                result = await session.run(cell.code)
                if result.status == "infrastructure":
                    note = result.note
                    break
                found: dict[str, Any] = {"message": cell.message, "verdict": judge(cell.recorded, result)}
                if found["verdict"] != "match":
                    found |= {"recorded": cell.recorded[:SHOWN], "real": result.text[:SHOWN]}
                entry["cells"].append(found)
            else:
                verdicts = {item["verdict"] for item in entry["cells"]}
                return entry | {"verdict": next(name for name in WORST if name in verdicts)}
        finally:
            await session.close()
    raise Stopped("sandbox", f"{row['id']}: {note}")


async def verify_file(
    rows: Path,
    side: Path,
    *,
    sandbox: Sandbox,
    img_root: Path,
    at_once: int = 4,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> VerifyReport:
    """One line per row to ``side``, in order; to ``kept`` the rows without code and those whose every cell matches."""
    report = VerifyReport()

    async def work(row: Row) -> tuple[Row, dict[str, Any]]:
        return row, await verify_row(row, sandbox, img_root)

    with ExitStack() as stack:
        out = stack.enter_context(atomic_writer(side))
        good = stack.enter_context(atomic_writer(kept)) if kept else None
        async for row, entry in in_order(read_jsonl(rows), work, at_once):
            out.write(dumps(entry) + b"\n")
            report.rows += 1
            if entry["verdict"] == "no_code":
                report.rows_without_code += 1
            else:
                report.row_verdicts[entry["verdict"]] += 1
            report.cells.update(cell["verdict"] for cell in entry["cells"])
            if good is not None and entry["verdict"] in ("no_code", "match"):
                good.write(dumps(row) + b"\n")
            if progress is not None:
                progress.update(done=report.rows, matching=report.row_verdicts["match"])
    return report
