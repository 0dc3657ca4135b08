"""The teacher's python cells read drawn charts and tables, and the drawing's answers are right."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

from tir_distill.demo import cells
from tir_distill.demo.inventory import load_questions
from tir_distill.demo.plots import COLOURS, draw_chart, draw_table
from tir_distill.demo.tasks import make_chart, make_table, solve_chart, solve_table

BARS = [("red", 40), ("blue", 10), ("green", 25), ("teal", 5)]
GRID = [[12, 30], [7, 45], [21, 15]]


def printed(code: str, picture: Any, folder: Path) -> str:
    path = folder / "picture.png"
    picture.save(path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {"IMAGE_PATH": str(path)})
    return out.getvalue()


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ({"op": "difference", "of": ["red", "blue"]}, "30"),
        ({"op": "total"}, "80"),
        ({"op": "total", "of": ["red", "teal"]}, "45"),
        ({"op": "highest"}, "red"),
        ({"op": "lowest"}, "teal"),
        ({"op": "value", "of": ["green"]}, "25"),
        ({"op": "second"}, "25"),
        ({"op": "mean"}, "20"),
        ({"op": "range"}, "35"),
        ({"op": "pair", "of": ["red", "green"]}, "[40, 25]"),
        ({"op": "excess", "of": ["red", "blue", "green"]}, "25"),
    ],
)
def test_charts(task: dict[str, Any], answer: str, tmp_path: Path) -> None:
    assert solve_chart(task, BARS) == answer
    code = cells.read_chart() + cells.compute_chart(task)
    assert printed(code, draw_chart("x", BARS, 10), tmp_path) == f"result: {answer.strip('[]')}\n"


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ({"op": "total", "column": 1}, "90"),
        ({"op": "total", "column": 0, "rows": [0, 2]}, "33"),
        ({"op": "difference", "column": 1, "rows": [1, 2]}, "30"),
        ({"op": "product", "row": 1}, "315"),
        ({"op": "growth", "row": 0}, "18"),
        ({"op": "range", "column": 0}, "14"),
        ({"op": "mean", "column": 1}, "30"),
        ({"op": "fraction", "column": 1, "row": 2}, "1/6"),
    ],
)
def test_tables(task: dict[str, Any], answer: str, tmp_path: Path) -> None:
    assert solve_table(task, GRID) == answer
    code = cells.read_table() + cells.compute_table(task)
    picture = draw_table("x", ["a", "b", "c"], ["one", "two"], GRID)
    assert printed(code, picture, tmp_path) == f"result: {answer}\n"


def test_thousands_are_written_with_a_comma(tmp_path: Path) -> None:
    task = {"op": "total", "column": 0, "commas": True}
    rows = [[2300], [1999], [2531]]
    assert solve_table(task, rows) == "6,830"
    code = cells.read_table() + cells.compute_table(task)
    assert printed(code, draw_table("x", ["a", "b", "c"], ["n"], rows), tmp_path) == "result: 6,830\n"


@pytest.mark.parametrize("seed", range(3))
def test_cells_give_the_drawn_answer_for_every_question_and_seed(seed: int, tmp_path: Path) -> None:
    for ask in load_questions():
        if ask.group == "charts":
            step, bars, answer = make_chart(ask, seed)
            code, picture = cells.read_chart() + cells.compute_chart(ask.task), draw_chart("x", bars, step)
        elif ask.group == "tables":
            rows, answer = make_table(ask, seed)
            code = cells.read_table() + cells.compute_table(ask.task)
            picture = draw_table("x", ask.rows, ask.columns, rows)
        else:
            continue
        assert printed(code, picture, tmp_path) == f"result: {answer.strip('[]')}\n", ask.key


def test_bar_colours_are_told_apart_from_all_else_that_is_drawn() -> None:
    used = {(255, 255, 255), (221, 221, 221), (20, 20, 60), (0, 0, 0)}
    assert not used & set(COLOURS.values())
    assert len(set(COLOURS.values())) == len(COLOURS)
