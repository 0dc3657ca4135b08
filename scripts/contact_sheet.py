#!/usr/bin/env python3
"""Pictures of dropped questions beside those of the evaluation items that they met, on one HTML page."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tir_distill import cli
from tir_distill.questions.contact_sheet import picture_pairs, write_sheet
from tir_distill.sources import EvaluationItem, ReadSettings, evaluation_items, evaluation_reader

parser = cli.Parser(
    description=__doc__,
    example="contact_sheet.py --drops results/decontaminated/*.drops.parquet --questions results/questions/*.parquet "
    "--images results/images --sources results/sources --out results/contact_sheet.html",
)
parser.add_argument("--config", type=Path, help="configuration; default: config/config.yaml")
parser.add_argument("--drops", type=Path, nargs="+", required=True, help="tables of matches")
parser.add_argument("--questions", type=Path, nargs="+", required=True, help="tables before decontamination")
parser.add_argument("--images", type=Path, required=True, help="folder of all pictures, by content")
parser.add_argument(
    "--sources", type=Path, help="fetched sources: also show evaluation pictures; keep such a page to yourself"
)
parser.add_argument("--out", type=Path, required=True, help="the page (.html)")


def pictures_of(
    sets: set[str], wanted: set[tuple[str, str]], args: argparse.Namespace
) -> dict[tuple[str, str], Sequence[bytes]]:
    """File bytes of the wanted evaluation items, read again from their sources."""
    config = cli.load_config(*([args.config] if args.config else []))
    out: dict[tuple[str, str], Sequence[bytes]] = {}
    for name in sorted(sets):
        settings = ReadSettings.for_evaluation(config, name)
        folder = args.sources / config["evaluation"][name]["source"]
        reader = evaluation_reader(settings.reader)(folder, tolerant=settings.tolerant)
        try:
            for item in evaluation_items(reader):
                if isinstance(item, EvaluationItem) and (name, item.id) in wanted:
                    out[name, item.id] = item.pictures
        finally:
            reader.close()
    return out


def main(args: argparse.Namespace) -> None:
    pairs = picture_pairs(args.drops, args.questions)
    wanted = {(pair.match.evaluation_set, pair.match.evaluation_id) for pair in pairs}
    evaluation = pictures_of({name for name, _ in wanted}, wanted, args) if args.sources else {}
    write_sheet(pairs, store=args.images, evaluation=evaluation, out=args.out)
    print(f"{args.out}: {len(pairs)} pairs, {len(evaluation)} evaluation items with pictures")


if __name__ == "__main__":
    cli.run(main, parser)
