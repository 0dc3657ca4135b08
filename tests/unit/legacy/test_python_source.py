"""Cells are Python, or the model was told that they are not, or the row goes."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from legacy_cases import Case, check, said, tool, user
from tir_distill.legacy.python_source import error_in, sound
from tir_distill.records import BadRow

A = "<answer>5</answer>"


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("print(1)", "print(1)"),
        ("", ""),
        ("  print(1)\n  print(2)", "print(1)\nprint(2)"),
        ("\ufeffprint(1)", "print(1)"),
        ("s = '''\n```\nx\n```\n'''", "s = '''\n```\nx\n```\n'''"),
        ("print(1)\n```\n\n```python\nprint(2)", "print(1)\n\nprint(2)"),
        ("print(1)\n```\n```python\nprint(2)", "print(1)\n\nprint(2)"),
        ("print(1)\n```\nThen the rest:\n```python\nprint(2)", "print(1)\n\nprint(2)"),
        ("# crop\n```python\nprint(1)\n```", "# crop\nprint(1)"),
        ("import os\n```python\nprint(os)\n```", "import os\nprint(os)"),
        ("Crop it now:\n```python\nprint(1)\n```\nand look", "print(1)"),
        ("~~~python\nprint(1)\n~~~", "print(1)"),
        ("  ```python\n  if x:\n      print(1)\n  ```", "if x:\n    print(1)"),
        ("%matplotlib inline\nprint(1)", "%matplotlib inline\nprint(1)"),
        ("!pip install x\nprint(1)", "!pip install x\nprint(1)"),
        ("files = !ls\nprint(files)", "files = !ls\nprint(files)"),
        ("%%time\nprint(1)", "%%time\nprint(1)"),
        ("%%bash\nls | wc -l", "%%bash\nls | wc -l"),
        ("im.size?", "im.size?"),
    ],
)
def test_what_can_be_read(code: str, after: str) -> None:
    assert sound(code, "5", "r") == after


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print 1", "code_does_not_parse"),
        ("if x:\nprint(1)", "code_does_not_parse"),
        ("print('", "code_does_not_parse"),
        ("%time\nprint 1", "code_does_not_parse"),
        ("I will crop the picture.", "code_does_not_parse"),
        ("block then.</think>\n<code>\n```python\nprint(1)", "code_does_not_parse"),
        ("print('\x00')", "nul_in_code"),
        ("(" * 5000, "code_does_not_parse"),
    ],
)
def test_what_cannot_be_read(code: str, reason: str) -> None:
    with pytest.raises(BadRow) as caught:
        sound(code, "5", "r")
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "result",
    [
        "--- Execution Error (SyntaxError) ---\nMissing parentheses in call to 'print'",
        "IndentationError: unexpected indent",
        '  File "<stdin>", line 1\nTabError: inconsistent use of tabs',
        "Error: Missing parentheses in call to 'print'. Did you mean print(...)? (cell, line 1)",
    ],
)
def test_wrong_code_that_was_said_to_be_wrong_stays(result: str) -> None:
    assert sound("print 1", result, "r") == "print 1"


@given(st.lists(st.sampled_from(["x = 1", "if x:", "    y = 2", "print(", ")", "'''", "@", "lambda: 0", "await f()"]),
                max_size=5))  # fmt: skip
@settings(max_examples=200)
def test_the_cheap_check_says_what_ast_says(lines: list[str]) -> None:
    code = "\n".join(lines)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError:
        assert error_in(code) is not None
    else:
        assert error_in(code) is None


def ran(code: str, result: str = "ok") -> dict[str, object]:
    return {
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": f"<think>a</think>{code}"},
            {"role": "tool", "content": result},
            {"role": "assistant", "content": f"<think>b</think>{A}"},
        ]
    }


def kept(code: str, result: str = "ok") -> list[object]:
    return [user("q"), said("a", "", code), tool(result), said("b", A)]


CASES = [
    Case("two fences", ran("<code>\n```python\nprint(1)\n```\n\n```python\nprint(2)\n```\n</code>"),
         kept("print(1)\n\nprint(2)"), answer="5"),
    Case("a comment before the fence", ran("<code>\n# crop\n```python\nprint(1)\n```\n</code>"),
         kept("# crop\nprint(1)"), answer="5"),
    Case("tildes", ran("<code>\n~~~python\nprint(1)\n~~~\n</code>"), kept("print(1)"), answer="5"),
    Case("tildes around the closing tag", ran("<code>\n~~~\nprint('</code>')\n~~~\n</code>"),
         kept("print('</code>')"), answer="5"),
    Case("an indented fence", ran("<code>\n  ```python\n  for n in x:\n      print(n)\n  ```\n</code>"),
         kept("for n in x:\n    print(n)"), answer="5"),
    Case("a fence inside a call", ran('<tool_call>{"name":"python","arguments":{"code":"```python\\nx()\\n```"}}'
                                      "</tool_call>"), kept("x()"), answer="5"),
    Case("wrong code", ran("<code>print 1</code>"), dropped="code_does_not_parse"),
    Case("wrong code that was said to be wrong", ran("<code>print 1</code>", "SyntaxError: Missing parentheses"),
         kept("print 1", "SyntaxError: Missing parentheses"), answer="5"),
    Case("indented, and the model was told so", ran("<code>  print(1)</code>", "IndentationError: unexpected indent"),
         kept("  print(1)", "IndentationError: unexpected indent"), answer="5"),
    Case("indented, with the preloaded picture", ran("<code>  print(input_image)\n  x = 1</code>"),
         kept("print(image_1)\nx = 1"), answer="5"),
    Case("NUL in code", ran("<code>print('\x00')</code>"), dropped="nul_in_code"),
    Case("NUL in thought, text and result",
         {"messages": [{"role": "user", "content": "q\x00"},
                       {"role": "assistant", "content": "<think>lo\x00ok</think>f\x00ive <answer>5\x00</answer>"}]},
         [user("q\ufffd"), said("look", "five <answer>5</answer>")], answer="5"),
    Case("the tag named in a thought", ran("<think>A <code> block then.</think>\n<code>\n```python\nx\n```\n</code>"),
         dropped="code_does_not_parse"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_rows(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
