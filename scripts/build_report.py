#!/usr/bin/env python3
"""Write one HTML page over the runs: what was dropped and why, behaviour per bucket, samples to read through."""

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.records import UsageError
from tir_distill.report import Places, write_page

parser = cli.Parser(
    description=__doc__, example="build_report.py --config config/demo.yaml --out results/report/index.html"
)
parser.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
parser.add_argument("--out", type=Path, required=True, help="the page (.html)")
parser.add_argument("--each", type=int, default=2, help="samples shown per bucket and reason (default 2)")


def main(args: argparse.Namespace) -> None:
    if args.each < 0:
        raise UsageError(f"--each {args.each}: expected 0 or more")
    names = write_page(Places.from_config(cli.load_config(args.config)), args.out, args.each)
    print(f"{args.out}: {', '.join(names) or 'no run has statistics yet'}")


if __name__ == "__main__":
    cli.run(main, parser)
