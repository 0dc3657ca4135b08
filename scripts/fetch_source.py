#!/usr/bin/env python3
"""Fetch the files of one source at its pinned revision and write their lock.json."""

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.sources import SourceSettings, fetch

parser = cli.Parser(
    description="Fetch the files that a source needs, and nothing else. A second run fetches only what is missing.",
    example="fetch_source.py --config config/config.yaml --source chartqa --out results/sources/chartqa",
)
parser.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
parser.add_argument("--source", required=True, help="a name under sources.sets")
parser.add_argument("--out", type=Path, required=True, help="folder for the files and lock.json")


def main(args: argparse.Namespace) -> None:
    settings = SourceSettings.from_config(cli.load_config(args.config), args.source)
    with cli.ProgressLine(f"fetch {args.source}") as progress:
        lock = fetch(settings, args.out, progress)
    megabytes = sum(file.size for file in lock.files) / 1e6
    print(f"{args.source}: {len(lock.files)} file(s), {megabytes:.1f} MB, revision {lock.revision}")


if __name__ == "__main__":
    cli.run(main, parser)
