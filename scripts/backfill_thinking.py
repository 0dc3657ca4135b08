#!/usr/bin/env python3
"""Have a teacher write the thinking that legacy rows lack; rows whose thoughts lead to another step stay out."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from tir_distill import cli
from tir_distill.records import write_json

parser = cli.Parser(
    description=__doc__,
    example="TEACHER_URL=http://host:8000/v1 TEACHER_MODEL=name backfill_thinking.py --queue old_queue.jsonl"
    " --img-root results --out old_backfilled.jsonl --run backfill_old",
)
parser.add_argument("--queue", type=Path, required=True, help="rows that clean_legacy.py --no-thinking queue set aside")
parser.add_argument("--img-root", type=Path, required=True, help="folder that picture paths in rows are relative to")
parser.add_argument("--out", type=Path, required=True, help="completed rows, in the order of the queue")
parser.add_argument("--rejects", type=Path, help="rows that stay out, with reasons (default: OUT with .rejects.jsonl)")
parser.add_argument("--report", type=Path, help="counts (default: OUT with .report.json)")
parser.add_argument("--journal", type=Path, help="what was paid for (default: OUT with .journal.jsonl); keep it")
parser.add_argument("--run", help="name under which tokens are counted (default: backfill_ and the queue's name)")
parser.add_argument("--tries", type=int, default=2, help="thoughts per turn before a row is given up")
parser.add_argument("--at-once", type=int, default=16, help="rows under way (default: %(default)s)")
parser.add_argument("--config", type=Path, help="configuration: teacher, sampling, budgets, ledger, filters")


def main(args: argparse.Namespace) -> None:
    from tir_distill.ledger import Ledger, LedgerSettings, ledger_url
    from tir_distill.legacy.backfill import Backfill, BackfillReport, BackfillSettings, backfill_file
    from tir_distill.legacy.journal import ReplyJournal
    from tir_distill.teacher import TeacherPool, TeacherSettings

    config = cli.load_config(*([args.config] if args.config else []))
    settings = BackfillSettings(
        run=args.run or f"backfill_{args.queue.stem}",
        tries=args.tries,
        min_think_chars=config["filters"]["min_think_chars"],
        seed=config["seed"],
    )

    async def work(progress: cli.ProgressLine, ledger: Ledger, journal: ReplyJournal) -> BackfillReport:
        pool = TeacherPool.open(
            TeacherSettings.from_config(config), read_picture=lambda path: (args.img_root / path).read_bytes()
        )
        async with pool as teachers:
            backfill = Backfill(
                teacher=lambda row: teachers.client(task_type=row["task_type"], bucket=row["bucket"]),
                books=ledger,
                journal=journal,
                settings=settings,
                report=BackfillReport(),
            )
            return await backfill_file(
                args.queue,
                args.out,
                args.rejects or args.out.with_suffix(".rejects.jsonl"),
                backfill=backfill,
                at_once=args.at_once,
                progress=progress,
            )

    journal = ReplyJournal(args.journal or args.out.with_suffix(".journal.jsonl"))
    ledger = Ledger.open(ledger_url(config), run=settings.run, settings=LedgerSettings.from_config(config))
    try:
        with cli.ProgressLine("rows completed") as progress:
            report = asyncio.run(work(progress, ledger, journal))
    finally:
        ledger.close()
        journal.close()
    write_json(args.report or args.out.with_suffix(".report.json"), report.to_dict())
    dropped = ", ".join(f"{reason} {count}" for reason, count in sorted(report.dropped.items())) or "none"
    print(f"{args.out}: {report.rows_written} of {report.rows_read} rows completed;", end=" ")
    print(f"replies paid {report.replies_paid}, from the journal {report.replies_from_journal}; left out: {dropped}")


if __name__ == "__main__":
    cli.run(main, parser)
