"""Which answers are only an option letter."""

from __future__ import annotations

import pytest

from tir_distill.records.letters import is_letter


@pytest.mark.parametrize(
    "answer", ["B", "b", "(B)", "B.", " c ", "Ｂ", "Option B", "选项B", "答案是C", "**A**", r"\boxed{D}"]
)
def test_letters(answer: str) -> None:
    assert is_letter(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "It's B",
        "It’s (b).",
        "that's C",
        "That is C",
        "I think B",
        "I'd say B",
        "I would go with B.",
        "Probably B",
        "B —",
        "— B",
        "B –",
        "就是B",
        "选B吧",
    ],
)
def test_letters_with_small_words_around(answer: str) -> None:
    assert is_letter(answer)


@pytest.mark.parametrize(
    "answer", ["A-", "A–", "C++", "It's", "It's Bo", "I think", "Plan B", "B — Mumbai", "That 70s Show", "A吧台"]
)
def test_small_words_make_no_letter(answer: str) -> None:
    assert not is_letter(answer)


@pytest.mark.parametrize("answer", ["", "AB", "3", "Mumbai", "是", "A or B", "B Street", "Vitamin A", "I am"])
def test_no_letters(answer: str) -> None:
    assert not is_letter(answer)
