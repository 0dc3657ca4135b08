#!/usr/bin/env python3
"""Say what became of a question: read, decontaminated, selected, sampled, filtered, audited, mixed, and why."""

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.records import UsageError
from tir_distill.report import Places, story

parser = cli.Parser(description=__doc__, example="explain.py fvqa_train_12 --config config/config.yaml")
parser.add_argument("ids", nargs="+", metavar="ID", help="question ids")
parser.add_argument("--config", type=Path, help="configuration whose results are meant; default: config/config.yaml")


def main(args: argparse.Namespace) -> None:
    places = Places.from_config(cli.load_config(*([args.config] if args.config else [])))
    unknown = []
    for name in args.ids:
        events = story(name, places)
        if not events:
            unknown.append(name)
            continue
        print(name)
        width = max(len(event.stage) for event in events)
        for event in events:
            print(f"  {event.stage:<{width}}  {event.said}\n  {'':<{width}}  {event.place}")
    if unknown:
        known = f"{places.data}/questions, {places.handover}, {places.results}"
        raise UsageError(f"no stage knows {', '.join(unknown)}; looked in {known}")


if __name__ == "__main__":
    cli.run(main, parser)
