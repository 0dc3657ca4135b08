from __future__ import annotations

import pytest

from tir_distill.evaluation.gate import Behaviour, decide
from tir_distill.evaluation.intervals import mcnemar, wilson


def students(searching: int, drawing: int, total: int = 165) -> list[Behaviour]:
    return [
        Behaviour(
            f"g{number:03d}", has_picture=False, self_search=number < searching, image_code=number >= total - drawing
        )
        for number in range(total)
    ]


@pytest.mark.parametrize(
    ("searching", "drawing", "passed"),
    [(30, 0, (False, True)), (31, 2, (True, True)), (31, 3, (True, False)), (0, 165, (False, False))],
)
def test_both_thresholds_on_both_sides(searching: int, drawing: int, passed: tuple[bool, bool]) -> None:
    figures = decide(students(searching, drawing))
    assert tuple(figure.passed for figure in figures) == passed
    assert [figure.count for figure in figures] == [searching, drawing]


def test_a_failing_figure_names_ten_questions() -> None:
    search, code = decide(students(30, 3))
    assert list(search.examples) == [f"g{number:03d}" for number in range(30, 40)]
    assert list(code.examples) == ["g162", "g163", "g164"]


def test_picture_code_on_a_picture_is_no_fault() -> None:
    row = Behaviour("g1", has_picture=True, self_search=True, image_code=True)
    assert decide([row])[1].count == 0


def test_a_question_of_which_nothing_is_known_speaks_against_both_figures() -> None:
    rows = [*students(31, 1, total=163), Behaviour.unknown("x1"), Behaviour.unknown("x2")]
    search, code = decide(rows)
    assert (search.count, search.passed, code.count, code.passed) == (31, True, 3, False)
    assert (list(code.examples), code.without_sample) == (["g162", "x1", "x2"], 2)


def test_wilson_by_hand() -> None:
    # p = 0.5, n = 10: centre 0.5, half width 1.96 * sqrt(0.025 + 0.9604 / 100) / 1.38415 = 0.26341
    share = wilson(5, 10)
    assert (round(share.low, 4), round(share.high, 4)) == (0.2366, 0.7634)
    assert wilson(0, 0).high == 1.0
    assert wilson(0, 20).low == 0.0
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


@pytest.mark.parametrize(("first", "second", "p"), [(0, 0, 1.0), (1, 1, 1.0), (0, 5, 0.0625), (1, 9, 22 / 1024)])
def test_mcnemar_by_counting(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p)
    assert mcnemar(second, first) == pytest.approx(p)
