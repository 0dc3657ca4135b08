from __future__ import annotations

import pytest

from tir_distill.legacy.chosen import option_text
from tir_distill.legacy.letters import doubtful_option, letter_of, options_in
from tir_distill.records import BadRow


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
        # what follows the last option on its line is an instruction
        ("Options: A. red B. blue Please answer directly with only the letter of the correct option.",
         {"A": "red", "B": "blue"}),
        ("A. red, B. blue, C. green. Answer with letter", {"A": "red", "B": "blue", "C": "green"}),
        ("A. red\nB. blue\nC. green. Answer with the letter.", {"A": "red", "B": "blue", "C": "green"}),
        ("(A) red (B) blue (C) green (choose one option)", {"A": "red", "B": "blue", "C": "green"}),
        ("A) red B) dark blue. Select the correct choice.", {"A": "red", "B": "dark blue"}),
        ("A) red B) blue; pick one letter", {"A": "red", "B": "blue"}),
        ("A) red B) blue Respond with the option's letter only.", {"A": "red", "B": "blue"}),
        ("A) It is red. B) It is blue. Please choose.", {"A": "It is red.", "B": "It is blue."}),
        ("A. U.S. B. U.K. Answer with the letter.", {"A": "U.S.", "B": "U.K."}),
        ("哪个？A.红 B.蓝 请直接回答选项字母", {"A": "红", "B": "蓝"}),
        ("哪个？A.红 B.蓝。请选择正确答案", {"A": "红", "B": "蓝"}),
        ("哪个？A.红 B.蓝，只需回答字母", {"A": "红", "B": "蓝"}),
        ("选项：A.红；B.蓝；C.绿。", {"A": "红", "B": "蓝", "C": "绿"}),
        ("Which? A) red, B) blue, C) green?", {"A": "red", "B": "blue", "C": "green"}),
        ("['A. red', 'B. blue'] Answer with the letter.", {"A": "red", "B": "blue"}),
        # and these are options
        ("A. Please wait\nB. Answer the phone", {"A": "Please wait", "B": "Answer the phone"}),
        ("A. I only B. II only", {"A": "I only", "B": "II only"}),
        ("A. 一只猫 B. 两只狗", {"A": "一只猫", "B": "两只狗"}),
        ("A. he is pleased B. he chose it", {"A": "he is pleased", "B": "he chose it"}),
    ],
)  # fmt: skip
def test_options_in_every_dress(question: str, options: dict[str, str]) -> None:
    assert options_in(question) == options


@pytest.mark.parametrize(
    ("question", "letter"),
    [
        ("A. red B. blue to choose among them", "B"),
        ("Point A is at (A) 3 and B at (B) 4. Which is larger?", "B"),
        ("A. red B. blue 请看图", "B"),
        ("A. red B. blue Please wait", "B"),
        ("A. red\nB. blue to choose among them", None),
        ("A. to choose B. to select", None),
        ("A. red B. blue", None),
        ("A. red B. blue Please answer with the letter.", None),
        ("no options", None),
    ],
)
def test_where_an_option_ends_is_not_guessed(question: str, letter: str | None) -> None:
    assert doubtful_option(question) == letter


TWO = "Which?\nA. red\nB. Dark blue."
THREE = "Which?\nA. red\nB. blue\nC. green"


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        (TWO, "B", "Dark blue."),
        (TWO, "B. dark blue", "Dark blue."),
        (TWO, "B) Dark  blue", "Dark blue."),
        (TWO, "(B) dark blue", "Dark blue."),
        (TWO, "Option B: dark blue", "Dark blue."),
        (TWO, "B: dark blue.", "Dark blue."),
        (TWO, "B (dark blue)", "Dark blue."),
        (TWO, "**B. dark blue**", "Dark blue."),
        (TWO, r"\text{B. dark blue}", "Dark blue."),
        (TWO, "The answer is B: dark blue", "Dark blue."),
        (TWO, "b) dark blue", "Dark blue."),
        ("哪个？\nA、红\nB、蓝", "选项B、蓝", "蓝"),
        # no letters, but words that begin like them
        (TWO, "dark blue", None),
        (TWO, "A dark red", None),
        (TWO, "a red", "red"),
        ("Which group?\nA. AB\nB. O", "AB", None),
        ("Who?\nA. A. Lincoln\nB. G. Bush", "A. Lincoln", None),
        ("Who was it?", "A. Lincoln", None),
        ("Which vertices?", "A, B", None),
        ("Which?\nA. 3\nB. 4", "A: 3 and B: 4", "letter_with_other_text"),
        (TWO, "B. red", "letter_with_other_text"),
        (TWO, "C", "letter_without_options"),
        ("Which?\nA. B\nB. C", "A", "option_is_letter"),
        ("Which?\nA. B\nB. C", "A. B", "option_is_letter"),
        (THREE, "A, B", "several_letters"),
        (THREE, "AC", "several_letters"),
        (THREE, "A and C", "several_letters"),
        (THREE, "(A)(C)", "several_letters"),
        (THREE, "选项A、B", "several_letters"),
        (THREE, "A, D", None),
        ("Which? A. red B. blue to choose among them", "B", "option_end_unclear"),
        ("Which? A. red B. blue to choose among them", "A", "red"),
    ],
)
def test_the_option_that_an_answer_names(question: str, answer: str, text: str | None) -> None:
    if text is None or "_" not in text:
        assert option_text(answer, question, "r") == text
        return
    with pytest.raises(BadRow) as caught:
        option_text(answer, question, "r")
    assert caught.value.reason == text
