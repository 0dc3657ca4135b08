#!/usr/bin/env python3
"""Take out of converted rows what must not be trained: letter answers, answers without a thought (seed section 11)."""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.legacy import clean_file, places
from tir_distill.records import write_json

parser = cli.Parser(
    description=__doc__,
    example="clean_legacy.py --in old_native.jsonl --out old_clean.jsonl --no-thinking queue --queue old_queue.jsonl",
)
parser.add_argument("--in", dest="source", type=Path, required=True, help="rows of convert_tir_to_native.py")
parser.add_argument("--out", type=Path, required=True, help="rows that may be trained")
parser.add_argument("--queue", type=Path, help="rows that wait for their thinking (default: OUT with .queue.jsonl)")
parser.add_argument("--report", type=Path, help="counts (default: OUT with .report.json)")
parser.add_argument("--no-thinking", choices=["keep", "drop", "queue"], default="drop", help="default: %(default)s")
parser.add_argument(
    "--min-think-chars", type=int, default=20, help="shorter thoughts are none (F10; default: %(default)s)"
)
parser.add_argument("--keep-letters", action="store_true", help="leave single-letter answers as they are")


def main(args: argparse.Namespace) -> None:
    queue = args.queue or args.out.with_suffix(".queue.jsonl")
    counts = args.report or args.out.with_suffix(".report.json")
    places.refuse_the_same({"--in": args.source, "--out": args.out, "--queue": queue, "--report": counts})
    report = clean_file(
        args.source,
        args.out,
        queue,
        no_thinking=args.no_thinking,
        letters=not args.keep_letters,
        min_think_chars=args.min_think_chars,
    )
    write_json(counts, report.to_dict())
    dropped = ", ".join(f"{reason} {count}" for reason, count in sorted(report.dropped.items())) or "none"
    print(
        f"{args.out}: {report.rows_written} of {report.rows_read} rows; letters replaced {report.letters_replaced};",
        end=" ",
    )
    print(f"queued {report.queued}; dropped: {dropped}")


if __name__ == "__main__":
    cli.run(main, parser)
