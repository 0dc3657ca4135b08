#!/usr/bin/env python3
"""Distil teacher trajectories for a question file: sample, grade, filter and export, in one process.

Endpoints and keys come from the environment or .env: TEACHER_URL, TEACHER_MODEL, TEACHER_API_KEY, SERPER_API_KEY,
JUDGE_API_KEY. The same command resumes; exit code 2 means that something is left to do.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import copy
import logging
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tir_distill import cli
from tir_distill.records import PRIORITIES, BadRow, Question, TirError, UsageError, read_json, read_jsonl, write_json

if TYPE_CHECKING:
    from tir_distill.rollout import Journal

log = logging.getLogger("tir_distill.distill_trajectories")

BUCKET = "all"
"""This command samples all buckets as one shard."""

FLAGS: tuple[tuple[str, type, tuple[str, str], str], ...] = (
    ("--k-max", int, ("plan", "k_max"), "samples of one question at most"),
    ("--k-max-text", int, ("plan", "k_max_text"), "the same for text_search"),
    ("--max-turns", int, ("sampling", "max_turns"), "turns before the answer is asked for"),
    ("--max-turns-text", int, ("sampling", "max_turns_text"), "the same for text_search"),
    ("--max-search-per-traj", int, ("sampling", "max_search_per_traj"), "searches of one trajectory"),
    ("--max-search-per-traj-text", int, ("sampling", "max_search_per_traj_text"), "the same for text_search"),
    ("--max-search-per-question", int, ("plan", "max_search_per_question"), "billed searches of one question"),
    ("--max-search-per-question-text", int, ("plan", "max_search_per_question_text"), "the same for text_search"),
    ("--max-calls-per-turn", int, ("sampling", "max_calls_per_turn"), "calls of one turn that are run and kept"),
    ("--serper-qps", float, ("budgets", "serper_qps"), "paid searches a second, over all processes"),
    ("--request-timeout", float, ("engine", "request_timeout"), "seconds for one teacher request"),
    ("--max-obs-chars", int, ("sampling", "max_obs_chars"), "characters of one tool result"),
    ("--max-seq-tokens", int, ("max_length", ""), "tokens of a whole row (F11)"),
    ("--max-tokens", int, ("sampling", "max_tokens"), "tokens of one reply"),
    ("--temperature", float, ("sampling", "temperature"), "sampling temperature"),
    ("--concurrency", int, ("engine", "concurrency"), "conversations at once"),
    ("--max-search-total", int, ("budgets", "max_search_total"), "paid searches of the whole run"),
    ("--max-tokens-total", int, ("budgets", "max_tokens_total"), "tokens of the whole run"),
    ("--max-usd-total", float, ("budgets", "max_usd_total"), "US dollars of the whole run"),
)
"""Flag, type, place in the configuration, help. A flag that is not given leaves the configured value (RULINGS 15)."""


def configuration(args: argparse.Namespace) -> dict[str, Any]:
    """Defaults, the files given, then the flags over them; checked as a whole. Raises UsageError."""
    from tir_distill.config import validate

    config = copy.deepcopy(cli.load_config(*args.config))
    for flag, _, (section, key), _ in FLAGS:
        value = getattr(args, flag.strip("-").replace("-", "_"))
        if value is None:
            continue
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{flag} {value}: give a number")
        if key:
            config[section][key] = value
        else:
            config[section] = value
    if args.text_protocol:
        config["sampling"]["text_protocol"] = True
    config["plan"]["k_first"] = min(config["plan"]["k_first"], config["plan"]["k_max"])
    config["paths"]["state"] = str(args.out.resolve().parent / "state")
    validate(config, "configuration and flags")
    return config


def questions_in(path: Path) -> Iterator[Question]:
    """All questions of the file, in file order. Raises UsageError for a line that is none."""
    for row in read_jsonl(path):
        try:
            yield Question.from_dict(row)
        except BadRow as error:
            raise UsageError(f"{path}: {error.detail}") from None


def chosen(args: argparse.Namespace, questions: Sequence[Question]) -> list[Question]:
    """Those that --ids, --priority and --limit leave, in file order. Raises UsageError for an id that is not there."""
    if args.limit is not None and args.limit < 1:
        raise UsageError("--limit: give a number of questions, 1 or more")
    wanted = set(args.ids or ())
    unknown = wanted - {question.id for question in questions}
    if unknown:
        raise UsageError(f"{args.input}: no question has the id {', '.join(sorted(unknown))}")
    left = [
        question
        for question in questions
        if (not wanted or question.id in wanted) and (not args.priority or question.priority in args.priority)
    ]
    return left[: args.limit]


def set_aside(out: Path, config: dict[str, Any]) -> None:
    """Keep an earlier run folder under the next free name, with its budgets (--fresh)."""
    from tir_distill.ledger import Ledger, LedgerSettings, ledger_url

    if not out.exists():
        return
    number = 1
    while (kept := out.with_name(f"{out.name}.{number}")).exists():
        number += 1
    out.rename(kept)
    if config["ledger"]["url"] or (Path(config["paths"]["state"]) / "ledger.sqlite").exists():
        ledger = Ledger.open(ledger_url(config), run=out.resolve().name, settings=LedgerSettings.from_config(config))
        ledger.rename_run(kept.name)
        ledger.close()
    log.info("the earlier run is kept as %s", kept)


def set_aside_unused(out: Path, config: dict[str, Any]) -> None:
    """``set_aside``, refused with a TirError while another process samples into the folder."""
    from tir_distill.rollout import Journal

    path = journal_of(out)
    if not path.exists():
        set_aside(out, config)
        return
    with contextlib.closing(Journal(path)):
        set_aside(out, config)


def journal_of(out: Path) -> Path:
    """The run's one journal. Who holds its lock may change the run folder."""
    from tir_distill.rollout import journal_path

    return journal_path(out, BUCKET, 0, 1)


