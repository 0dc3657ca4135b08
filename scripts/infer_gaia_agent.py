#!/usr/bin/env python3
"""Run a student on GAIA validation, or on any question file, with the tools and limits of distillation; score it.

The address, name and key come from --url and --model or STUDENT_URL, STUDENT_MODEL and STUDENT_API_KEY. The same
command resumes. Conversations stay in <out>/private; <out>/metrics.json holds figures and ids only.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tir_distill import cli
from tir_distill.records import BadRow, Question, TirError, UsageError, write_json

if TYPE_CHECKING:
    from tir_distill.evaluation.gaia import Prepared

log = logging.getLogger("tir_distill.infer_gaia_agent")


async def prepare(config: Mapping[str, Any], source: Path, private: Path, limit: int | None) -> Prepared:
    """GAIA's questions with their files, rendered in the sandbox where the model's code could not read them."""
    from tir_distill.evaluation.gaia import prepare_gaia
    from tir_distill.evaluation.render import PRELOAD, Renderer
    from tir_distill.sandbox import Sandbox, SandboxFault, SandboxRefused, SandboxSettings, TaskFailed
    from tir_distill.sources.gaia_tasks import gaia_tasks, shown_picture

    started: list[Sandbox] = []

    async def sandbox() -> Sandbox:
        """Started for the first file that needs it."""
        if not started:
            try:
                started.append(await Sandbox.start(SandboxSettings.from_config(config), preload=PRELOAD))
            except (SandboxRefused, SandboxFault) as error:
                raise TirError(f"sandbox: {error}") from error
        return started[0]

    try:
        return await prepare_gaia(
            islice(gaia_tasks(source), limit),
            private,
            render=Renderer(sandbox, (TaskFailed, SandboxFault)),
            show=shown_picture,
        )
    finally:
        for box in started:
            await box.close()


def questions_of(path: Path, limit: int | None) -> Prepared:
    """Questions of a file in the project's own format. A line that is none is rejected by a reason, and counts as a
    question that could not be asked. Raises UsageError.
    """
    from tir_distill.evaluation.gaia import Prepared
    from tir_distill.records.hand_files import SetAside, objects

    aside = SetAside(path)
    questions: dict[str, Question] = {}
    rejects: dict[str, str] = {}
    try:
        for number, row in objects(path, aside):
            if limit is not None and len(questions) >= limit:
                break
            try:
                question = Question.from_dict(row)
            except BadRow as error:
                aside.add(number, error.reason, error.detail)
                rejects[f"line {number}"] = error.reason
                continue
            if question.id in questions:
                aside.add(number, "duplicate_id", f"{question.id} again; its first line counts")
            questions.setdefault(question.id, question)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    for number in range(aside.reasons["not_json"] + aside.reasons["not_an_object"]):
        rejects[f"unreadable {number + 1}"] = "unreadable_line"
    if not questions:
        raise UsageError(f"{path}: there is no question to ask" + (f"; {aside.first}" if aside.total else ""))
    return Prepared(tuple(questions.values()), rejects)


def evaluate(
    config: Mapping[str, Any],
    *,
    out: Path,
    source: Path | None,
    questions_file: Path | None = None,
    img_root: Path = Path(),
    limit: int | None = None,
    text_protocol: bool = False,
    changes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Ask all questions and write metrics.json; returns it. Raises Stopped when something is left."""
    from tir_distill.evaluation.metrics import metrics
    from tir_distill.evaluation.observed import read_observed, read_total
    from tir_distill.evaluation.student import RunFolder, StudentSettings, run_student, student_config
    from tir_distill.export import Tokens

    folder = RunFolder(out)
    settings = replace(StudentSettings.from_config(config), text_protocol=text_protocol, **(changes or {}))
    chosen = student_config(config, settings, folder)
    rejects: Mapping[str, str] = {}
    if questions_file is not None:
        prepared = questions_of(questions_file, limit)
        questions, root, rejects = list(prepared.questions), img_root, prepared.rejects
    elif source is not None:
        prepared = asyncio.run(prepare(config, source, folder.private, limit))
        questions, root, rejects = list(prepared.questions), folder.private, prepared.rejects
    else:
        raise UsageError("give --gaia or --in")
    if not questions:
        raise UsageError("there is no question to ask")
    try:
        counter = Tokens.from_config(config)
    except TirError as error:
        counter = None
        log.warning("tokens are not counted: %s", error)
    with cli.ProgressLine(out.name, len(questions)) as progress:
        report = asyncio.run(
            run_student(chosen, folder, questions, image_root=root, counter=counter, progress=progress)
        )
    log.info("%d questions, %d samples taken now", report.questions, report.samples_taken)
    about = {
        "model": os.environ[settings.model_env],
        "protocol": "text" if text_protocol else "native",
        "temperature": settings.temperature,
        "samples": settings.samples,
    }
    limits = {key: config["gate"][key] for key in ("min_self_search", "max_image_code")}
    document = metrics(
        read_observed(folder.trajectories), read_total(folder.questions), about=about, rejects=rejects, gate=limits
    )
    write_json(folder.metrics, document)
    return document


