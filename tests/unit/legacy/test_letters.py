from __future__ import annotations

import pytest

from tir_distill.legacy.letters import letter_of, options_in


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("A", "A"), ("b", "B"), ("C.", "C"), ("(D)", "D"), ("（B）", "B"), ("A、", "A"), (" E ", "E"),
        ("Ａ", "A"), ("选项D", "D"), ("答案是C", "C"), ("The answer is B.", "B"), ("**C**", "C"), ("$B$", "B"),
        (r"\text{(A)}", "A"), ("【B】", "B"), ("Answer: E", "E"), ("x", "X"), ("I", "I"),
        ("AB", None), ("A cat", None), ("", None), ("4", None), ("A+", None), ("Type A", None), ("甲", None),
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
        ("Choose: a) cat b) dog", {"A": "cat", "B": "dog"}),
        ("选择:(A)猫(B)狗(C)鱼", {"A": "猫", "B": "狗", "C": "鱼"}),
        ("选：Ａ．红 Ｂ．蓝", {"A": "红", "B": "蓝"}),
        ("A. A\nB. B\nC. AB\nD. O", {"A": "A", "B": "B", "C": "AB", "D": "O"}),
        ("Options:\n- A. red\n- B. blue", {"A": "red", "B": "blue"}),
        ("of ['A. red', 'B. it is']", {"A": "red", "B": "it is"}),
        ('["A. x", "B. it\'s"]', {"A": "x", "B": "it's"}),
        ("A. U.S. B. U.K.", {"A": "U.S.", "B": "U.K."}),
        ("Who was A. Lincoln?\nA. president\nB. actor", {"A": "president", "B": "actor"}),
        ("A. red\nB. Vitamin C. complex\nC. green", {"A": "red", "B": "Vitamin C. complex", "C": "green"}),
        ("A. 1\nB. 2 C. 3", {"A": "1", "B": "2", "C": "3"}),
        ("Is P(A) above P(B)?", {}),
        ("维生素A、维生素B、维生素C有什么？", {}),
        ("A. \nB. x", {}),
        ("A red\nB blue", {}),
    ],
)
def test_options_in_every_dress(question: str, options: dict[str, str]) -> None:
    assert options_in(question) == options
