from __future__ import annotations

import pytest

from tir_distill.legacy.protocol import Piece, pieces, unfenced


def cut(text: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in pieces(text)[0]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<code>\n```python\nprint(1)\n```\n</code>", [("code", "print(1)")]),
        ("<code>print(1)</code>", [("code", "print(1)")]),
        ("<code>\nprint(1)", [("code", "print(1)")]),
        ("<code>```python\nprint(1)\n```", [("code", "print(1)")]),
        ("<code>\n```\nx = 1\n\ny = 2\n```</code>", [("code", "x = 1\n\ny = 2")]),
        (
            "a <code>x</code> b <code>y</code> c",
            [("text", "a "), ("code", "x"), ("text", " b "), ("code", "y"), ("text", " c")],
        ),
        (
            "<code>x</code><interpreter>\nText Result:\n5\n</interpreter>so",
            [("code", "x"), ("result", "Text Result:\n5"), ("text", "so")],
        ),
        ("<code>x<sandbox_output>5</sandbox_output>", [("code", "x"), ("result", "5")]),
        ("<output>5", [("result", "5")]),
        ("<think>hm</think>yes", [("think", "hm"), ("text", "yes")]),
        ("<think>a<code>x</code>b</think>c", [("think", "a"), ("code", "x"), ("think", "b"), ("text", "c")]),
        (
            '<tool_call>{"action":"search","query":"a}b"}</tool_call>',
            [("call", '{"action":"search","query":"a}b"}')],
        ),
        ('<tool_call>{"action":"search","query":"q"}', [("call", '{"action":"search","query":"q"}')]),
        ('<tool_call>{"action":"code"}\n```python\nprint(2)\n```\n</tool_call>', [("code", "print(2)")]),
        ('<tool_call>{"action":"code"}</tool_call>\n```python\nprint(2)\n```', [("code", "print(2)")]),
        ("```python\nprint(1)\n```", [("text", "```python\nprint(1)\n```")]),
        ("if a < b: <b>", [("text", "if a < b: <b>")]),
        ("", []),
    ],
)
def test_each_way_of_writing(text: str, found: list[tuple[str, str]]) -> None:
    assert cut(text) == found


def test_thinking_may_stay_open_and_go_on() -> None:
    first, still_open = pieces("<think>a<code>x</code>")
    assert still_open
    assert first == [Piece("think", "a"), Piece("code", "x")]
    second, still_open = pieces("b</think>c", thinking=True)
    assert not still_open
    assert second == [Piece("think", "b"), Piece("text", "c")]


def test_inner_fences_of_code_are_kept() -> None:
    assert unfenced("```python\ns = '''\n```inner```\n'''\n```") == "s = '''\n```inner```\n'''"
