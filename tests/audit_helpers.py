"""A clean file of rows, and a small evaluation index, for the tests of the audit."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from export_helpers import SETTINGS, TOOLS, call, picture, places, prose, question
from tir_distill.audit import AuditReport, AuditSettings, audit_file
from tir_distill.config import load
from tir_distill.export import Tokens, to_row
from tir_distill.records import ToolResult, Trajectory, Turn, Verdict

Row = dict[str, Any]

EVALUATION_QUESTION = "Which bridge in the test set was opened by the mayor in 1932?"
EVALUATION_TEXT = "the committee met on the ninth of may and decided that the old harbour should be closed for good"


def sample(root: Path, number: int, bucket: str) -> Trajectory:
    """Nine messages: system, user, assistant (three calls), three results, assistant (one call), its result, answer.

    With a picture the third call is python and shows one. Result 5 of number 2 carries a legal truncation marker, and
    result 7 a notice.
    """
    import random

    rng = random.Random(f"{bucket}{number}")
    asked = question(root, number, bucket)
    calls = [call(0, position, "search", query=prose(rng, 4)) for position in range(3)]
    results = [ToolResult(call_id=c.id, name=c.name, status="ok", content=prose(rng, 30)) for c in calls]
    if asked.images:
        calls[2] = call(0, 2, "python", code="from PIL import Image\nimage_1.crop((0, 0, 9, 9))")
        shown = (picture(root / "run", 100 * number + len(bucket)),)
        results[2] = ToolResult(call_id=calls[2].id, name="python", status="ok", content="(9, 9)", images=shown)
    if number == 2:
        results[1] = replace(results[1], content=f"{prose(rng, 40)}\n[tool output truncated]")
    again = call(1, 0, "open", url="https://example.org/a")
    page = ToolResult(call_id=again.id, name="open", status="ok", content=prose(rng, 40), notice="[notice] Answer now.")
    return Trajectory(
        question=asked,
        sample_index=1,
        fingerprint=hashlib.sha256(asked.id.encode()).hexdigest(),
        seed=number,
        teacher="qwen3.5-27b",
        protocol="native",
        system="You answer questions with the help of tools.",
        tools=TOOLS,
        turns=(
            Turn(index=0, thinking=prose(rng, 120), content="", calls=tuple(calls), results=tuple(results)),
            Turn(index=1, thinking=prose(rng, 60), content=prose(rng, 5), calls=(again,), results=(page,)),
            Turn(index=2, thinking=prose(rng, 60), content=f"{prose(rng, 6)}\n\n<answer>Mumbai</answer>"),
        ),
        stop="answer",
        answer="Mumbai",
        verdict=Verdict(correct=True, path="exact"),
        accepted=True,
        filter_hash="f" * 64,
        versions={"package": "0.1.0"},
    )


def clean_rows(root: Path) -> list[Row]:
    """Four rows with pictures, two without; the first is complete."""
    made = [sample(root, number, "fvqa_train") for number in range(3)]
    made += [sample(root, number, "evobrowsecomp") for number in range(2)]
    made.append(sample(root, 0, "chartqa_human"))
    return [to_row(item, places=places(root), settings=SETTINGS, n_samples=2) for item in made]


def python_only(rows: list[Row]) -> list[Row]:
    """What the legacy converter makes: four columns, one tool, no search."""
    out = []
    for item in rows:
        messages = copy.deepcopy(item["messages"])
        calls = messages[2]["tool_calls"]
        keep = next((call for call in calls if call["function"]["name"] == "python"), None)
        if keep is None:
            continue
        messages[2]["tool_calls"] = [keep]
        tools = [tool for tool in orjson.loads(item["tools"]) if tool["function"]["name"] == "python"]
        out.append(
            {
                "id": item["id"],
                "messages": [*messages[:3], messages[5], messages[8]],
                "images": item["images"],
                "tools": orjson.dumps(tools).decode(),
            }
        )
    return out


def four_columns(rows: list[Row]) -> list[Row]:
    """Rows of another maker."""
    return [{key: row[key] for key in ("id", "messages", "images", "tools")} for row in rows]


@dataclass(frozen=True)
class Met:
    """An evaluation item that was met."""

    rule: str
    item: str


class Index:
    """Stands for the evaluation sets: one question, one picture, one text."""

    def __init__(self, phash: str = "") -> None:
        self.phash = phash

    def match_text(self, text: str, pictures: Sequence[tuple[str, bool]]) -> list[Met]:
        found = [met for phash, flat in pictures for met in self.match_phash(phash, flat)]
        return [*found, Met("jaccard", "gaia g1")] if text == EVALUATION_QUESTION else found

    def match_phash(self, phash: str, flat: bool) -> list[Met]:
        close = self.phash and (int(phash, 16) ^ int(self.phash, 16)).bit_count() <= 6
        return [Met("phash", "simplevqa s1")] if close and not flat else []

    def match_grams(self, text: str) -> list[Met]:
        return [Met("grams", "gaia g2")] if EVALUATION_TEXT in text else []


@cache
def tokens() -> Tokens:
    return Tokens.of_folder(None)


def settings(profile: str = "distilled", **changes: Any) -> AuditSettings:
    return replace(AuditSettings.from_config(load(), profile), **changes)


def write(path: Path, rows: list[Any]) -> Path:
    """Rows as lines; bytes are written as they are."""
    path.write_bytes(b"".join((row if isinstance(row, bytes) else orjson.dumps(row)) + b"\n" for row in rows))
    return path


def audit(root: Path, rows: list[Any], *, profile: str = "distilled", **options: Any) -> AuditReport:
    """Audit rows whose pictures lie under ``root``. ``loading`` is off unless asked for."""
    changes = options.pop("settings", {})
    options = {"tokens": tokens(), "index": Index(), "loading": False, **options}
    return audit_file(write(root / "rows.jsonl", rows), settings(profile, **changes), img_root=root, **options)
