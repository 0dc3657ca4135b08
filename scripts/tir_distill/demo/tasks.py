"""The right answers of drawn charts and tables, from the numbers that were drawn. Used by the drawing alone."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .inventory import Ask, dice
from .plots import COLOURS

STEPS = (5, 10, 20, 40)
Bars = list[tuple[str, int]]
Cells = list[list[int]]


def solve_chart(task: Mapping[str, Any], bars: Sequence[tuple[str, int]]) -> str:
    """The answer as ChartQA writes it; raises ValueError when these bars have no plain answer."""
    values = dict(bars)
    ranked = sorted(values, key=lambda name: values[name])
    chosen = [values[name] for name in task.get("of", values)]
    match task["op"]:
        case "difference":
            return str(_positive(chosen[0] - chosen[1]))
        case "total":
            return str(sum(chosen))
        case "highest":
            return ranked[-1]
        case "lowest":
            return ranked[0]
        case "value":
            return str(chosen[0])
        case "second":
            return str(values[ranked[-2]])
        case "mean":
            return str(_whole(Fraction(sum(chosen), len(chosen))))
        case "range":
            return str(values[ranked[-1]] - values[ranked[0]])
        case "pair":
            return f"[{chosen[0]}, {chosen[1]}]"
        case "excess":
            return str(_positive(chosen[0] + chosen[1] - chosen[2]))
    raise KeyError(task["op"])


def solve_table(task: Mapping[str, Any], cells: Sequence[Sequence[int]]) -> str:
    """The answer as TabMWP writes it; raises ValueError when these cells have no plain answer."""
    column = [row[task.get("column", 0)] for row in cells]
    rows = task.get("rows", range(len(cells)))
    match task["op"]:
        case "total":
            total = sum(column[index] for index in rows)
            return f"{total:,}" if task.get("commas") else str(total)
        case "difference":
            return str(_positive(column[rows[0]] - column[rows[1]]))
        case "product":
            return str(cells[task["row"]][0] * cells[task["row"]][1])
        case "growth":
            return str(_positive(cells[task["row"]][1] - cells[task["row"]][0]))
        case "range":
            return str(_positive(max(column) - min(column)))
        case "mean":
            return str(_whole(Fraction(sum(column), len(column))))
        case "fraction":
            share = Fraction(column[task["row"]], sum(column))
            return f"{share.numerator}/{share.denominator}"
    raise KeyError(task["op"])


def make_chart(ask: Ask, seed: int) -> tuple[int, Bars, str]:
    """Grid step, bars and answer of a chart question: the first draw whose answer is plain."""
    rng = random.Random(dice("chart", ask.key, seed))
    while True:
        step = rng.choice(STEPS)
        colours = rng.sample(list(COLOURS), rng.randint(4, 6))
        for name in ask.task.get("of", ()):
            if name not in colours:
                colours.append(name)
        values = rng.sample(range(max(2, step // 2), step * 7), len(colours))
        bars = list(zip(colours, values, strict=True))
        try:
            return step, bars, solve_chart(ask.task, bars)
        except ValueError:
            continue


def make_table(ask: Ask, seed: int) -> tuple[Cells, str]:
    """Cells and answer of a table question: the first draw whose answer is plain."""
    rng = random.Random(dice("table", ask.key, seed))
    low, high = (1800, 2700) if ask.task.get("commas") else (11, 96)
    while True:
        flat = rng.sample(range(low, high), len(ask.rows) * len(ask.columns))
        width = len(ask.columns)
        cells = [flat[index : index + width] for index in range(0, len(flat), width)]
        try:
            return cells, solve_table(ask.task, cells)
        except ValueError:
            continue


def _positive(value: int) -> int:
    if value <= 9:
        raise ValueError("too small to be a good question")
    return value


def _whole(value: Fraction) -> int:
    if value.denominator != 1:
        raise ValueError("not a whole number")
    return int(value)
