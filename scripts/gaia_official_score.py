#!/usr/bin/env python3
"""Score predictions by the GAIA leaderboard's own rule, in all and by level.

Predictions are JSON lines with task_id and model_answer. References are JSON lines with task_id, "Final answer" (or
final_answer) and Level; without --references the predictions carry those fields themselves. A missing prediction counts
as wrong. For training decisions the rule is guarded: see tir_distill.grading.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

from tir_distill import cli
from tir_distill.grading.gaia_scorer import question_scorer
from tir_distill.records import TirError, read_jsonl, write_json

__all__ = ["question_scorer"]

REFERENCE_NAMES = ("Final answer", "final_answer", "Final_answer", "answer")
ANSWER_NAMES = ("model_answer", "prediction", "answer")


def field(row: dict[str, Any], names: tuple[str, ...], path: Path) -> Any:
    for name in names:
        if name in row:
            return row[name]
    raise TirError(f"{path}: task {row.get('task_id', '?')}: none of the fields {', '.join(names)} is there")


def task_of(row: dict[str, Any], path: Path) -> str:
    if not isinstance(row.get("task_id"), str):
        raise TirError(f"{path}: a row without task_id; expected one JSON object per task")
    task: str = row["task_id"]
    return task


def main(args: argparse.Namespace) -> None:
    references = args.references or args.predictions
    given: dict[str, str | None] = {}
    for row in read_jsonl(args.predictions):
        answer = field(row, ANSWER_NAMES, args.predictions)
        given[task_of(row, args.predictions)] = None if answer is None else str(answer)
    right: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    missing = 0
    for row in read_jsonl(references):
        task = task_of(row, references)
        missing += task not in given
        correct = task in given and question_scorer(given[task], str(field(row, REFERENCE_NAMES, references)))
        for level in {"all", f"level {row['Level']}" if "Level" in row else "all"}:
            total[level] += 1
            right[level] += correct
    if not total:
        raise TirError(f"{references}: no tasks")
    for level in sorted(total):
        print(f"{level}: {right[level]} of {total[level]} right ({100 * right[level] / total[level]:.2f} %)")
    if missing:
        print(f"{missing} task(s) without a prediction, counted as wrong")
    if args.out:
        scores = {level: {"right": right[level], "total": total[level]} for level in sorted(total)}
        write_json(args.out, {"scores": scores, "missing": missing})


if __name__ == "__main__":
    parser = cli.Parser(
        description=__doc__,
        example="gaia_official_score.py --predictions predictions.jsonl --references metadata.jsonl",
    )
    parser.add_argument("--predictions", type=Path, required=True, help="JSON lines: task_id, model_answer")
    parser.add_argument("--references", type=Path, help="JSON lines: task_id, Final answer, Level")
    parser.add_argument("--out", type=Path, help="also write the scores as JSON")
    cli.run(main, parser)
