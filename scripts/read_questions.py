#!/usr/bin/env python3
"""Read one bucket of questions out of a fetched source; store its pictures once by content."""

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.sources import ReadSettings, give_memory_back, read_questions

parser = cli.Parser(
    description="Turn a source's tables into a bucket's table. Rows that cannot be used go to <out>.rejects.jsonl.",
    example="read_questions.py --config config/config.yaml --bucket chartqa_human "
    "--source-dir results/sources/chartqa --images results/images --out results/questions/chartqa_human.parquet",
)
parser.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
parser.add_argument("--bucket", required=True, help="a name under buckets")
parser.add_argument("--source-dir", type=Path, required=True, help="folder that fetch_source.py filled")
parser.add_argument("--images", type=Path, required=True, help="folder of all pictures, by content")
parser.add_argument("--out", type=Path, required=True, help="the table to write (.parquet)")
parser.add_argument("--workers", type=int, default=2, help="threads that decode pictures (default 2)")


def main(args: argparse.Namespace) -> None:
    give_memory_back()
    settings = ReadSettings.for_bucket(cli.load_config(args.config), args.bucket)
    with cli.ProgressLine(f"read {args.bucket}") as progress:
        counts = read_questions(
            settings, args.source_dir, images=args.images, out=args.out, workers=args.workers, progress=progress
        )
    rejects = ", ".join(f"{reason} {number}" for reason, number in sorted(counts.rejects.items())) or "none"
    print(f"{args.bucket}: {counts.kept} of {counts.read} rows kept; rejects: {rejects}")


if __name__ == "__main__":
    cli.run(main, parser)
