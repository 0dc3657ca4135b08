#!/usr/bin/env python3
"""Join accepted rows, cleaned legacy rows and other ms-swift files into one training mix, with its launch files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tir_distill import cli
from tir_distill.records import TirError
from tir_distill.records.private import refuse_private

parser = cli.Parser(
    description=__doc__,
    example="build_mix.py --config results/state/config.json --mix full "
    "--eval-index results/handover_10k/eval_text_index.json --out results/train/full",
)
parser.add_argument("--config", type=Path, required=True, help="configuration (YAML or JSON)")
parser.add_argument("--mix", required=True, help="a name under mixes")
parser.add_argument("--eval-index", type=Path, required=True, help="eval_text_index.json of the hand-over")
parser.add_argument("--out", type=Path, required=True, help="folder of the mix")


def main(args: argparse.Namespace) -> None:
    from tir_distill.export import Tokens
    from tir_distill.export.mix import (
        Drops,
        MixSettings,
        choose,
        read_part,
        starts_complete,
        write_descriptions,
        write_launch_files,
        write_mix,
    )
    from tir_distill.mixing import NearJoins, Pictures, RowTokens, evaluation_matcher, row_check
    from tir_distill.questions.croissant import CONTEXT
    from tir_distill.sources import TextPrint

    config = cli.load_config(args.config)
    settings = MixSettings.from_config(config, args.mix)
    tokens = Tokens.from_config(config)
    refuse_private([args.out, *(part.path for part in settings.parts)])
    drops = Drops()
    pictures = Pictures(config["decontamination"]["flat_max_std"])
    match = evaluation_matcher(args.eval_index)
    entries = []
    with cli.ProgressLine(f"mix {settings.name}") as progress:
        for number, part in enumerate(settings.parts):
            if not part.path.is_file():
                raise TirError(f"{part.path}: no such file; it is part {part.name!r} of mixes.{settings.name}")
            for entry in read_part(
                number,
                part,
                drops,
                text_print=TextPrint.of,
                count_tokens=RowTokens(tokens),
                look=pictures.look,
                evaluation_match=match,
                check=row_check(part.audit, config, tokens, cli.secret_values()),
                max_length=settings.max_length,
            ):
                entries.append(entry)
                progress.update(done=len(entries))
    near = NearJoins(settings.near_duplicate_jaccard, settings.near_duplicate_min_units)
    lines = choose(entries, settings, near, drops)
    if all(line.validation for line in lines):
        left_out = "; ".join(f"{part.name}: {drops.in_words(part.name)}" for part in settings.parts)
        raise TirError(f"mixes.{settings.name}: no row is left to train on ({left_out})")
    document: dict[str, Any] = write_mix(lines, settings, drops, args.out)
    write_descriptions(document, args.out, CONTEXT)
    write_launch_files(settings, args.out, held_out=starts_complete(args.out / "validation.jsonl"))
    print(f"{args.out}: {document['rows']['train']} rows to train, {document['rows']['validation']} held out")


if __name__ == "__main__":
    cli.run(main, parser)
