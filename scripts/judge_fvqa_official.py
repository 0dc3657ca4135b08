#!/usr/bin/env python3
"""Grade answers as a run does: rules first, then the judge. Calibrate the judge, or grade what it once failed on.

--calibrate LABELLED   JSON lines with question, answer (reference), response, label (true: right), and if wanted
                       candidate_answers and bucket: accuracy, false accepts and false rejects with 95 % intervals.
                       A line that cannot be used is named, counted and set aside.
--regrade SHARD        raw samples whose verdict is missing or undecided are graded again; all others stay as they are.

The judge is named by the configuration, its address by JUDGE_URL and its key by JUDGE_API_KEY. Verdicts are kept in
--cache and paid for once.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
from pathlib import Path
from typing import Any

from tir_distill import cli
from tir_distill.records import BadRow, TirError, Trajectory, UsageError, atomic_writer, dumps, write_json

IN_FLIGHT = 64
"""Samples of a shard graded at once; the judge's own limit is lower and counts over all."""


async def run_calibration(args: argparse.Namespace, config: dict[str, Any]) -> dict[str, Any]:
    from tir_distill.grading import Grader, calibrate
    from tir_distill.grading.calibration import labelled_case
    from tir_distill.records.hand_files import SetAside, objects

    cases, aside = [], SetAside(args.calibrate)
    for number, row in objects(args.calibrate, aside):
        try:
            cases.append(labelled_case(row, number))
        except BadRow as error:
            aside.add(number, error.reason, error.detail)
    if not cases:
        raise TirError(f"{args.calibrate}: no labelled rows" + (f"; {aside.first}" if aside.total else ""))
    grader = Grader.from_config(config, args.cache, image_root=args.image_root)
    try:
        figures = await calibrate(grader, cases)
    finally:
        await grader.close()
    return {"model": grader.settings.model, "rows": len(cases), "set_aside": dict(aside.reasons), **figures.to_dict()}


async def run_regrade(args: argparse.Namespace, config: dict[str, Any]) -> dict[str, int]:
    from tir_distill.filters import read_trajectories
    from tir_distill.grading import Grader

    grader = Grader.from_config(config, args.cache, image_root=args.image_root)
    counts = {"samples": 0, "asked": 0, "decided": 0}

    async def again(sample: Trajectory) -> Trajectory:
        if sample.verdict is not None and sample.verdict.correct is not None:
            return sample
        verdict = await grader.grade(sample.question, sample.answer)
        counts["asked"] += 1
        counts["decided"] += verdict.correct is not None
        return dataclasses.replace(sample, verdict=verdict)

    try:
        with atomic_writer(args.out) as handle:
            batch: list[Trajectory] = []
            for sample in (*read_trajectories(args.regrade), None):
                if sample is not None:
                    batch.append(sample)
                if batch and (sample is None or len(batch) == IN_FLIGHT):
                    for graded in await asyncio.gather(*map(again, batch)):
                        counts["samples"] += 1
                        handle.write(dumps(graded.to_dict()) + b"\n")
                    batch.clear()
    finally:
        await grader.close()
    return counts


def show(figures: dict[str, Any]) -> None:
    print(f"judge {figures['model']}, {figures['rows']} labelled rows")
    if figures["set_aside"]:
        print("set aside: " + ", ".join(f"{reason} {count}" for reason, count in figures["set_aside"].items()))
    shares = {name: figures[name] for name in ("accuracy", "false_accept", "false_reject", "undecided")}
    shares |= {f"accuracy by {path}": share for path, share in figures["paths"].items()}
    for name, share in shares.items():
        rate = "no rows" if share["rate"] is None else f"{100 * share['rate']:.1f} %"
        print(
            f"{name.replace('_', ' ')}: {rate} ({share['hits']} of {share['total']}),"
            f" 95 % interval {100 * share['low']:.1f} to {100 * share['high']:.1f} %"
        )


def main(args: argparse.Namespace) -> None:
    config = cli.load_config(args.config) if args.config else cli.load_config()
    if args.model:
        config["judge"]["model"] = args.model
    if args.regrade:
        if not args.out:
            raise UsageError("--regrade needs --out FILE")
        counts = asyncio.run(run_regrade(args, config))
        print(f"{counts['samples']} samples, {counts['asked']} graded again, {counts['decided']} now decided")
        return
    figures = asyncio.run(run_calibration(args, config))
    show(figures)
    if args.out:
        write_json(args.out, figures)


if __name__ == "__main__":
    parser = cli.Parser(
        description=__doc__, example="judge_fvqa_official.py --calibrate labelled.jsonl --out figures.json"
    )
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--calibrate", type=Path, metavar="LABELLED", help="labelled rows, JSON lines")
    task.add_argument("--regrade", type=Path, metavar="SHARD", help="raw samples, JSON lines")
    parser.add_argument("--config", type=Path, help="configuration, YAML or JSON (default: config/config.yaml)")
    parser.add_argument("--model", help="another judge than the configured one")
    parser.add_argument("--cache", type=Path, help="file of verdicts already paid for")
    parser.add_argument("--image-root", type=Path, help="hand-over folder, when pictures are sent along")
    parser.add_argument("--out", type=Path, help="where figures or graded samples go")
    cli.run(main, parser)
