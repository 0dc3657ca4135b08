#!/usr/bin/env python3
"""Stop a run in good order, look how it stands, or let it go on.

Stopping sets the run's flag in the ledger: no shard starts a new sample, samples under way end without a record, and
the run's commands leave with exit code 2. What is finished stays; the same command takes the flag away and resumes.
"""

from tir_distill import cli  # isort: skip

import argparse
import time
from pathlib import Path

from tir_distill.ledger import Ledger, LedgerSettings, ledger_url
from tir_distill.records import UsageError
from tir_distill.workflow import sampled_runs


def parser() -> cli.Parser:
    out = cli.Parser(
        description=__doc__,
        example='stop_run.py --run pilot --reason "prompt has a typo"\n'
        "  stop_run.py --out out/pilot --status        # in an unpacked hand-over",
    )
    out.add_argument("--config", type=Path, action="append", default=[], help="configuration laid over the defaults")
    place = out.add_mutually_exclusive_group(required=True)
    place.add_argument("--run", help="name of a run of the workflow, e.g. pilot")
    place.add_argument("--out", type=Path, help="run folder of distill_trajectories.py, e.g. out/pilot")
    what = out.add_mutually_exclusive_group(required=True)
    what.add_argument("--reason", help="stop the run; say why, others will read it")
    what.add_argument("--clear", action="store_true", help="take the flag away, so that the run can go on")
    what.add_argument("--status", action="store_true", help="only say how the run stands")
    return out


def main(args: argparse.Namespace) -> None:
    """Set, clear or show the flag; then one line on how the run stands."""
    config = cli.load_config(*args.config)
    run = args.run
    if args.out is not None:
        run = args.out.resolve().name
        config["paths"]["state"] = str(args.out.resolve().parent / "state")
    elif run not in (known := sampled_runs(config)):
        raise UsageError(f"--run: {run!r} is no run of this configuration; expected one of {sorted(known)}")
    url = ledger_url(config)
    file = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///") and not file.exists():
        raise UsageError(f"{file}: no ledger there, so nothing of {run!r} has been started; check --config or --out")
    if args.out is not None and not args.out.is_dir():
        runs = sorted(
            path.name for path in args.out.resolve().parent.iterdir() if path.is_dir() and path.name != "state"
        )
        raise UsageError(f"--out {args.out}: no such run folder; there are: {', '.join(runs) or 'none'}")
    ledger = Ledger.open(url, run=run, settings=LedgerSettings.from_config(config))
    try:
        if args.reason is not None:
            ledger.stop("operator", args.reason)
        elif args.clear:
            ledger.clear_stop()
        print(status(ledger, run))
    finally:
        ledger.close()


def status(ledger: Ledger, run: str) -> str:
    """The flag and the totals, as lines of text."""
    flag, totals = ledger.stopped(), ledger.run_totals(run)
    state = "goes on"
    if flag is not None:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(flag.at))
        state = f"stopped ({flag.reason}) since {when}: {flag.detail}"
    used = (
        f"{totals.searches_billed} paid searches, {totals.cache_hits} from the cache, {totals.tokens} tokens, "
        f"{totals.usd:.2f} US dollars"
    )
    return f"{run}: {state}\n{run}: {used}"


if __name__ == "__main__":
    cli.run(main, parser())
