#!/usr/bin/env python3
"""Apply the filters to one shard of raw samples: repair, every rule, one accepted sample per question.

Samples nothing and tokenises nothing; a changed threshold needs only this command again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli


def main(args: argparse.Namespace) -> None:
    from tir_distill.filters import filter_file
    from tir_distill.pipeline import filter_settings

    settings = filter_settings(cli.load_config(args.config), args.eval_index)
    with cli.ProgressLine("filtering") as progress:
        counts = filter_file(args.trajectories, args.out, settings, limit=args.limit, progress=progress)
    dropped = ", ".join(f"{rule} {number}" for rule, number in counts.dropped.items()) or "none"
    cli.log.info(
        "%d samples: %d accepted, %d repaired; dropped: %s", counts.samples, counts.accepted, counts.repaired, dropped
    )


if __name__ == "__main__":
    parser = cli.Parser(
        description=__doc__,
        example="filter_shard.py --config config/config.yaml --trajectories 0000-of-64.trajectories.jsonl"
        " --out 0000-of-64.filtered.jsonl",
    )
    parser.add_argument("--config", type=Path, required=True, help="configuration, YAML or JSON")
    parser.add_argument("--trajectories", type=Path, required=True, help="raw samples of one shard")
    parser.add_argument("--out", type=Path, required=True, help="the same samples with the final word")
    parser.add_argument(
        "--eval-index", type=Path, help="index for the extra rule evaluation_text (default: that of the hand-over)"
    )
    parser.add_argument("--limit", type=int, help="only the first samples, for a trial")
    cli.run(main, parser)
