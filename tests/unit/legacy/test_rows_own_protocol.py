"""Rows of our own harness: actions as JSON in tags, code in tags or fences, results in user messages with a prefix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from legacy_cases import BLUE, RED, Case, check, said, tool, user
from legacy_helpers import data_uri


def row(*texts: str, images: Any = None, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": t} for n, t in enumerate(texts)], "images": images, **more}


DONE = "<think>u</think><answer>1</answer>"
END = said("u", "<answer>1</answer>")
CASES = [
    Case(
        "search and its result",
        row("q", '<think>t</think><tool_call>{"action": "search", "query": "a < b"}</tool_call>',
            "Search result:\n1. A\n2. B", DONE),
        [user("q"), said("t", "", ("search", {"query": "a < b"})), tool("1. A\n2. B"), END], [], "1",
    ),
    Case(
        "the closing tag is missing, as in 28 of 100 last turns of the smoke test",
        row("q", '<think>t</think>\n<tool_call>{"action":"search","query":"x"}', "Search result:\nnone", DONE),
        [user("q"), said("t", "", ("search", {"query": "x"})), tool("none"), END], [], "1",
    ),
    Case(
        "action code with the fence inside the tags",
        row("q", '<think>t</think><tool_call>{"action": "code"}\n```python\nprint(1)\n```\n</tool_call>',
            "Code output:\n1", DONE),
        [user("q"), said("t", "", "print(1)"), tool("1"), END], [], "1",
    ),
    Case(
        "action code with the fence after the tags",
        row("q", '<think>t</think><tool_call>{"action": "code"}</tool_call>\n```python\nprint(1)\n```',
            "Code output:\n1", DONE),
        [user("q"), said("t", "", "print(1)"), tool("1"), END], [], "1",
    ),
    Case(
        "action code with the source in the JSON",
        row("q", '<think>t</think><tool_call>{"action": "code", "code": "print(\\"</b>\\")"}</tool_call>',
            "Code output:\n</b>", DONE),
        [user("q"), said("t", "", 'print("</b>")'), tool("</b>"), END], [], "1",
    ),
    Case(
        "code, then search, then the answer; pictures by data URI; IMAGE_PATH runs as it is",
        row("<image>q", "<think>a</think><code>```python\nprint(IMAGE_PATH)\n```</code>",
            "Execution result:\ninput_image.jpg",
            '<think>b</think><tool_call>{"action":"search","query":"x"}</tool_call>', "Search results:\nX", DONE,
            images=[data_uri(RED)]),
        [user("<image>q"), said("a", "", "print(IMAGE_PATH)"), tool("input_image.jpg"),
         said("b", "", ("search", {"query": "x"})), tool("X"), END], [RED], "1",
    ),
    Case(
        "open",
        row("q", '<tool_call>{"action":"open","url":"https://e.org/a?b=1"}</tool_call>', "page", DONE),
        [user("q"), said("", "", ("open", {"url": "https://e.org/a?b=1"})), tool("page"), END], [], "1",
    ),
    Case(
        "the pictures of a result, tag with line breaks after it",
        row("<image>\nq", "<think>t</think><code>show()</code>", "Output:\n<image>\n\nshown", DONE,
            images=[data_uri(RED), data_uri(BLUE)]),
        [user("<image>q"), said("t", "", "show()"), tool("<image>shown"), END], [RED, BLUE], "1",
    ),
    Case(
        "an empty result",
        row("q", "<think>t</think><code>x = 1</code>", "", DONE),
        [user("q"), said("t", "", "x = 1"), tool(""), END], [], "1",
    ),
    Case(
        "a long Chinese row, full-width marks, an emoji, CRLF",
        row("图里有几只猫？\r\nA．一只　B．两只", "<think>先数一数。\r\n再确认。</think>共两只🐈。<answer>B</answer>"),
        [user("图里有几只猫？\r\nA．一只　B．两只"), said("先数一数。\r\n再确认。", "共两只🐈。<answer>B</answer>")],
        [], "B",
    ),
    Case(
        "an empty message of the model between result and answer",
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "<code>x</code>"},
                      {"role": "tool", "content": "1"}, {"role": "assistant", "content": " "},
                      {"role": "assistant", "content": DONE}]},
        [user("q"), said("", "", "x"), tool("1"), END], [], "1",
    ),
    Case("half a JSON call", row("q", '<tool_call>{"action":"search","que', "x", DONE), dropped="bad_call_json"),
    Case("an action that does not exist", row("q", '<tool_call>{"action":"browse","query":"x"}</tool_call>', "x", DONE),
         dropped="unsupported_tool"),
    Case("ends in a search", row("q", '<tool_call>{"action":"search","query":"x"}</tool_call>'),
         dropped="code_without_result"),
    Case("prompt marks in the model's own text", row("q", "<think>t</think><|im_start|>x<answer>1</answer>"),
         dropped="markup_in_text"),
    Case("a literal picture tag in the thinking", row("q", "<think><image></think><answer>1</answer>"),
         dropped="markup_in_text"),
    Case("only a question", row("q"), dropped="no_reply"),
    Case("nothing", {"messages": []}, dropped="unknown_shape"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_own_protocol(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path, tools=("python", "search", "open"))
