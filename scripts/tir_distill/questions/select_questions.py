"""The selecting half of the hand-over: ``phase_10k.jsonl``, ``phase_10k_pilot.jsonl``, ``images/``, the index.

Lines stand by priority, then bucket as in the configuration, then id in natural order. Memory holds the ids of all
candidates and the chosen rows of one bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from ..records.errors import BadRow, TirError, UsageError
from ..records.jsonl import atomic_writer, dumps
from ..records.protocols import Progress
from ..records.question import PRIORITIES, Question
from .amounts import resolve
from .evaluation_index import write_index
from .image_files import ImageFolder, image_paths
from .natural import natural_key
from .parquet_in import batches
from .selection import Ranked, rank
from .settings import BucketPlan, DecontaminationSettings, SelectionSettings

PHASE = "phase_10k.jsonl"
PILOT = "phase_10k_pilot.jsonl"
INDEX = "eval_text_index.json"
MANIFEST = "MANIFEST.json"


@dataclass(frozen=True, slots=True)
class Selected:
    """What a selection holds."""

    questions: int
    pilot: int
    pictures: int
    evaluation_items: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """Ids of one bucket."""

    plan: BucketPlan
    tables: tuple[Path, ...]
    ids: frozenset[str]
    pilot: frozenset[str]


def bucket_members(tables: Sequence[Path], settings: SelectionSettings) -> dict[str, list[tuple[str, str]]]:
    """(id, group) of every row by bucket, however rows are spread over tables. Raises UsageError for other buckets."""
    members: dict[str, list[tuple[str, str]]] = {plan.name: [] for plan in settings.buckets}
    for path in tables:
        for batch in batches(path, ["bucket", "id", "group"]):
            for bucket, name, group in zip(
                *(batch.column(c).to_pylist() for c in ("bucket", "id", "group")), strict=True
            ):
                if bucket not in members:
                    settings.plan(bucket)
                members[bucket].append((name, group))
    return members


def ranked_buckets(tables: Sequence[Path], settings: SelectionSettings) -> dict[str, Ranked]:
    """Each bucket's questions in the order of choice. Raises TirError when two buckets share an id."""
    owner: dict[str, str] = {}
    members = bucket_members(tables, settings)
    for bucket, pairs in members.items():
        for name, _ in pairs:
            if owner.setdefault(name, bucket) != bucket:
                raise TirError(f"id '{name}' is in bucket {owner[name]} and in bucket {bucket}; ids must be unique")
    return {plan.name: rank(plan, settings.seed, members[plan.name]) for plan in settings.buckets}


def choose(tables: Sequence[Path], settings: SelectionSettings) -> list[Chosen]:
    """The chosen ids by bucket, buckets in output order."""
    ranked = ranked_buckets(tables, settings)
    amounts = resolve(settings, {name: len(found.ids) for name, found in ranked.items()})
    plans = sorted(settings.buckets, key=lambda plan: PRIORITIES.index(plan.priority))
    return [
        Chosen(
            plan=plan,
            tables=tuple(tables),
            ids=frozenset(ranked[plan.name].ids[: amounts[plan.name].count]),
            pilot=frozenset(ranked[plan.name].ids[: amounts[plan.name].pilot]),
        )
        for plan in plans
    ]


def chosen_rows(chosen: Chosen) -> list[dict[str, Any]]:
    """The rows of a bucket's chosen ids in natural order of ids."""
    wanted = pa.array(sorted(chosen.ids), type=pa.string())
    rows: list[dict[str, Any]] = []
    for path in chosen.tables:
        for batch in batches(path):
            mask = pc.and_(
                pc.is_in(batch.column("id"), value_set=wanted), pc.equal(batch.column("bucket"), chosen.plan.name)
            )
            rows += batch.filter(mask).to_pylist()
    return sorted(rows, key=lambda row: natural_key(row["id"]))


def question_of(row: dict[str, Any], plan: BucketPlan, *, pilot: bool) -> Question:
    """The record of the hand-over (seed section 1). Raises TirError naming the id when the row makes none."""
    record = {
        "id": row["id"],
        "source": row["source"],
        "bucket": row["bucket"],
        "priority": plan.priority,
        "phase": "pilot" if pilot else "full",
        "task_type": row["task_type"],
        "question": row["question"],
        "answer": row["answer"],
        "candidate_answers": row["candidate_answers"],
        "images": image_paths(row),
        "meta": orjson.loads(row["meta"]),
    }
    try:
        return Question.from_dict(record)
    except BadRow as error:
        raise TirError(f"bucket {plan.name}: {error.detail}; read the source again") from error


def select(
    tables: Sequence[Path],
    evaluation: Sequence[Path],
    settings: SelectionSettings,
    rules: DecontaminationSettings,
    *,
    images: Path,
    out: Path,
    progress: Progress | None = None,
) -> Selected:
    """Write the selection into ``out``.

    Raises UsageError when the wishes cannot be met, TirError when no question is left; nothing is written then.
    """
    if not settings.buckets:
        raise UsageError("no bucket is selected: give at least one of buckets.*.count a number")
    chosen = choose(tables, settings)
    if not any(bucket.ids for bucket in chosen):
        raise TirError(
            "no question is left to select: every selected bucket is empty after reading and decontamination; "
            "see <bucket>.counts.json, <bucket>.rejects.jsonl and <bucket>.drops.parquet for the reasons"
        )
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)  # it speaks of the selection that now goes
    folder = ImageFolder(out, images)
    done = pilots = 0
    with atomic_writer(out / PHASE) as phase_file, atomic_writer(out / PILOT) as pilot_file:
        for bucket in chosen:
            for row in chosen_rows(bucket):
                question = question_of(row, bucket.plan, pilot=row["id"] in bucket.pilot)
                folder.add(question.images, row["images"])
                line = dumps(question.to_dict()) + b"\n"
                phase_file.write(line)
                done += 1
                if question.phase == "pilot":
                    pilot_file.write(line)
                    pilots += 1
                if progress is not None:
                    progress.update(done=done)
        pictures = folder.finish()
    items = write_index(evaluation, rules, out / INDEX)
    return Selected(questions=done, pilot=pilots, pictures=pictures, evaluation_items=items)
