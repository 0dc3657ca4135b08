#!/usr/bin/env python3
"""Convert earlier TIR data in a text protocol to rows with structured tool calls (seed sections 8 and 10)."""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.config import ROOT
from tir_distill.legacy import LegacySettings, convert_file, places
from tir_distill.records import read_json, write_json

parser = cli.Parser(
    description=__doc__,
    example="convert_tir_to_native.py --in thinking_clean.jsonl --images data/pictures "
    "--out thinking_clean_native.jsonl --report report.json",
)
parser.add_argument("--in", dest="source", type=Path, required=True, help=".jsonl, .json (a list) or .parquet")
parser.add_argument("--out", type=Path, required=True, help="native rows, in the order of the input")
parser.add_argument("--report", type=Path, help="counts (default: OUT with .report.json)")
parser.add_argument("--rejects", type=Path, help="dropped rows with reasons (default: OUT with .rejects.jsonl)")
parser.add_argument("--name", help="source and bucket of the rows (default: the input's name)")
parser.add_argument("--images", type=Path, help="folder that picture paths of the input are relative to")
parser.add_argument("--images-out", type=Path, help="folder for pictures, by content (default: images beside OUT)")
parser.add_argument("--row-root", type=Path, help="folder that picture paths in rows are relative to (default: OUT's)")
parser.add_argument("--licence", default="not stated", help="licence written into every row")
parser.add_argument(
    "--tools", nargs="+", choices=["python", "search", "open"], default=["python"], help="tools that rows may call"
)


def main(args: argparse.Namespace) -> None:
    row_root = args.row_root or args.out.parent
    rejects = args.rejects or args.out.with_suffix(".rejects.jsonl")
    counts = args.report or args.out.with_suffix(".report.json")
    places.refuse_the_same({"--in": args.source, "--out": args.out, "--rejects": rejects, "--report": counts})
    settings = LegacySettings(
        name=args.name or args.source.stem,
        system=(ROOT / "resources" / "system_prompt_python.txt").read_text(encoding="utf-8").strip(),
        tools=[read_json(ROOT / "resources" / "tools" / f"{name}.json") for name in args.tools],
        pictures=args.images,
        row_root=row_root,
        licence=args.licence,
    )
    with cli.ProgressLine(f"convert {settings.name}") as progress:
        report = convert_file(
            args.source,
            args.out,
            rejects,
            settings=settings,
            images_out=args.images_out or args.out.parent / "images",
            progress=progress,
        )
    write_json(counts, report.to_dict())
    dropped = ", ".join(f"{reason} {count}" for reason, count in sorted(report.dropped.items())) or "none"
    print(f"{args.out}: {report.rows_written} of {report.rows_read} rows; with code {report.rows_with_code};", end=" ")
    print(f"without thinking {report.without_thinking}; letter answers {report.letter_answers}; dropped: {dropped}")


if __name__ == "__main__":
    cli.run(main, parser)
