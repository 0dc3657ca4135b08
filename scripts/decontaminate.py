#!/usr/bin/env python3
"""Drop every candidate that is an evaluation item in picture or text, and say which; or explain one question."""

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.questions import DecontaminationSettings, Fingerprints, Matcher, decontaminate, hashed_by
from tir_distill.questions.explain import explain, find_rows
from tir_distill.records import UsageError

parser = cli.Parser(
    description=__doc__,
    example="decontaminate.py explain fvqa_train_12 --config config/config.yaml",
)
commands = parser.add_subparsers(dest="command", required=True)

run = commands.add_parser("run", help="split one bucket's table")
run.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
run.add_argument("--questions", type=Path, required=True, help="table of the bucket (.parquet)")
run.add_argument("--evaluation", type=Path, nargs="+", required=True, help="tables of evaluation fingerprints")
run.add_argument("--out", type=Path, required=True, help="table of what is kept (.parquet)")
run.add_argument("--drops", type=Path, required=True, help="table of matches (.parquet)")

why = commands.add_parser("explain", help="say why questions are dropped or kept, with their nearest neighbours")
why.add_argument("ids", nargs="+", metavar="ID", help="question ids")
why.add_argument("--config", type=Path, help="configuration; default: config/config.yaml")
why.add_argument("--questions", type=Path, nargs="+", help="tables to look in; default: all under paths.data")
why.add_argument("--evaluation", type=Path, nargs="+", help="tables of fingerprints; default: all under paths.data")


def run_bucket(args: argparse.Namespace) -> None:
    settings = DecontaminationSettings.from_config(cli.load_config(args.config))
    hashed_by([args.questions, *args.evaluation])
    matcher = Matcher(Fingerprints.read(args.evaluation), settings)
    with cli.ProgressLine(f"decontaminate {args.questions.stem}") as progress:
        counts = decontaminate(args.questions, matcher, out=args.out, drops=args.drops, progress=progress)
    why = ", ".join(f"{rule} {name} {number}" for (rule, name), number in sorted(counts.first.items())) or "none"
    print(f"{args.questions.stem}: {counts.kept} of {counts.read} kept; {counts.dropped} dropped: {why}")


def explain_ids(args: argparse.Namespace) -> None:
    config = cli.load_config(*([args.config] if args.config else []))
    data = Path(config["paths"]["data"])
    tables = args.questions or [
        path for name in config["buckets"] if (path := data / f"questions/{name}.parquet").exists()
    ]
    sets = args.evaluation or [data / f"evaluation/{name}.parquet" for name in config["evaluation"]]
    if missing := [str(path) for path in [*tables, *sets] if not path.exists()]:
        raise UsageError(f"no such table: {', '.join(missing)}; name them with --questions and --evaluation")
    prints, settings = Fingerprints.read(sets), DecontaminationSettings.from_config(config)
    unseen = set(args.ids)
    for path, row in find_rows(tables, args.ids):
        unseen.discard(row["id"])
        print("\n".join([f"[{path.stem}]", *explain(row, prints, settings)]))
    if unseen:
        raise UsageError(f"in none of {len(tables)} tables: {', '.join(sorted(unseen))}")


def main(args: argparse.Namespace) -> None:
    run_bucket(args) if args.command == "run" else explain_ids(args)


if __name__ == "__main__":
    cli.run(main, parser)
