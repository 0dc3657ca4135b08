#!/usr/bin/env python3
"""The gate between pilot and full run: `judge` a student's run, `open` a run by a passed gate or an override.

`judge` leaves with exit code 3 when a figure fails, and names the figure and ten questions that show it. `open` writes
by what right a run starts, and leaves with exit code 3 when there is none.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tir_distill import cli
from tir_distill.records import UsageError, write_json

parser = cli.Parser(
    description=__doc__,
    example="pilot_gate.py judge --run results/evaluation_runs/pilot --out results/pilot/pilot_gate.json",
)
commands = parser.add_subparsers(dest="command", required=True)
judge = commands.add_parser("judge", help="decide on a student's run")
judge.add_argument("--config", type=Path, action="append", default=[], help="configuration laid over the defaults")
judge.add_argument("--run", type=Path, required=True, help="folder that infer_gaia_agent.py wrote")
judge.add_argument("--out", type=Path, required=True, help="pilot_gate.json; written only when the gate is passed")
opened = commands.add_parser("open", help="write the paper by which a run starts")
opened.add_argument("--config", type=Path, action="append", default=[], help="configuration laid over the defaults")
opened.add_argument("--run", required=True, help="name of the run that is to start")
opened.add_argument("--gate", type=Path, help="pilot_gate.json of the run that it waits for")
opened.add_argument("--out", type=Path, required=True, help="gate.json of the run")


def main(args: argparse.Namespace) -> None:
    from tir_distill.evaluation.gate_run import judge_run, open_gate, write_gate
    from tir_distill.evaluation.student import RunFolder

    config = cli.load_config(*args.config)
    if args.command == "judge":
        write_gate(judge_run(RunFolder(args.run), config), args.out)
        print(f"{args.out}: the gate is passed")
        return
    gate_run = (config["runs"].get(args.run) or {}).get("gate")
    if gate_run is None:
        gated = [name for name, entry in config["runs"].items() if entry and entry["gate"]]
        raise UsageError(f"--run {args.run}: no run that waits for a gate; those are {', '.join(gated) or 'none'}")
    document = open_gate(args.run, gate_run, args.gate, config["gate"]["override"])
    write_json(args.out, document)
    print(f"{args.out}: run {args.run} may start ({document['by']})")


if __name__ == "__main__":
    cli.run(main, parser)
