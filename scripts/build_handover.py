#!/usr/bin/env python3
"""Choose the questions and build the package for the teacher's site: `select`, `pictures`, `pack`, or `all`."""

import argparse
from pathlib import Path

from tir_distill import cli, config
from tir_distill.questions import (
    DecontaminationSettings,
    Evidence,
    PackedPictures,
    SelectionSettings,
    pack,
    pack_pictures,
    select,
)

parser = cli.Parser(
    description=__doc__,
    example="build_handover.py select --config config/config.yaml "
    "--buckets results/decontaminated/{fvqa_train,evobrowsecomp}.parquet --evaluation results/evaluation/*.parquet "
    "--images results/images --out results/handover_10k",
)
commands = parser.add_subparsers(dest="command", required=True)


def add_command(name: str, text: str) -> None:
    """One step with its arguments, or all of them."""
    selects, packs = name in ("select", "all"), name in ("pack", "all")
    command = commands.add_parser(name, help=text)
    command.add_argument("--out", type=Path, required=True, help="folder of the hand-over")
    if selects or packs:
        command.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
        tables = ("--buckets", "--kept") if selects else ("--kept", "--buckets")
        command.add_argument(*tables, dest="kept", type=Path, nargs="+", required=True, help="decontaminated tables")
    if selects:
        command.add_argument("--images", type=Path, required=True, help="folder of all pictures, by content")
        command.add_argument(
            "--evaluation", type=Path, nargs="+", required=True, help="tables of evaluation fingerprints"
        )
    if name in ("pictures", "pack"):
        command.add_argument("--hashes", type=Path, required=True, help="what `pictures` notes for `pack` (.json)")
    if packs:
        counts = "--evaluation-counts" if selects else "--evaluation"
        command.add_argument(counts, dest="sets", type=Path, nargs="+", required=True, help="<set>.counts.json files")
        command.add_argument("--counts", type=Path, nargs="+", required=True, help="<bucket>.counts.json files")
        command.add_argument("--drops", type=Path, nargs="+", required=True, help="<bucket>.drops.parquet files")
        command.add_argument("--locks", type=Path, nargs="+", required=True, help="lock.json of every source")
        command.add_argument(
            "--scripts-root", type=Path, default=config.ROOT, help="checkout whose commands are shipped; default: this"
        )


add_command("select", "phase_10k.jsonl, the pilot, images/, eval_text_index.json")
add_command("pictures", "images.tar")
add_command("pack", "scripts/, card, metadata, MANIFEST.json")
add_command("all", "one after the other")


def select_questions(args: argparse.Namespace) -> None:
    settings = cli.load_config(args.config)
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


def archive(args: argparse.Namespace) -> PackedPictures:
    with cli.ProgressLine("pack pictures") as progress:
        packed = pack_pictures(args.out, progress)
    print(f"images.tar: {len(packed.files)} pictures, {packed.archive.size / 1e6:.1f} MB")
    return packed


def complete(args: argparse.Namespace, pictures: PackedPictures) -> None:
    evidence = Evidence(counts=args.counts, kept=args.kept, drops=args.drops, evaluation=args.sets, locks=args.locks)
    made = pack(cli.load_config(args.config), evidence, pictures, out=args.out, scripts_root=args.scripts_root)
    print(f"{args.out}: {len(made['files'])} files, manifest written")


def main(args: argparse.Namespace) -> None:
    if args.command == "select":
        select_questions(args)
    elif args.command == "pictures":
        archive(args).write(args.hashes)
    elif args.command == "pack":
        complete(args, PackedPictures.read(args.hashes))
    else:
        select_questions(args)
        complete(args, archive(args))


if __name__ == "__main__":
    cli.run(main, parser)
