#!/usr/bin/env python3
"""Write the rows of a run: filtered shards in, accepted.jsonl for ms-swift and rejects.jsonl out."""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.export import (
    ExportSettings,
    PicturePlaces,
    Renderer,
    Row,
    export_rows,
    find_template,
    same_conversation,
)
from tir_distill.records import BadRow, ExitCode, Trajectory

parser = cli.Parser(
    description=__doc__,
    example="python scripts/export_rows.py --config run.json --filtered results/full/shards/*/*.filtered.jsonl \\\n"
    "    --run-dir results/full --img-root results/handover_10k --row-root results \\\n"
    "    --out results/full/accepted.jsonl --rejects results/full/rejects.jsonl",
)
parser.add_argument("--config", type=Path, required=True, help="the resolved configuration")
parser.add_argument("--filtered", type=Path, nargs="+", required=True, help="filtered shards of the run")
parser.add_argument("--run-dir", type=Path, required=True, help="run folder: tool pictures are relative to it")
parser.add_argument(
    "--img-root", type=Path, required=True, help="hand-over folder: question pictures are relative to it"
)
parser.add_argument("--row-root", type=Path, required=True, help="folder that the paths in a row are relative to")
parser.add_argument("--out", type=Path, required=True)
parser.add_argument("--rejects", type=Path, required=True, help="accepted samples that no row could say faithfully")


def main(args: argparse.Namespace) -> ExitCode | None:
    settings = ExportSettings.from_config(cli.load_config(args.config))
    places = PicturePlaces(image_root=args.img_root, run_dir=args.run_dir, row_root=args.row_root)
    renderer = Renderer(find_template(settings.template_dir))

    def check(row: Row, sample: Trajectory) -> None:
        if not same_conversation(row, sample, renderer):
            raise BadRow("render_differs", "row and sample do not render to the same text")

    with cli.ProgressLine("samples") as progress:
        counts = export_rows(
            args.filtered,
            settings=settings,
            places=places,
            out=args.out,
            rejects=args.rejects,
            check=check,
            progress=progress,
        )
    rejected = ", ".join(f"{reason} {count}" for reason, count in sorted(counts.rejected.items())) or "none"
    print(f"{args.out}: {counts.rows} rows of {counts.samples} samples; rejected: {rejected}")
    return None


if __name__ == "__main__":
    cli.run(main, parser)
