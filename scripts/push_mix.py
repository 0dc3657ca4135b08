#!/usr/bin/env python3
"""Make a self-contained folder of a training mix and, when told to, upload it to the hub. A dry run by default."""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.records import TirError

parser = cli.Parser(
    description=__doc__,
    example="push_mix.py --mix results/train/full --img-root results --stage out/full --repo owner/name --push",
)
parser.add_argument("--mix", type=Path, required=True, help="folder of build_mix.py")
parser.add_argument("--img-root", type=Path, required=True, help="folder that picture paths in rows are relative to")
parser.add_argument("--stage", type=Path, required=True, help="folder to write: rows, pictures, card, metadata")
parser.add_argument("--repo", required=True, help="dataset repository, owner/name")
parser.add_argument("--push", action="store_true", help="upload; without it nothing leaves this machine")
parser.add_argument("--public", action="store_true", help="make a new repository public (default: private)")
parser.add_argument(
    "--allow", action="append", default=[], metavar="LICENCE", help="a non-commercial or unstated licence that may go"
)


def main(args: argparse.Namespace) -> None:
    from tir_distill.audit import Secrets
    from tir_distill.export.mix.publish import check_mix, push, stage_mix
    from tir_distill.questions.croissant import CONTEXT

    secrets = Secrets(tuple(cli.secret_values()))

    def leaks(line: bytes) -> list[str]:
        return [f"looks like a key ({finding.detail})" for finding in secrets.check(line)]

    check_mix(args.mix, args.img_root, leaks=leaks, allow=args.allow)
    document = stage_mix(args.mix, args.img_root, args.stage, CONTEXT)
    files = [path for path in sorted(args.stage.rglob("*")) if path.is_file()]
    pictures = [path for path in files if path.is_relative_to(args.stage / "images")]
    for path in files:
        if path not in pictures:
            print(f"{path.relative_to(args.stage)}  {path.stat().st_size:,} bytes")
    print(f"images/  {len(pictures):,} files, {sum(path.stat().st_size for path in pictures):,} bytes")
    for entry in document["licences"]:
        note = "" if entry["commercial_use"] else "  (no commercial use)"
        print(f"{entry['part']}: {entry['rows']:,} rows under {entry['licence']}{note}")
    if not args.push:
        print(f"dry run: nothing was uploaded to {args.repo}; --push does it")
        return
    import httpx2  # what huggingface_hub raises; its own errors are among them
    from huggingface_hub import HfApi

    try:
        push(args.stage, args.repo, HfApi(), private=not args.public, say=print)
    except (httpx2.HTTPError, OSError) as error:
        raise TirError(
            f"{args.repo}: not uploaded ({error}); see that the hub and HF_TOKEN are right, then again"
        ) from None


if __name__ == "__main__":
    cli.run(main, parser)
