#!/usr/bin/env python3
"""Choose the questions and build the package that goes to the teacher's site. `all` is `select`, then `pack`."""

import argparse
from pathlib import Path

from tir_distill import cli, config
from tir_distill.questions import DecontaminationSettings, Evidence, SelectionSettings, pack, select

parser = cli.Parser(
    description=__doc__,
    example="build_handover.py select --config config/config.yaml "
    "--buckets results/decontaminated/{fvqa_train,evobrowsecomp}.parquet --evaluation results/evaluation/*.parquet "
    "--images results/images --out results/handover_10k",
)
commands = parser.add_subparsers(dest="command", required=True)


def add_command(name: str, text: str, *, selects: bool, packs: bool) -> None:
    """One command with the arguments of its half, or of both."""
    command = commands.add_parser(name, help=text)
    command.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
    command.add_argument("--out", type=Path, required=True, help="folder of the hand-over")
    tables = ("--buckets", "--kept") if selects else ("--kept", "--buckets")
    command.add_argument(*tables, dest="kept", type=Path, nargs="+", required=True, help="decontaminated tables")
    if selects:
        command.add_argument("--images", type=Path, required=True, help="folder of all pictures, by content")
        command.add_argument(
            "--evaluation", type=Path, nargs="+", required=True, help="tables of evaluation fingerprints"
        )
    if packs:
        counts = "--evaluation-counts" if selects else "--evaluation"
        command.add_argument(counts, dest="sets", type=Path, nargs="+", required=True, help="<set>.counts.json files")
        command.add_argument("--counts", type=Path, nargs="+", required=True, help="<bucket>.counts.json files")
        command.add_argument("--drops", type=Path, nargs="+", required=True, help="<bucket>.drops.parquet files")
        command.add_argument("--locks", type=Path, nargs="+", required=True, help="lock.json of every source")
        command.add_argument(
            "--scripts-root", type=Path, default=config.ROOT, help="checkout whose commands are shipped; default: this"
        )


add_command("select", "phase_10k.jsonl, the pilot, images/, eval_text_index.json", selects=True, packs=False)
add_command("pack", "images.tar, scripts/, card, metadata, MANIFEST.json", selects=False, packs=True)
add_command("all", "both", selects=True, packs=True)


def main(args: argparse.Namespace) -> None:
    settings = cli.load_config(args.config)
    if args.command in ("select", "all"):
        with cli.ProgressLine("select questions") as progress:
            done = select(
                args.kept,
                args.evaluation,
                SelectionSettings.from_config(settings),
                DecontaminationSettings.from_config(settings),
                images=args.images,
                out=args.out,
                progress=progress,
            )
        print(
            f"{done.questions} questions, {done.pilot} in the pilot, {done.pictures} pictures, "
            f"index of {done.evaluation_items} evaluation items"
        )
    if args.command in ("pack", "all"):
        evidence = Evidence(
            counts=args.counts, kept=args.kept, drops=args.drops, evaluation=args.sets, locks=args.locks
        )
        with cli.ProgressLine("pack pictures") as progress:
            made = pack(settings, evidence, out=args.out, scripts_root=args.scripts_root, progress=progress)
        print(f"{args.out}: {len(made['files'])} files, manifest written")


if __name__ == "__main__":
    cli.run(main, parser)
