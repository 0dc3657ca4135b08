#!/usr/bin/env python3
"""Score predictions by the GAIA leaderboard's own rule, in all and by level.

Predictions are JSON lines with task_id and model_answer. References are JSON lines with task_id, "Final answer" (or
final_answer) and Level; without --references the predictions carry those fields themselves. Where one field would be
prediction and reference both, nothing is scored. A missing prediction counts as wrong; a line that cannot be used is
named, counted and set aside. For training decisions the rule is guarded: see tir_distill.grading.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from tir_distill import cli
from tir_distill.grading.gaia_scorer import question_scorer
from tir_distill.records import TirError, UsageError, write_json
from tir_distill.records.hand_files import SetAside, objects

__all__ = ["question_scorer"]

REFERENCE_NAMES = ("Final answer", "final_answer", "Final_answer", "answer")
ANSWER_NAMES = ("model_answer", "prediction", "answer")


class Told(NamedTuple):
    """What a line says of a task."""

    field: str
    """The name under which it says so."""
    value: Any
    row: dict[str, Any]


def told(row: dict[str, Any], names: tuple[str, ...]) -> Told:
    """The first of the named fields that is there. Raises KeyError when none is."""
    for name in names:
        if name in row:
            return Told(name, row[name], row)
    raise KeyError(f"none of the fields {', '.join(names)} is there")


def tasks(path: Path, names: tuple[str, ...], aside: SetAside) -> dict[str, Told]:
    """Task id -> the first of the named fields, and its row. Of a repeated task the first line counts."""
    found: dict[str, Told] = {}
    for number, row in objects(path, aside):
        task = row.get("task_id")
        if not isinstance(task, str):
            aside.add(number, "no_task_id", "no task_id; expected one JSON object per task")
        elif task in found:
            aside.add(number, "repeated_task", f"task {task} again; its first line counts")
        else:
            try:
                found[task] = told(row, names)
            except KeyError as error:
                aside.add(number, "no_answer_field", f"task {task}: {error.args[0]}")
    return found


def refuse_self_scoring(given: dict[str, Told], references: dict[str, Told]) -> None:
    """Raises UsageError when a prediction would be its own reference: the score would be 100 % of nothing."""
    for task, reference in references.items():
        if task in given and given[task].field == reference.field:
            raise UsageError(
                f"task {task}: the field {reference.field} would be both prediction and reference; give the right"
                ' answers with --references FILE, or name them "Final answer" and the predictions "model_answer"'
            )


def main(args: argparse.Namespace) -> None:
    source = args.references or args.predictions
    bad_predictions, bad_references = SetAside(args.predictions), SetAside(source)
    given = tasks(args.predictions, ANSWER_NAMES, bad_predictions)
    references = tasks(source, REFERENCE_NAMES, bad_references)
    if source.resolve() == args.predictions.resolve():
        refuse_self_scoring(given, references)
    right: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    missing = 0
    for task, (_, reference, row) in references.items():
        if reference is None:
            bad_references.add(0, "no_reference", f"task {task}: its reference answer is null")
            continue
        answer = given[task].value if task in given else None
        missing += task not in given
        correct = task in given and question_scorer(None if answer is None else str(answer), str(reference))
        for level in {"all", f"level {row['Level']}" if "Level" in row else "all"}:
            total[level] += 1
            right[level] += correct
    if not total:
        raise TirError(f"{source}: no tasks" + (f"; {bad_references.first}" if bad_references.total else ""))
    for level in sorted(total):
        print(f"{level}: {right[level]} of {total[level]} right ({100 * right[level] / total[level]:.2f} %)")
    if missing:
        print(f"{missing} task(s) without a prediction, counted as wrong")
    for name, aside in (("predictions", bad_predictions), ("references", bad_references)):
        if aside.total:
            print(f"{name}: {aside}")
    if args.out:
        scores = {level: {"right": right[level], "total": total[level]} for level in sorted(total)}
        set_aside = {"predictions": dict(bad_predictions.reasons), "references": dict(bad_references.reasons)}
        write_json(args.out, {"scores": scores, "missing": missing, "set_aside": set_aside})


if __name__ == "__main__":
    parser = cli.Parser(
        description=__doc__,
        example="gaia_official_score.py --predictions predictions.jsonl --references metadata.jsonl",
    )
    parser.add_argument("--predictions", type=Path, required=True, help="JSON lines: task_id, model_answer")
    parser.add_argument("--references", type=Path, help="JSON lines: task_id, Final answer, Level")
    parser.add_argument("--out", type=Path, help="also write the scores as JSON")
    cli.run(main, parser)
