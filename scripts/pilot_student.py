#!/usr/bin/env python3
"""The pilot's student: `train` it on a mix, `evaluate` it on GAIA; with a GPU here, or with what was made elsewhere.

Without a GPU both stop with exit code 2 and print the commands to run and the file to put back. Nothing pretends to
have trained. `evaluate` uses STUDENT_URL when it is set, and starts the configured server otherwise.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tir_distill import cli
from tir_distill.records import Stopped, write_json

parser = cli.Parser(
    description=__doc__,
    example="pilot_student.py train --config results/state/config.json --mix-dir results/train/pilot"
    " --student results/pilot/student.json",
)
commands = parser.add_subparsers(dest="command", required=True)
for _name, _help in (("train", "run the training command"), ("evaluate", "serve the student and run it on GAIA")):
    _command = commands.add_parser(_name, help=_help)
    _command.add_argument("--config", type=Path, action="append", default=[], help="configuration over the defaults")
    _command.add_argument("--mix-dir", type=Path, required=True, help="folder of the mix, with MIX.json and sft.sh")
    _command.add_argument("--student", type=Path, required=True, help="student.json: the checkpoint and its mix")
    if _name == "evaluate":
        _command.add_argument("--gaia", type=Path, required=True, help="folder of the source gaia")
        _command.add_argument("--out", type=Path, required=True, help="folder of the student's run")


def evaluate(args: argparse.Namespace) -> None:
    """Raises Stopped when there is no server and no GPU to start one."""
    import infer_gaia_agent
    from tir_distill.evaluation.metrics import summary
    from tir_distill.evaluation.training import TrainingSettings, check_student, served

    config = cli.load_config(*args.config)
    student = check_student(args.student, args.mix_dir)
    names = config["student"]

    def run() -> None:
        print(summary(infer_gaia_agent.evaluate(config, out=args.out, source=args.gaia)))

    if os.environ.get(names["url_env"]):
        os.environ.setdefault(names["model_env"], names["model"])
        run()
        return
    with served(TrainingSettings.from_config(config), args.mix_dir, student["checkpoint"]) as url:
        os.environ[names["url_env"]] = url
        os.environ[names["model_env"]] = names["model"]
        run()


def main(args: argparse.Namespace) -> None:
    from tir_distill.evaluation.training import TrainingSettings, train

    try:
        if args.command == "train":
            settings = TrainingSettings.from_config(cli.load_config(*args.config))
            print(f"{args.student}: {train(settings, args.mix_dir, args.student)['checkpoint']}")
        else:
            evaluate(args)
    except Stopped as stopped:
        mark = args.student.parent / "state" / "stop.json"
        write_json(mark, {"reason": stopped.reason, "detail": stopped.detail})
        raise


if __name__ == "__main__":
    cli.run(main, parser)