def main(args: argparse.Namespace) -> None:
    from tir_distill.rollout.forecast import forecast, table

    cli.terminate_as_interrupt()
    if args.resume and args.fresh:
        raise UsageError("--resume and --fresh exclude each other")
    config = configuration(args)
    questions = list(questions_in(args.input))
    selected = chosen(args, questions)
    if not selected:
        raise UsageError(f"{args.input}: no question is left after --ids, --priority and --limit")
    if args.plan is not None:
        print(table(forecast(selected, config, read_json(args.plan) if args.plan.name else None)))
        return
    if args.fresh:
        set_aside_unused(args.out, config)
    ids = None if len(selected) == len(questions) else frozenset(question.id for question in selected)
    sample_and_finish(args, config, questions, ids)


def sample_and_finish(
    args: argparse.Namespace, config: dict[str, Any], questions: list[Question], selected: frozenset[str] | None
) -> None:
    """Sample everything in this process, then filter, export and count. Raises Stopped (exit 2) when work is left.

    ``selected``: only these are sampled; whatever else the run has finished stays in its files.
    """
    from tir_distill.rollout import Journal

    with contextlib.closing(Journal(journal_of(args.out))) as journal:  # first of all: a second process changes nothing
        _sample_and_finish(args, config, questions, selected, journal)


def _sample_and_finish(
    args: argparse.Namespace,
    config: dict[str, Any],
    questions: list[Question],
    selected: frozenset[str] | None,
    journal: Journal,
) -> None:
    from tir_distill.export import Tokens
    from tir_distill.pipeline import RunPlaces, ShardFiles, filter_settings, finish_run, summary
    from tir_distill.rollout import ShardJob
    from tir_distill.rollout.assemble import run_shard

    name = args.out.resolve().name
    shards = args.out / "shards" / BUCKET
    job = ShardJob(
        run=name,
        run_dir=args.out,
        bucket=BUCKET,
        index=0,
        shards=1,
        questions=questions,
        image_root=args.img_root,
        trajectories=shards / "0000-of-0001.trajectories.jsonl",
        questions_out=shards / "0000-of-0001.questions.jsonl",
        adopt=[path for path in args.adopt if _is_run(path)],
        selected=selected,
        retry_deferred=args.retry == "deferred",
    )
    (args.out / "state" / "stop.json").unlink(missing_ok=True)
    write_json(args.out / "state" / "config.json", config)  # the audit goes by it
    with cli.ProgressLine(name, len(questions if selected is None else selected)) as progress:
        counter = Tokens.from_config(config)
        filters = filter_settings(config, args.img_root / "eval_text_index.json")
        report = asyncio.run(
            run_shard(
                config, job, counter=counter, progress=progress, clear_stop=True, filters=filters, journal=journal
            )
        )
    log.info("%s: %d questions, %s", name, report.questions, dict(report.statuses))
    places = RunPlaces(name, args.out, args.img_root, row_root=args.img_root)
    with cli.ProgressLine(f"{name}: filters and rows") as progress:
        stats = finish_run(config, places, [ShardFiles(shards / "0000-of-0001")], progress)
    print(summary(stats))
    if selected is not None:
        print(f"sampled: {len(selected)} selected questions; in the files as well: {report.kept} finished earlier")
        if report.unfinished:
            print(f"not in the files: {report.unfinished} others that have begun; a run without a selection ends them")


def _is_run(path: Path) -> bool:
    if not (path / "state" / "journal").is_dir():
        raise TirError(f"--adopt {path}: no journal there; give the folder of a run")
    return True


def _parser() -> cli.Parser:
    parser = cli.Parser(
        description=__doc__,
        example="distill_trajectories.py --in phase_10k_pilot.jsonl --img-root . --out out/pilot --resume",
    )
    parser.add_argument("--in", dest="input", type=Path, required=True, help="question file (phase_10k.jsonl)")
    parser.add_argument("--img-root", type=Path, default=Path(), help="folder of picture paths (default: here)")
    parser.add_argument("--out", type=Path, required=True, help="run folder")
    parser.add_argument("--config", type=Path, action="append", default=[], help="configuration laid over the defaults")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier start ended (the default)")
    parser.add_argument(
        "--fresh", action="store_true", help="start over; an earlier run folder is kept as OUT.1, OUT.2"
    )
    parser.add_argument("--adopt", type=Path, action="append", default=[], help="run folder whose samples to reuse")
    parser.add_argument("--limit", type=int, help="first N questions")
    parser.add_argument("--ids", nargs="+", help="only these questions")
    parser.add_argument("--priority", nargs="+", choices=PRIORITIES, help="only these priorities")
    parser.add_argument("--retry", choices=("deferred",), help="open questions that were given up again")
    parser.add_argument(
        "--plan",
        type=Path,
        nargs="?",
        const=Path(),
        metavar="STATS",
        help="print the expected and the largest cost and leave; STATS: stats.json of a finished run to reckon from",
    )
    parser.add_argument(
        "--text-protocol", action="store_true", help="the server has no tool parser: calls as text (not advised)"
    )
    for flag, kind, _, words in FLAGS:
        parser.add_argument(flag, type=kind, help=f"{words} (default: {_default(flag)})")
    return parser


def _default(flag: str) -> str:
    """The configured value, for the help text."""
    from tir_distill.config import DEFAULTS, read

    config = read(DEFAULTS)
    section, key = next(place for name, _, place, _ in FLAGS if name == flag)
    value = config[section][key] if key else config[section]
    return "no limit" if value is None else str(value)


if __name__ == "__main__":
    cli.run(main, _parser())
