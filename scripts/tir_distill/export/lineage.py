"""Where a row came from, and the proof: the raw sample that it names renders to the same conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from ..records import BadRow, Trajectory, conversation, digest
from .render import Renderer, native_messages, row_messages

LINEAGE_KEYS = (
    "sample",
    "question",
    "fingerprint",
    "sample_index",
    "seed",
    "protocol",
    "config",
    "filters",
    "repaired_turns",
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
        "repaired_turns": orjson.dumps(list(trajectory.repaired_turns)).decode(),
        "versions": orjson.dumps(dict(trajectory.versions), option=orjson.OPT_SORT_KEYS).decode(),
    }


def repaired(raw: Trajectory, cut: list[int]) -> Trajectory:
    """The raw sample without the turns that the repair cut out (RULINGS 7)."""
    gone = set(cut)
    return replace(raw, turns=tuple(turn for turn in raw.turns if turn.index not in gone), repaired_turns=tuple(cut))


def same_conversation(row: Mapping[str, Any], raw: Trajectory, renderer: Renderer) -> bool:
    """True when the row is of this raw sample and both render to the same text.

    Raises BadRow when either cannot be rendered, or when the row names another sample.
    """
    lineage = row["lineage"]
    if lineage["fingerprint"] != raw.fingerprint or lineage["sample_index"] != raw.sample_index:
        raise BadRow("other_sample", f"row {row['id']} names {lineage['sample']}, not {raw.key}")
    teacher = repaired(raw, orjson.loads(lineage["repaired_turns"]))
    said = renderer.render(row_messages(row["messages"]), orjson.loads(row["tools"]))
    return said == renderer.render(native_messages(conversation(teacher)), raw.tools)
