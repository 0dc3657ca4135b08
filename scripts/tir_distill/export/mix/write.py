"""The files of a mix: rows for training and validation, what they are, and how to train on them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from ...records import atomic_writer, dumps, file_sha256, write_json
from ...records.licences import forbids_commerce
from ..write import is_complete
from .choose import Chosen
from .index import Drops, conform
from .settings import MixSettings

BIN = 2048
"""Tokens per bar of the length histogram."""


def rows_of(lines: Sequence[Chosen], settings: MixSettings) -> Iterator[dict[str, Any]]:
    """The rows of a list of lines, read by their places, in that order."""
    with ExitStack() as stack:
        files: dict[int, BinaryIO] = {}
        for line in lines:
            part = settings.parts[line.entry.part]
            if line.entry.part not in files:
                files[line.entry.part] = stack.enter_context(part.path.open("rb"))
            files[line.entry.part].seek(line.entry.offset)
            row = conform(orjson.loads(files[line.entry.part].read(line.entry.length)), part.name)
            if part.row_root != settings.root:
                row["images"] = [os.path.relpath(part.row_root / path, settings.root) for path in row["images"]]
            yield row | {"id": line.id if line.copy == 0 else f"{line.id}~{line.copy}"}


def complete_line_first(lines: Sequence[Chosen], settings: MixSettings) -> list[Chosen]:
    """The lines with one whose row has a picture and a call at the front: readers take types from what comes first."""
    for number, row in enumerate(rows_of(lines, settings)):
        if is_complete(row):
            return [lines[number], *lines[:number], *lines[number + 1 :]]
    return list(lines)


def starts_complete(path: Path) -> bool:
    """Whether the first row of a written file leaves no column's type open; trainers cannot load a file otherwise."""
    with path.open("rb") as handle:
        first = handle.readline()
    return bool(first) and is_complete(orjson.loads(first))


def write_mix(lines: Sequence[Chosen], settings: MixSettings, drops: Drops, out: Path) -> dict[str, Any]:
    """Write train.jsonl, validation.jsonl, train.parquet and MIX.json below ``out``; returns the last one's content."""
    sides = {
        "train": [line for line in lines if not line.validation],
        "validation": [line for line in lines if line.validation],
    }
    for name, side in sides.items():
        with atomic_writer(out / f"{name}.jsonl") as handle:
            for row in rows_of(complete_line_first(side, settings), settings):
                handle.write(dumps(row) + b"\n")
    write_parquet(out / "train.jsonl", out / "train.parquet")
    document = describe(sides, settings, drops)
    document["files"] = {
        name: {"bytes": (out / name).stat().st_size, "sha256": file_sha256(out / name)}
        for name in ("train.jsonl", "train.parquet", "validation.jsonl")
    }
    write_json(out / "MIX.json", document)
    return document


def describe(sides: Mapping[str, Sequence[Chosen]], settings: MixSettings, drops: Drops) -> dict[str, Any]:
    """Counts that say what a mix is; ``read`` of a part = its rows in the mix + its drops."""
    names = [part.name for part in settings.parts]
    everything = [line for side in sides.values() for line in side]
    once = {(line.entry.part, line.entry.id, line.entry.offset): line for line in everything}.values()
    licences = Counter((names[line.entry.part], line.entry.licence) for line in once)
    histogram = Counter(line.entry.tokens // BIN * BIN for line in everything)
    return {
        "name": settings.name,
        "seed": settings.seed,
        "max_length": settings.max_length,
        "rows": {name: len(side) for name, side in sides.items()},
        "parts": {
            part.name: {
                "weight": part.weight,
                "lines": sum(line.entry.part == number for line in everything),
                "rows": sum(line.entry.part == number for line in once),
                "dropped": drops.to_dict().get(part.name, {}),
            }
            for number, part in enumerate(settings.parts)
        },
        "per_bucket": dict(sorted(Counter(line.entry.bucket for line in everything).items())),
        "per_source": dict(sorted(Counter(line.entry.source for line in everything).items())),
        "licences": [
            {"part": part, "licence": licence, "rows": count, "commercial_use": not forbids_commerce(licence)}
            for (part, licence), count in sorted(licences.items())
        ],
        "tokens": {
            "total": sum(line.entry.tokens for line in everything),
            "longest": max((line.entry.tokens for line in everything), default=0),
            "histogram": {f"{low}-{low + BIN - 1}": histogram[low] for low in sorted(histogram)},
        },
        "dropped_examples": drops.examples,
    }


def messages_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Messages as JSON text. ms-swift reads such a text as a Python literal, so it must hold no ``true`` or ``false``:
    a ``loss`` of a message becomes 1 or 0, which means the same to it."""
    plain = [{key: int(item) if isinstance(item, bool) else item for key, item in m.items()} for m in messages]
    return orjson.dumps(plain).decode()


def write_parquet(source: Path, target: Path) -> None:
    """The training rows as parquet. Messages stay JSON text there: their keys differ from row to row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = ("id", "messages", "tools", "source", "bucket", "task_type", "teacher", "judge_model", "answer", "licence")
    schema = pa.schema(
        [
            *((key, pa.string()) for key in (*text, "lineage", "part")),
            ("images", pa.list_(pa.string())),
            ("n_samples", pa.int64()),
            ("has_self_search", pa.bool_()),
            ("has_image_code", pa.bool_()),
        ]
    )
    with atomic_writer(target) as handle, pq.ParquetWriter(handle, schema) as writer, source.open("rb") as rows:
        batch: list[dict[str, Any]] = []
        for line in rows:
            row = orjson.loads(line)
            row["messages"] = messages_text(row["messages"])
            row["lineage"] = orjson.dumps(row["lineage"]).decode()
            batch.append(row)
            if len(batch) == 256:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        if batch:
            writer.write_table(pa.Table.from_pylist(batch, schema))
