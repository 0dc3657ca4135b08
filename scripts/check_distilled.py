#!/usr/bin/env python3
"""Audit rows before training: exit code 0 when everything passed, 3 when a row or a threshold failed."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tir_distill import cli
from tir_distill.audit import PROFILES, AuditSettings, EvaluationIndex, audit_file
from tir_distill.export import Tokens
from tir_distill.records import ExitCode, TirError, write_json

parser = cli.Parser(
    description=__doc__,
    example="python scripts/check_distilled.py --in out/full/accepted.jsonl --img-root . \\\n"
    "    --eval-index eval_text_index.json --report out/full/audit.json",
)
parser.add_argument("--in", dest="rows", type=Path, required=True, help="rows to audit (JSON Lines)")
parser.add_argument("--img-root", type=Path, required=True, help="folder that picture paths are relative to")
parser.add_argument("--template-dir", type=Path, help="tokenizer folder of the model; default: the pinned template")
parser.add_argument("--eval-index", type=Path, help="eval_text_index.json (default: the one in --img-root)")
parser.add_argument("--report", type=Path, help="where the report goes (default: audit.json beside the rows)")
parser.add_argument("--config", type=Path, action="append", default=[], help="configuration laid over the defaults")
parser.add_argument("--profile", choices=sorted(PROFILES), default="distilled", help="what kind of rows these are")
parser.add_argument("--deep", action="store_true", help="also encode every row with ms-swift (envs/optional-swift.txt)")


def load_index(path: Path) -> EvaluationIndex:
    """The evaluation sets as hashes."""
    from tir_distill.questions import EvaluationIndex as Index

    try:
        index: EvaluationIndex = Index.load(path)
    except OSError as error:
        raise TirError(f"{path}: the evaluation index cannot be read ({error.strerror})") from error
    return index


def writable(report: Path) -> Path:
    """The report's place, tried before an hour's work and not after it. Raises TirError."""
    try:
        report.parent.mkdir(parents=True, exist_ok=True)
        if report.is_dir():
            raise IsADirectoryError("it is a folder")
        with tempfile.TemporaryFile(dir=report.parent):
            return report
    except OSError as error:
        raise TirError(
            f"{report}: the report cannot be written ({error.strerror or error}); name another --report"
        ) from error


def main(args: argparse.Namespace) -> ExitCode | None:
    config = cli.load_config(*args.config)
    if not args.rows.is_file():
        raise TirError(f"{args.rows}: no such file")
    report_path = writable(args.report or args.rows.with_name("audit.json"))
    if args.template_dir:
        config["tokens"]["template_dir"] = str(args.template_dir)
    index = args.eval_index or args.img_root / "eval_text_index.json"  # of an unpacked hand-over
    settings = AuditSettings.from_config(config, args.profile)
    tokens, because = None, ""
    try:
        tokens = Tokens.from_config(config)
    except TirError as error:
        because = str(error)
    deep = None
    if args.deep:
        from tir_distill.audit.deep import DeepCheck

        if tokens is None:
            raise TirError(f"--deep compares with the official rendering: {because}")
        deep = DeepCheck.open(
            tokens, model_dir=args.template_dir, img_root=args.img_root, max_length=settings.max_length
        )
    with cli.ProgressLine("rows audited") as progress:
        report = audit_file(
            args.rows,
            settings,
            img_root=args.img_root,
            tokens=tokens,
            index=load_index(index) if args.eval_index or index.is_file() else None,
            flat_max_std=config["decontamination"]["flat_max_std"],
            secret_values=tuple(cli.secret_values()),
            deep=deep,
            no_tokens_because=because,
            progress=progress,
        )
    write_json(report_path, report.to_dict())
    print(cli.redact(report.summary()))
    return None if report.passed else ExitCode.AUDIT_FAILED


if __name__ == "__main__":
    cli.run(main, parser)
