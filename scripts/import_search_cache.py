#!/usr/bin/env python3
"""Take over paid searches from an earlier run's search_cache.jsonl, so that the same queries cost nothing again."""

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.ledger import Ledger, LedgerSettings, ledger_url
from tir_distill.records import UsageError

parser = cli.Parser(
    description=__doc__,
    example="import_search_cache.py old_handover/out/full/search_cache.jsonl --out out/full",
)
parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="search_cache.jsonl of another run")
parser.add_argument("--config", type=Path, action="append", default=[], help="configuration laid over the defaults")
parser.add_argument(
    "--out", type=Path, help="run folder of distill_trajectories.py; default: the ledger of the configuration"
)


def main(args: argparse.Namespace) -> None:
    config = cli.load_config(*args.config)
    if args.out is not None:
        config["paths"]["state"] = str(args.out.resolve().parent / "state")
    if missing := [str(path) for path in args.files if not path.is_file()]:
        raise UsageError(f"no such file: {', '.join(missing)}")
    Path(config["paths"]["state"]).mkdir(parents=True, exist_ok=True)
    ledger = Ledger.open(ledger_url(config), run="import", settings=LedgerSettings.from_config(config))
    try:
        for path in args.files:
            print(f"{path}: {ledger.import_cache(path)} answers taken over")
    finally:
        ledger.close()


if __name__ == "__main__":
    cli.run(main, parser)
