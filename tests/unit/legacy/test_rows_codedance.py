"""CodeDance rows: messages, pictures as raw bytes, results in user messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from legacy_cases import BLUE, GREEN, RED, Case, check, said, tool, user
from tir_distill.legacy.convention import with_input_object

SYSTEM = {"role": "system", "content": "The picture is preloaded as input_image and lies at 'input_image.jpg'."}


def row(*texts: str, images: Any = (), **more: Any) -> dict[str, Any]:
    """User and assistant by turns, after the set's own system prompt."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"messages": [SYSTEM, *messages], "images": list(images), **more}


CASES = [
    Case(
        "one call, one picture",
        row(
            "<image>\nHow wide is it?",
            "<think>I read the size.</think>\n<code>\n```python\nprint(input_image.size)\n```\n</code>",
            "<tool_response>\nOutput: (8, 6)\n</tool_response>",
            "<think>Eight wide.</think>\n<answer>8</answer>",
            images=[RED],
        ),
        [
            user("<image>How wide is it?"),
            said("I read the size.", "", "print(image_1.size)"),
            tool("Output: (8, 6)"),
            said("Eight wide.", "<answer>8</answer>"),
        ],
        [RED],
        "8",
    ),
    Case(
        "the result holds a picture, which stands second in the list",
        row(
            "<image>What is in the corner?",
            "<think>Crop.</think><code>\n```python\nim = Image.open('input_image.jpg')\nim.crop((0, 0, 4, 4))\n```\n"
            "</code>",
            "<tool_response>\nOutput image: <image>\n</tool_response>",
            "<think>A dot.</think><answer>a dot</answer>",
            images=[RED, BLUE],
        ),
        [
            user("<image>What is in the corner?"),
            said("Crop.", "", "im = Image.open('input_image.jpg')\nim.crop((0, 0, 4, 4))"),
            tool("Output image: <image>"),
            said("A dot.", "<answer>a dot</answer>"),
        ],
        [RED, BLUE],
        "a dot",
    ),
    Case(
        "two pictures in one result, stderr beside them, and no tag in the question",
        row(
            "Compare the halves.",
            "<think>Split.</think><code>show()</code>",
            "<tool_response>\nOutput: done\nStderr output: UserWarning: old\nOutput image: <image> <image>\n"
            "</tool_response>",
            "<think>Same.</think><answer>equal</answer>",
            images=[RED, BLUE, GREEN],
        ),
        [
            user("<image>Compare the halves."),
            said("Split.", "", "show()"),
            tool("Output: done\nStderr output: UserWarning: old\nOutput image: <image> <image>"),
            said("Same.", "<answer>equal</answer>"),
        ],
        [RED, BLUE, GREEN],
        "equal",
    ),
    Case(
        "an execution error, then a second try that uses the state of the first",
        row(
            "<image>Sum?",
            "<think>Load.</think><code>\n```python\nx = 3\nprint(y)\n```\n</code>",
            "<tool_response>\n--- Execution Error (NameError) ---\nname 'y' is not defined\n</tool_response>",
            "<think>Use x.</think><code>\n```python\nprint(x)\n```\n</code>",
            "<tool_response>\nOutput: 3\n</tool_response>",
            "<think>Three.</think><answer>3</answer>",
            images=[RED],
        ),
        [
            user("<image>Sum?"),
            said("Load.", "", "x = 3\nprint(y)"),
            tool("--- Execution Error (NameError) ---\nname 'y' is not defined"),
            said("Use x.", "", "print(x)"),
            tool("Output: 3"),
            said("Three.", "<answer>3</answer>"),
        ],
        [RED],
        "3",
    ),
    Case(
        "no thinking, no fence, no closing tag, result without tags",
        row("<image>n?", "<code>\nprint(2)", "Output: 2", "<answer>2</answer>", images=[{"bytes": RED, "path": None}]),
        [
            user("<image>n?"),
            said("", "", "print(2)"),
            tool("2"),
            said("", "<answer>2</answer>"),
        ],
        [RED],
        "2",
    ),
    Case(
        "fence left open inside closed tags; words after the code",
        row(
            "<image>n?",
            "<think>t</think>First:\n<code>```py\nprint(2)</code>\nLet us see.",
            "<tool_response>Output: 2</tool_response>",
            "<think>u</think><answer>2</answer>",
            images=[RED],
        ),
        [
            user("<image>n?"),
            said("t", "First:\n\nLet us see.", "print(2)"),
            tool("Output: 2"),
            said("u", "<answer>2</answer>"),
        ],
        [RED],
        "2",
    ),
    Case(
        "two blocks before one result ran as one cell",
        row(
            "q",
            "<think>t</think><code>\n```python\na = 1\n```\n</code>then<code>\n```python\nprint(a)\n```\n</code>",
            "<tool_response>\nOutput: 1\n</tool_response>",
            "<think>u</think><answer>1</answer>",
        ),
        [
            user("q"),
            said("t", "then", "a = 1\n\nprint(a)"),
            tool("Output: 1"),
            said("u", "<answer>1</answer>"),
        ],
        [],
        "1",
    ),
    Case(
        "code that holds the protocol's own closing tag in a string",
        row(
            "q",
            "<think>t</think><code>\n```python\nhtml = '<code>x</code>'\nprint(len(html))\n```\n</code>",
            "<tool_response>\nOutput: 14\n</tool_response>",
            "<think>u</think><answer>14</answer>",
        ),
        [
            user("q"),
            said("t", "", "html = '<code>x</code>'\nprint(len(html))"),
            tool("Output: 14"),
            said("u", "<answer>14</answer>"),
        ],
        [],
        "14",
    ),
    Case(
        "boxed instead of tags, braces inside; nothing else of the text changes",
        row("q", r"<think>t</think>So it is $\boxed{\frac{1}{2}}$."),
        [user("q"), said("t", "So it is $\\boxed{\\frac{1}{2}}$.\n\n<answer>\\frac{1}{2}</answer>")],
        [],
        r"\frac{1}{2}",
    ),
    Case(
        "a stored answer wins over what the text says",
        row("图中有几个？", "<think>数一数。</think><answer> 三个 </answer>", answer="3"),
        [user("图中有几个？"), said("数一数。", "<answer> 三个 </answer>")],
        [],
        "3",
    ),
    Case(
        "the result holds what a template would take for its own",
        row(
            "q",
            "<think>t</think><code>\n```python\nprint(page)\n```\n</code>",
            "<tool_response>\nOutput: <|im_end|> and <think>\n</tool_response>",
            "<think>u</think><answer>x</answer>",
        ),
        [
            user("q"),
            said("t", "", "print(page)"),
            tool("Output: < |im_end|> and < think>"),
            said("u", "<answer>x</answer>"),
        ],
        [],
        "x",
    ),
    Case(
        "its own variable named input_image stays",
        row(
            "<image>q",
            "<think>t</think><code>\n```python\ninput_image = Image.open(IMAGE_PATH)\nprint(input_image.mode)\n```\n"
            "</code>",
            "<tool_response>\nOutput: RGB\n</tool_response>",
            "<think>u</think><answer>RGB</answer>",
            images=[RED],
        ),
        [
            user("<image>q"),
            said("t", "", "input_image = Image.open(IMAGE_PATH)\nprint(input_image.mode)"),
            tool("Output: RGB"),
            said("u", "<answer>RGB</answer>"),
        ],
        [RED],
        "RGB",
    ),
    Case("ends in code", row("q", "<think>t</think><code>\n```python\nx\n```\n</code>"), dropped="code_without_result"),
    Case("ends in code, fence open", row("q", "<think>t</think><code>\n```python\nx"), dropped="code_without_result"),
    Case("code and answer at once", row("q", "<code>x</code><answer>1</answer>"), dropped="answer_beside_call"),
    Case("ends in a result", row("q", "<code>x</code>", "<tool_response>1</tool_response>"), dropped="no_final_reply"),
    Case("a tag too many", row("<image><image>q", "<answer>1</answer>", images=[RED]), dropped="picture_count"),
    Case("a cut picture", row("<image>q", "<answer>1</answer>", images=[RED[:50]]), dropped="bad_picture"),
    Case("a second question", row("q", "<answer>1</answer>", "and now?", "<answer>2</answer>"),
         dropped="second_question"),
    Case("no user", {"messages": [SYSTEM, {"role": "assistant", "content": "x"}], "images": []}, dropped="no_question"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_codedance(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["input_image.crop((0, 0, 1, 1))", "print(input_image)"], ["image_1.crop((0, 0, 1, 1))", "print(image_1)"]),
        (["open('input_image.jpg')"], ["open('input_image.jpg')"]),
        (["input_image = Image.open('input_image.jpg')", "input_image.show()"],) * 2,
        (
            ["x = 1", "input_image = input_image.convert('L')", "print(input_image.mode)"],
            ["x = 1", "input_image = image_1\ninput_image = input_image.convert('L')", "print(input_image.mode)"],
        ),
        (
            ["print(input_image.size)\ninput_image = 5"],
            ["input_image = image_1\nprint(input_image.size)\ninput_image = 5"],
        ),
        (["if input_image == 3: pass"], ["if image_1 == 3: pass"]),
        ([], []),
    ],
)
def test_the_preloaded_object(cells: list[str], wanted: list[str]) -> None:
    assert with_input_object(cells) == wanted
