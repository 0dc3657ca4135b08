"""Where a row came from, and the proof: the raw sample that it names renders to the same conversation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import orjson

from ..records import BadRow, Trajectory, conversation, digest
from .render import Renderer, native_messages, row_messages

CUT = "f5_cut:"

LINEAGE_KEYS = (
    "sample",
    "question",
    "fingerprint",
    "sample_index",
    "seed",
    "protocol",
    "config",
    "filters",
    "cut_calls",
    "versions",
)
"""All are strings but ``sample_index``, so that the column has one type in every file (lists and maps as JSON text)."""


def lineage_of(trajectory: Trajectory, config_hash: str) -> dict[str, Any]:
    """The row's way back: raw sample, question, settings, versions."""
    return {
        "sample": trajectory.key,
        "question": digest(trajectory.question.to_dict()),
        "fingerprint": trajectory.fingerprint,
        "sample_index": trajectory.sample_index,
        "seed": str(trajectory.seed),
        "protocol": trajectory.protocol,
        "config": config_hash,
        "filters": trajectory.filter_hash,
        "cut_calls": orjson.dumps(cut_calls(trajectory)).decode(),
        "versions": orjson.dumps(dict(trajectory.versions), option=orjson.OPT_SORT_KEYS).decode(),
    }


def cut_calls(trajectory: Trajectory) -> list[str]:
    """Ids of the calls that the repair cut out, as the filters note them (``f5_cut:<call id>``)."""
    return [note.removeprefix(CUT) for note in trajectory.notes if note.startswith(CUT)]


def repaired(raw: Trajectory, cut: Collection[str]) -> Trajectory:
    """The raw sample without these calls and their results, nor turns that did nothing else (F5; RULINGS 7)."""
    turns = []
    for turn in raw.turns:
        calls = tuple(call for call in turn.calls if call.id not in cut)
        if turn.calls and not calls and turn is not raw.turns[-1]:
            continue
        results = tuple(result for result in turn.results if result.call_id not in cut)
        turns.append(replace(turn, calls=calls, results=results))
    return replace(raw, turns=tuple(turns))


def same_conversation(row: Mapping[str, Any], raw: Trajectory, renderer: Renderer) -> bool:
    """True when the row is of this raw sample and both render to the same text.

    Raises BadRow when either cannot be rendered, or when the row names another sample.
    """
    lineage = row["lineage"]
    if lineage["fingerprint"] != raw.fingerprint or lineage["sample_index"] != raw.sample_index:
        raise BadRow("other_sample", f"row {row['id']} names {lineage['sample']}, not {raw.key}")
    teacher = repaired(raw, orjson.loads(lineage["cut_calls"]))
    said = renderer.render(row_messages(row["messages"]), orjson.loads(row["tools"]))
    return said == renderer.render(native_messages(conversation(teacher)), raw.tools)
