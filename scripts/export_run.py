#!/usr/bin/env python3
"""Join the filtered shards of a run: rows for ms-swift, raw samples, statistics, search cache."""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli

parser = cli.Parser(
    description=__doc__,
    example="export_run.py --config results/state/config.json --run full --run-dir results/full "
    "--img-root results/handover_10k --row-root results --shards results/full/shards/*/*.filtered.jsonl",
)
parser.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
parser.add_argument("--run", required=True, help="name under which the ledger counted the run's searches")
parser.add_argument("--run-dir", type=Path, required=True, help="where the files go; tool pictures are relative to it")
parser.add_argument("--img-root", type=Path, required=True, help="hand-over folder that question pictures are in")
parser.add_argument("--row-root", type=Path, required=True, help="folder that picture paths in rows are relative to")
parser.add_argument("--shards", type=Path, nargs="*", default=[], help="filtered files; raw ones stand beside them")


def main(args: argparse.Namespace) -> None:
    from tir_distill.pipeline import RunPlaces, ShardFiles, export_run, summary

    places = RunPlaces(args.run, args.run_dir, args.img_root, args.row_root)
    with cli.ProgressLine("rows") as progress:
        stats = export_run(
            cli.load_config(args.config), places, [ShardFiles.of_filtered(path) for path in args.shards], progress
        )
    print(summary(stats))


if __name__ == "__main__":
    cli.run(main, parser)
