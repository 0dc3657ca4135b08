"""What other search caps and sampling plans would cost and yield.

Replays the samples that a run recorded (``--raw``), or questions drawn from a distribution fitted to the figures of the
full5k run. Prints searches, accepted rows and searches per row for the old plan, the configured one, and the cheapest
one found that gives the wanted yield. Nothing is sampled or searched.
"""

from tir_distill import cli  # isort: skip

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from tir_distill.ledger.simulation import (
    FIT_SEEDS,
    FITTED,
    FULL5K,
    OLD_PLAN,
    QUESTIONS,
    Plan,
    Question,
    Result,
    average_figures,
    cheapest,
    draw_questions,
    fit,
    read_questions,
    simulate,
    start,
)
from tir_distill.records import UsageError, write_json


def parser() -> cli.Parser:
    out = cli.Parser(description=__doc__, example="python scripts/simulate_budgets.py --config config/config.yaml")
    out.add_argument("--config", type=Path, required=True, help="configuration whose caps and plan are judged")
    out.add_argument("--raw", type=Path, nargs="+", default=[], help="trajectories_raw.jsonl of a run; default: drawn")
    out.add_argument("--questions", type=int, default=QUESTIONS, help="how many to draw (default: %(default)s)")
    out.add_argument("--seed", type=int, default=1, help="of the drawn questions (default: %(default)s)")
    out.add_argument("--forced", type=float, help="how good a forced answer is, as a share of a free one")
    out.add_argument("--wanted", type=int, help="rows the cheapest plan must give; default: as the configured plan")
    out.add_argument("--set", action="append", default=[], metavar="LIMIT=N", help="judge this plan too, e.g. k_max=6")
    out.add_argument("--check-fit", action="store_true", help="show the fit's figures beside the full5k run's")
    out.add_argument("--fit", action="store_true", help="fit the distribution again and show its values (minutes)")
    out.add_argument("--out", type=Path, help="write the results as JSON, too")
    return out


def main(args: argparse.Namespace) -> None:
    """Simulate, print a table, and write it if asked."""
    configured = Plan.from_config(cli.load_config(args.config))
    if args.fit:
        print(f"fitted to the full5k figures on the draws {FIT_SEEDS}:\n{fit(start())}")
    if args.check_fit:
        print_fit()
    questions = load(args)
    plans = {"old plan": OLD_PLAN, "configured": configured}
    if args.set:
        plans["changed"] = changed(configured, args.set)
    results = {name: simulate(questions, plan) for name, plan in plans.items()}
    wanted = args.wanted if args.wanted is not None else results["configured"].accepted
    found = cheapest(questions, wanted, configured)
    if found is not None:
        plans["cheapest"], results["cheapest"] = found.plan, found.result
    print(table(results))
    print(f"cheapest with at least {wanted} rows: " + (differences(configured, found.plan) if found else "none found"))
    if args.out:
        write_json(args.out, {name: {"plan": asdict(plans[name]), **asdict(results[name])} for name in results})


def load(args: argparse.Namespace) -> list[Question]:
    """Recorded or drawn questions."""
    if args.raw:
        for path in args.raw:
            if not path.is_file():
                raise UsageError(f"--raw: {path}: no such file")
        return read_questions(args.raw, forced=0.5 if args.forced is None else args.forced)
    distribution = FITTED if args.forced is None else replace(FITTED, forced=args.forced)
    return draw_questions(distribution, args.questions, args.seed)


def changed(plan: Plan, settings: list[str]) -> Plan:
    """The plan with some limits set by hand. Raises UsageError for an unknown name or no number."""
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in asdict(plan) or not value.isdigit():
            raise UsageError(f"--set {setting}: expected LIMIT=N with one of {', '.join(asdict(plan))}")
        plan = replace(plan, **{name: int(value)})
    return plan


def differences(base: Plan, plan: Plan) -> str:
    """Only the limits that differ."""
    before, after = asdict(base), asdict(plan)
    parts = [f"{name} {before[name]} -> {after[name]}" for name in before if before[name] != after[name]]
    return ", ".join(parts) or "the configured plan"


def table(results: dict[str, Result]) -> str:
    """One line per plan, with shares of the first."""
    first = next(iter(results.values()))
    lines = [f"{'plan':<12}{'searches':>10}{'':>8}{'accepted':>10}{'':>8}{'per row':>9}{'most':>6}"]
    for name, result in results.items():
        searches = f"{result.searches / max(first.searches, 1):.0%}"
        accepted = f"{result.accepted / max(first.accepted, 1):.0%}"
        line = f"{name:<12}{result.searches:>10}{searches:>8}{result.accepted:>10}{accepted:>8}"
        lines.append(f"{line}{result.per_row:>9.1f}{result.most:>6}")
    return "\n".join(lines)


def print_fit() -> None:
    """Figures of the fitted distribution under the old plan, over draws that were not used for fitting."""
    found = average_figures(FITTED, range(1000, 1020))
    print(f"{'figure':<24}{'full5k':>10}{'drawn':>10}{'error':>8}")
    for figure in FULL5K:
        value = found[figure.name]
        print(f"{figure.name:<24}{figure.target:>10.3f}{value:>10.3f}{value / figure.target - 1:>8.1%}")


if __name__ == "__main__":
    cli.run(main, parser())
