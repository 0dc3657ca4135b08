#!/usr/bin/env python3
"""Sample the teacher on one shard of a bucket: k samples a question, graded and filtered, resumable at any point."""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from tir_distill import cli
from tir_distill.records import BadRow, Question, TirError, read_jsonl, shard_of, stable_int

log = logging.getLogger("tir_distill.sample_shard")


def questions_of(
    path: Path, *, bucket: str, phase: str, index: int, shards: int, per_bucket: int | None = None
) -> list[Question]:
    """The shard's questions in file order. A question's shard depends on its id alone.

    ``per_bucket``: only so many of the whole bucket, spread over it and always the same ones. Raises TirError for a
    line that is no question.
    """
    rows = [row for row in read_jsonl(path) if row.get("bucket") == bucket and phase in ("all", row.get("phase"))]
    if per_bucket is not None:
        drawn = sorted((str(row.get("id")) for row in rows), key=lambda name: stable_int(0, "smoke", name))[:per_bucket]
        rows = [row for row in rows if str(row.get("id")) in set(drawn)]
    try:
        questions = [Question.from_dict(row) for row in rows]
    except BadRow as error:
        raise TirError(f"{path}: {error.detail}; build the hand-over again") from None
    return [question for question in questions if shard_of(question.id, shards) == index]


def main(args: argparse.Namespace) -> None:
    from tir_distill.export import Tokens
    from tir_distill.pipeline import filter_settings
    from tir_distill.rollout import ShardJob
    from tir_distill.rollout.assemble import run_shard

    cli.terminate_as_interrupt()
    config = cli.load_config(args.config)
    filters = filter_settings(config, args.eval_index or args.img_root / "eval_text_index.json")
    if args.samples is not None:
        config["plan"] |= {"k_first": args.samples, "k_max": args.samples, "k_max_text": args.samples}
    job = ShardJob(
        run=args.run,
        run_dir=args.run_dir,
        bucket=args.bucket,
        index=args.shard,
        shards=args.shards,
        questions=questions_of(
            args.questions,
            bucket=args.bucket,
            phase=args.phase,
            index=args.shard,
            shards=args.shards,
            per_bucket=args.per_bucket,
        ),
        image_root=args.img_root,
        trajectories=args.trajectories,
        questions_out=args.questions_out,
        adopt=args.adopt,
        retry_deferred=args.retry == "deferred",
        top_up=args.top_up,
    )
    label = f"{args.run} {args.bucket} {args.shard:04d}-of-{args.shards:04d}"
    with cli.ProgressLine(label, len(job.questions)) as progress:
        counter = Tokens.from_config(config)
        report = asyncio.run(run_shard(config, job, counter=counter, progress=progress, filters=filters))
    log.info("%s: %d questions, %s", label, report.questions, dict(report.statuses))


def _parser() -> cli.Parser:
    parser = cli.Parser(
        description=__doc__,
        example="sample_shard.py --config results/state/config.json --questions results/handover_10k/phase_10k.jsonl"
        " --img-root results/handover_10k --run-dir results/full --run full --bucket fvqa_train --shard 3 --shards 64"
        " --trajectories T.jsonl --questions-out Q.jsonl",
    )
    parser.add_argument("--config", type=Path, required=True, help="resolved configuration (YAML or JSON)")
    parser.add_argument("--questions", type=Path, required=True, help="phase_10k.jsonl")
    parser.add_argument("--img-root", type=Path, required=True, help="folder that picture paths are relative to")
    parser.add_argument("--run-dir", type=Path, required=True, help="the run's folder; its state/ holds the journal")
    parser.add_argument("--run", required=True, help="the run's name: budgets are counted under it")
    parser.add_argument("--bucket", required=True)
    parser.add_argument("--shard", type=int, required=True, help="index, from 0")
    parser.add_argument("--shards", type=int, required=True, help="number of shards of the bucket")
    parser.add_argument(
        "--phase", choices=("pilot", "all"), default="all", help="which questions (default: %(default)s)"
    )
    parser.add_argument(
        "--adopt", type=Path, action="append", default=[], help="folder of a run whose samples to reuse"
    )
    parser.add_argument("--retry", choices=("deferred",), help="open questions that were given up again")
    parser.add_argument(
        "--top-up",
        type=Path,
        metavar="FILTERED",
        help="the shard's .filtered.jsonl: sample further where it holds no accepted sample of a question",
    )
    parser.add_argument(
        "--eval-index", type=Path, help="index for the extra rule evaluation_text (default: that in --img-root)"
    )
    parser.add_argument("--per-bucket", type=int, metavar="N", help="only N questions of the bucket (smoke run)")
    parser.add_argument("--samples", type=int, metavar="N", help="N samples of each question in place of the plan")
    parser.add_argument("--trajectories", type=Path, required=True, help="output: one line per sample")
    parser.add_argument("--questions-out", type=Path, required=True, help="output: one line per question")
    return parser


if __name__ == "__main__":
    cli.run(main, _parser())
