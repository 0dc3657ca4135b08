#!/usr/bin/env python3
"""Draw the small demo data sets in their upstream layouts, so that the demo runs the very same readers."""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.records import write_json


def main(args: argparse.Namespace) -> None:
    from tir_distill.demo import draw
    from tir_distill.demo.drawing_legacy import draw_legacy

    counts = draw(args.out, seed=args.seed)
    counts["demo_legacy"] = draw_legacy(args.out)
    write_json(args.marker or args.out / "DRAWN.json", {"seed": args.seed, "rows": counts})


if __name__ == "__main__":
    parser = cli.Parser(description=__doc__, example="draw_demo_sources.py --out results/demo/data/mirror")
    parser.add_argument("--out", type=Path, required=True, help="mirror folder to fill, laid out as on the hub")
    parser.add_argument("--seed", type=int, default=20261012, help="decides every drawn picture (default: %(default)s)")
    parser.add_argument("--marker", type=Path, help="file written last (default: OUT/DRAWN.json)")
    cli.run(main, parser)
