"""What became of one question: each stage that met it, in order, with the file that says so.

Reads finished files only, never the private evaluation runs, and decides nothing: every reason is the one that the
stage itself wrote down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.jsonl import read_json
from .lookup import in_jsonl, in_parquet
from .places import Places


@dataclass(frozen=True)
class Event:
    """One thing that a stage did with a question."""

    stage: str
    """``sources``, ``decontamination``, ``hand-over``, a run's name, or ``mix <name>``."""
    said: str
    place: Path
    """The file that says so."""


def story(question_id: str, places: Places) -> list[Event]:
    """Events of a question in the order of the stages; empty when no stage knows it."""
    return [
        *_read(question_id, places),
        *_decontaminated(question_id, places),
        *_selected(question_id, places),
        *(event for run in places.runs() for event in _sampled(question_id, run)),
        *_legacy(question_id, places),
        *(event for mix in places.mixes() for event in _mixed(question_id, mix)),
    ]


def _read(name: str, places: Places) -> Iterator[Event]:
    for path in sorted((places.data / "questions").glob("*.rejects.jsonl")):
        for _, row in in_jsonl(path, name):
            yield Event("sources", f"set aside: {row['reason']} ({row['detail']})", path)
    for path in sorted((places.data / "questions").glob("*.parquet")):
        for row in in_parquet(path, name):
            yield Event("sources", f"read from {row['source']} for {row['bucket']}: {row['question']!r}", path)


def _decontaminated(name: str, places: Places) -> Iterator[Event]:
    folder = places.data / "decontaminated"
    for path in sorted(folder.glob("*.drops.parquet")):
        for row in in_parquet(path, name):
            matched = f"{row['evaluation_set']} {row['evaluation_id']}"
            yield Event("decontamination", f"dropped: {row['rule']} {row['value']:g} with {matched}", path)
    for path in sorted(folder.glob("*.parquet")):
        if not path.name.endswith(".drops.parquet"):
            for _ in in_parquet(path, name):
                yield Event("decontamination", "kept: no evaluation item matches", path)


def _selected(name: str, places: Places) -> Iterator[Event]:
    path = places.handover / "phase_10k.jsonl"
    for number, row in in_jsonl(path, name):
        yield Event("hand-over", f"selected: line {number}, {row['priority']}, phase {row['phase']}", path)


def _sampled(name: str, run: Path) -> Iterator[Event]:
    for path in sorted(run.glob("shards/*/*.questions.jsonl")):
        for _, row in in_jsonl(path, name):
            said = f"{row['status']} after {row['samples']} samples, {row['searches_billed']} searches billed"
            yield Event(run.name, f"{said}: {row['reason']}", path)
        filtered = path.with_name(path.name.replace(".questions.", ".filtered."))
        for _, sample in in_jsonl(filtered, name):
            yield Event(run.name, _sample(sample), filtered)
    for number, row in in_jsonl(run / "accepted.jsonl", name):
        lineage = row["lineage"]
        said = f"row {number}, from sample {lineage['sample_index']} of {row['n_samples']}, licence {row['licence']}"
        yield Event(run.name, said, run / "accepted.jsonl")
    for _, row in in_jsonl(run / "rejects.jsonl", name):
        yield Event(run.name, f"accepted, but no row could hold it: {row['reason']}", run / "rejects.jsonl")
    for path in (run / "audit.json", run / "state" / "audit_failed.json"):
        if path.exists():
            yield from _audited(name, read_json(path), run.name, path)


def _sample(sample: dict[str, Any]) -> str:
    verdict = sample["verdict"] or {}
    correct = {True: "right", False: "wrong", None: "undecided"}[verdict.get("correct")]
    fails = ", ".join(sample["filter_fails"])
    if fails == "surplus":
        fails = "surplus, another sample of the question is"
    parts = [
        f"sample {sample['sample_index']}: {len(sample['turns'])} turns, {sample['searches']} searches",
        f"answer {sample['answer']!r} {correct} by {verdict.get('path', 'no grading')}",
        "kept" if sample["accepted"] else f"not kept: {fails}",
    ]
    if sample["repaired_turns"]:
        parts.append(f"repaired, turns {', '.join(map(str, sample['repaired_turns']))} cut")
    return "; ".join(parts)


def _audited(name: str, report: dict[str, Any], run: str, path: Path) -> Iterator[Event]:
    for item in report["failures"]:
        if item["id"] == name:
            yield Event(run, f"audit: {item['check']} failed: {item['reason']} {item['detail']}".rstrip(), path)


def _legacy(name: str, places: Places) -> Iterator[Event]:
    folder = places.results / "legacy"
    for path in sorted([*folder.glob("*.rejects.jsonl"), *folder.glob("*_clean.jsonl"), *folder.glob("*_queue.jsonl")]):
        for number, row in in_jsonl(path, name):
            said = f"set aside: {row['reason']} ({row.get('detail', '')})" if "reason" in row else f"line {number}"
            yield Event("legacy", said, path)


def _mixed(name: str, mix: Path) -> Iterator[Event]:
    for side in ("train", "validation"):
        path = mix / f"{side}.jsonl"
        lines = [number for number, _ in in_jsonl(path, name)]
        if lines:
            yield Event(f"mix {mix.name}", f"in {side}, line {', '.join(map(str, lines))}", path)
