"""What a model thought is never shown as what it said, however its tags stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_cases import Case, check, said, tool, user

A = "<answer>5</answer>"


@pytest.mark.parametrize(
    ("text", "thinking", "visible"),
    [
        ("I see five.</think>\n<answer>5</answer>", "I see five.", A),
        ("I see five.\n</think>So: <answer>5</answer>", "I see five.", f"So: {A}"),
        ("It is <answer>4</answer> or</think><answer>5</answer>", "It is <answer>4</answer> or", A),
        ("<answer>5</answer></think>", "", A),
        ("<think>a</think><think>b</think><answer>5</answer>", "a\n\nb", A),
        ("<think>a</think>\n\n<think>\nb\n</think>\n<answer>5</answer>", "a\n\nb", A),
        ("<think>a<think>b</think>c</think><answer>5</answer>", "a\n\nb\n\nc", A),
        ("<think>a<think>b</think><answer>5</answer>", "a\n\nb", A),
        ("<think>a<think>b</think>c<answer>5</answer></think>", "a\n\nb", f"c{A}"),
        ("<think>a</think>b</think><answer>5</answer>", "a\n\nb", A),
        ("<think>a</think>b <answer>5</answer></think>", "a", f"b {A}"),
        ("<think>a</think>b <answer>5</answer>", "a", f"b {A}"),
        ("<think></think><answer>5</answer>", "", A),
    ],
)
def test_thoughts_and_words(text: str, thinking: str, visible: str, tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": text}]}
    check(Case(text, row, [user("q"), said(thinking, visible)], answer="5"), tmp_path)


def test_a_thought_without_its_opening_tag_before_a_call(tmp_path: Path) -> None:
    row = {
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "I count.</think>\n<code>print('</think>')</code>"},
            {"role": "user", "content": "<tool_response>5</tool_response>"},
            {"role": "assistant", "content": f"Five.</think>{A}"},
        ]
    }
    check(Case("tag in the code", row, dropped="markup_in_text"), tmp_path)
    row["messages"][1]["content"] = "I count.</think>\n<code>print(5)</code>"
    after = [user("q"), said("I count.", "", "print(5)"), tool("5"), said("Five.", A)]
    check(Case("before a call", row, after, answer="5"), tmp_path)


@pytest.mark.parametrize(
    ("role", "result", "kept"),
    [
        ("tool", "before <output>5</output> after", "before <output>5</output> after"),
        ("user", "Code output: before <output>5</output> after", "before <output>5</output> after"),
        ("tool", "a <code>x</code> b <interpreter>q", "a <code>x</code> b <interpreter>q"),
        ("user", "<tool_response>\nOutput: a </tool_response> b\n</tool_response>", "Output: a < /tool_response> b"),
        ("user", "<tool_response>\nOutput: <output>5</output>\n</tool_response>", "Output: <output>5</output>"),
        ("user", "\n<output>5</output>\n", "5"),
        ("user", "<output>5", "5"),
        ("user", "<output>5</output>\n<output>6</output>", "5\n6"),
    ],
)
def test_what_was_printed_is_kept_whole(role: str, result: str, kept: str, tmp_path: Path) -> None:
    row = {
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "<think>a</think><code>x()</code>"},
            {"role": role, "content": result},
            {"role": "assistant", "content": f"<think>b</think>{A}"},
        ]
    }
    check(Case(result, row, [user("q"), said("a", "", "x()"), tool(kept), said("b", A)], answer="5"), tmp_path)