def compare_runs(out: Path, other: Path) -> str:
    """Write comparison_<other>.json into ``out``; returns its table."""
    from tir_distill.evaluation.compare import compare, table
    from tir_distill.evaluation.observed import read_observed
    from tir_distill.evaluation.student import RunFolder

    runs = []
    for path in (out, other):
        trajectories = RunFolder(path).trajectories
        if not trajectories.is_file():
            raise UsageError(f"{trajectories}: no such file; the folder of a finished student run is needed")
        runs.append(read_observed(trajectories))
    result = compare(*runs)
    write_json(out / f"comparison_{other.name}.json", {"first": out.name, "second": other.name, **result})
    return table(result, out.name, other.name)


def main(args: argparse.Namespace) -> None:
    from tir_distill.config import validate
    from tir_distill.evaluation.metrics import summary

    config = copy.deepcopy(cli.load_config(*args.config))
    if args.concurrency is not None:
        config["engine"]["concurrency"] = args.concurrency
    validate(config, "configuration and flags")
    names = config["student"]
    for value, name in ((args.url, names["url_env"]), (args.model, names["model_env"])):
        if value is not None:
            os.environ[name] = value
    changes: dict[str, Any] = {}
    if args.n is not None:
        changes["samples"] = args.n
    if args.temperature is not None:
        changes["temperature"] = args.temperature
    source = args.gaia or Path(config["paths"]["data"]) / "sources" / config["evaluation"]["gaia"]["source"]
    document = evaluate(
        config,
        out=args.out,
        source=source,
        questions_file=args.input,
        img_root=args.img_root,
        limit=args.limit,
        text_protocol=args.text_protocol,
        changes=changes,
    )
    print(summary(document))
    if args.compare is not None:
        print(compare_runs(args.out, args.compare))


def _parser() -> cli.Parser:
    parser = cli.Parser(
        description=__doc__,
        example="infer_gaia_agent.py --url http://127.0.0.1:8000/v1 --model student --gaia results/sources/gaia"
        " --out results/evaluation_runs/student --native-tools",
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder of the run, e.g. results/evaluation_runs/<model>"
    )
    parser.add_argument("--url", help="OpenAI-compatible address ending in /v1 (default: STUDENT_URL)")
    parser.add_argument("--model", help="served name (default: STUDENT_MODEL)")
    parser.add_argument("--config", type=Path, action="append", default=[], help="configuration laid over the defaults")
    questions = parser.add_mutually_exclusive_group()
    questions.add_argument("--gaia", type=Path, help="folder of the source gaia (default: <data>/sources/gaia)")
    questions.add_argument("--in", dest="input", type=Path, help="a question file in the project's format instead")
    parser.add_argument("--img-root", type=Path, default=Path(), help="folder of picture and file paths of --in")
    parser.add_argument("--n", type=_positive, help="samples a question (default: student.samples)")
    parser.add_argument("--limit", type=_positive, help="first N questions")
    parser.add_argument("--temperature", type=float, help="0 is greedy (default: student.temperature)")
    parser.add_argument("--concurrency", type=_positive, help="conversations at once")
    protocol = parser.add_mutually_exclusive_group()
    protocol.add_argument("--native-tools", action="store_true", help="structured tool calls (the default)")
    protocol.add_argument("--text-protocol", action="store_true", help="calls as text, for servers without a parser")
    parser.add_argument("--compare", type=Path, help="folder of another student's run: paired comparison")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


if __name__ == "__main__":
    cli.run(main, _parser())
