"""DeepEyesV2 rows: chat turns of several tools; calls in the text, as turns of their own, or as structured calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from legacy_cases import BLUE, GREEN, RED, Case, check, said, tool, user

SEARCH = '<tool_call>{"name": "search", "arguments": {"query": "red bridge", "top_k": 3}}</tool_call>'


def row(*turns: tuple[str, Any], images: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """LLaMA-Factory style."""
    return {"conversations": [{"from": role, "value": value} for role, value in turns], "images": images, **more}


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


CASES = [
    Case(
        "search in the text, result in an observation with thumbnails",
        row(
            ("human", "<image>Which bridge?"),
            ("gpt", f"<think>Search.</think>\n{SEARCH}"),
            ("observation", "1. Old bridge <image>\n2. New bridge <image>"),
            ("gpt", "<think>The old one.</think><answer>Old bridge</answer>"),
            images=["a/red.png", "a/blue.png", "a/green.png"],
        ),
        [
            user("<image>Which bridge?"),
            said("Search.", "", ("search", {"query": "red bridge"})),
            tool("1. Old bridge <image>2. New bridge <image>"),
            said("The old one.", "<answer>Old bridge</answer>"),
        ],
        [RED, BLUE, GREEN],
        "Old bridge",
    ),
    Case(
        "a call as a turn of its own after the thought",
        row(
            ("human", "<image>Mean?"),
            ("gpt", "<think>Compute.</think>"),
            ("function_call", call("code_interpreter", code="print('<b>', 3)")),
            ("observation", "<b> 3"),
            ("gpt", "<think>t</think><answer>3</answer>"),
            images=["a/red.png"],
        ),
        [
            user("<image>Mean?"),
            said("Compute.", "", "print('<b>', 3)"),
            tool("<b> 3"),
            said("t", "<answer>3</answer>"),
        ],
        [RED],
        "3",
    ),
    Case(
        "a call as a turn of its own without a thought; arguments as text; the code holds the closing tag",
        row(
            ("human", "q"),
            ("function_call", json.dumps({"name": "python", "arguments": json.dumps({"code": "s = '</tool_call>'"})})),
            ("observation", ""),
            ("gpt", "<answer>1</answer>"),
        ),
        dropped="markup_in_text",  # well read, but the trained text would end the call there
    ),
    Case(
        "structured calls",
        {
            "messages": [
                {"role": "system", "content": "old"},
                {"role": "user", "content": "q"},
                {
                    "role": "assistant",
                    "content": "<think>t</think>",
                    "tool_calls": [
                        {"id": "x", "type": "function",
                         "function": {"name": "code_interpreter", "arguments": '{"code": "if 1 < 2: print(1)"}'}},
                        {"id": "y", "type": "function",
                         "function": {"name": "search", "arguments": {"query": "q"}}},
                    ],
                },
                {"role": "tool", "tool_call_id": "x", "content": "1"},
                {"role": "tool", "tool_call_id": "y", "content": "none"},
                {"role": "assistant", "content": "<think>u</think><answer>1</answer>"},
            ]
        },
        [
            user("q"),
            said("t", "", "if 1 < 2: print(1)", ("search", {"query": "q"})),
            tool("1"),
            tool("none"),
            said("u", "<answer>1</answer>"),
        ],
        [],
        "1",
    ),
    Case(
        "code in the text, typed tool content with a picture",
        {
            "messages": [
                {"role": "user", "content": [{"type": "image", "image": RED}, {"type": "text", "text": "q"}]},
                {"role": "assistant", "content": "<think>t</think><code>\n```python\nshow()\n```\n</code>"},
                {"role": "tool", "content": [{"type": "text", "text": "Output:\n"}, {"type": "image", "image": BLUE}]},
                {"role": "assistant", "content": "<think>u</think><answer>x</answer>"},
            ]
        },
        [user("<image>q"), said("t", "", "show()"), tool("<image>"), said("u", "<answer>x</answer>")],
        [RED, BLUE],
        "x",
    ),
    Case(
        "action form with a fence, roles of ms-swift",
        {
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "<think>t</think>"},
                {"role": "tool_call", "content": call("code_interpreter", code="print(7)")},
                {"role": "tool_response", "content": "<tool_response>7</tool_response>"},
                {"role": "assistant", "content": "<think>u</think>It is \\boxed{7}"},
            ],
            "solution": "7",
        },
        [
            user("q"),
            said("t", "", "print(7)"),
            tool("7"),
            said("u", "It is \\boxed{7}\n\n<answer>7</answer>"),
        ],
        [],
        "7",
    ),
    Case(
        "two calls side by side, two observations",
        row(
            ("human", "q"),
            ("gpt", "<think>t</think>"),
            ("function_call", call("search", query="a")),
            ("function_call", call("search", query="b")),
            ("observation", "A"),
            ("observation", "B"),
            ("gpt", "<think>u</think><answer>AB</answer>"),
        ),
        [
            user("q"),
            said("t", "", ("search", {"query": "a"}), ("search", {"query": "b"})),
            tool("A"),
            tool("B"),
            said("u", "<answer>AB</answer>"),
        ],
        [],
        "AB",
    ),
    Case(
        "one picture given alone, its tag missing, null answer beside it",
        row(("human", "q"), ("gpt", "<answer>1</answer>"), images=None, image="a/red.png", answer=None),
        [user("<image>q"), said("", "<answer>1</answer>")],
        [RED],
        "1",
    ),
    Case(
        "more tags than pictures",
        row(("human", "<image>q"), ("gpt", SEARCH), ("observation", "<image>"), ("gpt", "<answer>1</answer>"),
            images=["a/red.png"]),
        dropped="picture_count",
    ),
    Case("crop", row(("human", "q"), ("gpt", "t"), ("function_call", call("crop", bbox=[0, 0, 1, 1])),
                     ("observation", "<image>"), ("gpt", "<answer>1</answer>")), dropped="unsupported_tool"),
    Case("image search", row(("human", "q"), ("gpt", f"<tool_call>{call('image_search')}</tool_call>"),
                             ("observation", "x"), ("gpt", "<answer>1</answer>")), dropped="unsupported_tool"),
    Case("a call that is no JSON", row(("human", "q"), ("function_call", "search('x')"), ("observation", "x"),
                                       ("gpt", "<answer>1</answer>")), dropped="bad_call_json"),
    Case("a query that is a list", row(("human", "q"), ("function_call", call("search", query=["x"])),
                                       ("observation", "x"), ("gpt", "<answer>1</answer>")), dropped="bad_call_json"),
    Case("an observation without call", row(("human", "q"), ("gpt", "hm"), ("observation", "x"),
                                            ("gpt", "<answer>1</answer>")), dropped="result_without_call"),
    Case("two calls, one observation", row(("human", "q"), ("function_call", call("search", query="a")),
                                           ("function_call", call("search", query="b")), ("observation", "A"),
                                           ("gpt", "<answer>1</answer>")), dropped="results_do_not_match"),
    Case("a picture outside of the folder", row(("human", "<image>q"), ("gpt", "<answer>1</answer>"),
                                                images=["/etc/hostname"]), dropped="missing_picture"),
    Case("an unknown role", row(("human", "q"), ("critic", "no")), dropped="unknown_role"),
    Case("pictures in two places", {"messages": [
        {"role": "user", "content": [{"type": "image", "image": RED}, {"type": "text", "text": "q"}]},
        {"role": "assistant", "content": "<answer>1</answer>"}], "images": ["a/red.png"]},
        dropped="two_kinds_of_pictures"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_deepeyes(case: Case, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name, data in (("red", RED), ("blue", BLUE), ("green", GREEN)):
        (tmp_path / "a" / f"{name}.png").write_bytes(data)
    check(case, tmp_path, tools=("python", "search"))


def test_search_rows_are_refused_where_only_python_is_declared(tmp_path: Path) -> None:
    asked = row(("human", "q"), ("gpt", SEARCH), ("observation", "A"), ("gpt", "<answer>1</answer>"))
    check(Case("search", asked, dropped="unsupported_tool"), tmp_path)
