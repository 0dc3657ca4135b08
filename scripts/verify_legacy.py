#!/usr/bin/env python3
"""Run the code of converted rows in the sandbox and compare what it prints with what the rows say it printed."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from tir_distill import cli
from tir_distill.records import TirError, write_json

parser = cli.Parser(
    description=__doc__,
    example="verify_legacy.py --in old_clean.jsonl --img-root results --side old_verify.jsonl --out old_verified.jsonl",
)
parser.add_argument("--in", dest="rows", type=Path, required=True, help="rows of convert_tir_to_native.py")
parser.add_argument("--img-root", type=Path, required=True, help="folder that picture paths in rows are relative to")
parser.add_argument("--side", type=Path, required=True, help="one line per row: verdict, and each cell's")
parser.add_argument("--out", type=Path, help="rows without code, and rows whose every cell matches")
parser.add_argument("--report", type=Path, help="counts (default: SIDE with .report.json)")
parser.add_argument("--at-once", type=int, default=4, help="rows under way (default: %(default)s)")
parser.add_argument("--config", type=Path, help="configuration; its sandbox section holds the limits of a cell")


def main(args: argparse.Namespace) -> None:
    from tir_distill.legacy import places
    from tir_distill.legacy.verify import VerifyReport, verify_file
    from tir_distill.sandbox import Sandbox, SandboxFault, SandboxRefused, SandboxSettings

    counts = args.report or args.side.with_suffix(".report.json")
    written = {"--side": args.side, "--report": counts} | ({"--out": args.out} if args.out else {})
    places.refuse_the_same({"--in": args.rows} | written)
    config = cli.load_config(*([args.config] if args.config else []))

    async def work(progress: cli.ProgressLine) -> VerifyReport:
        try:
            sandbox = await Sandbox.start(SandboxSettings.from_config(config))
        except (SandboxRefused, SandboxFault) as error:
            raise TirError(str(error)) from None
        try:
            return await verify_file(
                args.rows,
                args.side,
                sandbox=sandbox,
                img_root=args.img_root,
                at_once=args.at_once,
                kept=args.out,
                progress=progress,
            )
        finally:
            await sandbox.close()

    with cli.ProgressLine("rows verified") as progress:
        report = asyncio.run(work(progress))
    write_json(counts, report.to_dict())
    cells = ", ".join(f"{name} {count}" for name, count in report.to_dict()["cells"].items())
    print(f"{args.rows}: {report.rows} rows, {report.rows_without_code} without code; cells: {cells}")


if __name__ == "__main__":
    cli.run(main, parser)
