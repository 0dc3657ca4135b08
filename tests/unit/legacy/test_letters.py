from __future__ import annotations

import pytest

from tir_distill.legacy.letters import letter_of, options_in


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("A", "A"), ("b", "B"), ("C.", "C"), ("(D)", "D"), ("（B）", "B"), ("A、", "A"), (" E ", "E"),
        ("I", None), ("AB", None), ("A cat", None), ("", None), ("4", None), ("Ａ", None),
    ],
)  # fmt: skip
def test_only_a_letter_is_a_letter(answer: str, letter: str | None) -> None:
    assert letter_of(answer) == letter


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Which?\nA. red\nB. blue\nC. green", {"A": "red", "B": "blue", "C": "green"}),
        ("Which? (A) red (B) blue", {"A": "red", "B": "blue"}),
        ("Which? A) red; B) blue", {"A": "red", "B": "blue"}),
        ("A: one\nB: two\nAnswer with the letter.", {"A": "one", "B": "two"}),
        ("选哪个？A、红 B、蓝", {"A": "红", "B": "蓝"}),
        ("选项：A．猫；B．狗", {"A": "猫", "B": "狗"}),
        ("【A】上 【B】下", {"A": "上", "B": "下"}),
        ("Vitamin C. It is?", {}),
        ("A. only one", {}),
        ("B. starts late C. at B", {}),
        ("no options here", {}),
    ],
)
def test_options_in_every_dress(question: str, options: dict[str, str]) -> None:
    assert options_in(question) == options
