#!/usr/bin/env python3
"""Read one evaluation set into fingerprints: hashes of its pictures and texts, nothing that can be read."""

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.sources import ReadSettings, give_memory_back, read_evaluation

parser = cli.Parser(
    description="Turn an evaluation set into hashes that decontamination and audit compare with.",
    example="read_evaluation.py --config config/config.yaml --set gaia "
    "--source-dir results/sources/gaia --out results/evaluation/gaia.parquet",
)
parser.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
parser.add_argument("--set", required=True, help="a name under evaluation")
parser.add_argument("--source-dir", type=Path, required=True, help="folder that fetch_source.py filled")
parser.add_argument("--out", type=Path, required=True, help="the table to write (.parquet)")
parser.add_argument("--workers", type=int, default=2, help="threads that decode pictures (default 2)")


def main(args: argparse.Namespace) -> None:
    give_memory_back()
    settings = ReadSettings.for_evaluation(cli.load_config(args.config), args.set)
    with cli.ProgressLine(f"read {args.set}") as progress:
        counts = read_evaluation(settings, args.source_dir, out=args.out, workers=args.workers, progress=progress)
    notes = ", ".join(f"{reason} {number}" for reason, number in sorted(counts.notes.items())) or "none"
    print(f"{args.set}: {counts.kept} of {counts.read} items in the index; lost: {notes}")


if __name__ == "__main__":
    cli.run(main, parser)
