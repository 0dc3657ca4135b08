"""Which answers are only an option letter."""

from __future__ import annotations

import pytest

from tir_distill.records.letters import is_letter


@pytest.mark.parametrize(
    "answer", ["B", "b", "(B)", "B.", " c ", "Ｂ", "Option B", "选项B", "答案是C", "**A**", r"\boxed{D}"]
)
def test_letters(answer: str) -> None:
    assert is_letter(answer)


@pytest.mark.parametrize("answer", ["", "AB", "3", "Mumbai", "是", "A or B", "B Street", "Vitamin A", "I am"])
def test_no_letters(answer: str) -> None:
    assert not is_letter(answer)
