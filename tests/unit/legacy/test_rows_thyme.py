"""Thyme rows: one response text holds the whole trajectory; pictures in base64 or as paths, the given ones first."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from legacy_cases import BLUE, GREEN, RED, Case, check, said, tool, user

RED64, BLUE64, GREEN64 = (base64.b64encode(data).decode() for data in (RED, BLUE, GREEN))
PATH = "/mnt/data/train/pic_001.jpg"


def row(question: str, response: str, image: Any = None, **more: Any) -> dict[str, Any]:
    return {"image": image, "question": question, "response": response, **more}


CASES = [
    Case(
        "crop, look, answer; thinking stays open across the code",
        row(
            f'<image>\nWhat is on the sign?\n### User Image Path:** "{PATH}"\n### User Image Size:** "8x6"',
            "<think>The sign is small.\n<code>\n```python\nfrom PIL import Image\n"
            f"im = Image.open('{PATH}')\nim.crop((0, 0, 4, 3)).save('/mnt/data/temp/crop_1.jpg')\n"
            "print('/mnt/data/temp/crop_1.jpg')\n```\n</code>\n"
            "<sandbox_output><image></sandbox_output>\nNow I can read it.</think>\n<answer>EXIT</answer>",
            [RED64, BLUE64],
        ),
        [
            user('<image>What is on the sign?\n### User Image Size:** "8x6"'),
            said(
                "The sign is small.",
                "",
                "from PIL import Image\nim = Image.open('input_image.jpg')\nim.crop((0, 0, 4, 3)).save('crop_1.jpg')\n"
                "print('crop_1.jpg')",
            ),
            tool("<image>"),
            said("Now I can read it.", "<answer>EXIT</answer>"),
        ],
        [RED, BLUE],
        "EXIT",
    ),
    Case(
        "two rounds",
        row(
            "What is it?",
            "<think>a<code>```python\none()\n```</code><sandbox_output><image></sandbox_output>"
            "b<code>```python\ntwo()\n```</code><sandbox_output><image></sandbox_output>c</think><answer>cat</answer>",
            [RED64, BLUE64, GREEN64],
        ),
        [
            user("<image>What is it?"),
            said("a", "", "one()"),
            tool("<image>"),
            said("b", "", "two()"),
            tool("<image>"),
            said("c", "<answer>cat</answer>"),
        ],
        [RED, BLUE, GREEN],
        "cat",
    ),
    Case(
        "computation without a picture",
        row(
            "How much is 6 x 7?",
            "<think>Multiply.<code>\n```python\nprint(6 * 7)\n```\n</code><sandbox_output>42</sandbox_output></think>"
            "<answer>42</answer>",
            [],
        ),
        [
            user("How much is 6 x 7?"),
            said("Multiply.", "", "print(6 * 7)"),
            tool("42"),
            said("", "<answer>42</answer>"),
        ],
        [],
        "42",
    ),
    Case(
        "single round without code or thinking",
        row("<image>Colour?", "<answer>red</answer>", RED64),
        [user("<image>Colour?"), said("", "<answer>red</answer>")],
        [RED],
        "red",
    ),
    Case(
        "several pictures and a text in one output",
        row(
            "Left or right?",
            "<think>Both.<code>split()</code><sandbox_output>left:\n<image>\nright:\n<image>\n</sandbox_output>Left."
            "</think><answer>left</answer>",
            [RED64, BLUE64, GREEN64],
        ),
        [
            user("<image>Left or right?"),
            said("Both.", "", "split()"),
            tool("left:\n<image>right:\n<image>"),
            said("Left.", "<answer>left</answer>"),
        ],
        [RED, BLUE, GREEN],
        "left",
    ),
    Case(
        "code without closing tag, an error as output, a second try",
        row(
            "q",
            "<think>a<code>\n```python\nboom()\n```\n<sandbox_output>NameError: boom</sandbox_output>b"
            "<code>print(1)</code>\n\n<sandbox_output>\n1\n</sandbox_output>\n</think>\n\n<answer>1</answer>",
            None,
        ),
        [
            user("q"),
            said("a", "", "boom()"),
            tool("NameError: boom"),
            said("b", "", "print(1)"),
            tool("1"),
            said("", "<answer>1</answer>"),
        ],
        [],
        "1",
    ),
    Case(
        "two picture paths, one the beginning of the other, with a blank in it; a folder in the code",
        row(
            "Same?\n### User Image Path: \"/d a/x.jpg\"\n### User Image Path: '/d a/x.jpg.png'",
            "<think>a<code>a = open('/d a/x.jpg.png')\nb = open(\"/d a/x.jpg\")\nos.chdir('/tmp/work')</code>"
            "<sandbox_output>ok</sandbox_output>b</think><answer>no</answer>",
            [RED64, BLUE64],
        ),
        [
            user("<image><image>Same?"),
            said("a", "", "a = open('image_2.png')\nb = open(\"input_image.jpg\")\nos.chdir('/tmp/work')"),
            tool("ok"),
            said("b", "<answer>no</answer>"),
        ],
        [RED, BLUE],
        "no",
    ),
    Case(
        "a path without quotes, pictures as bytes with path",
        row(
            f"q\nUser Image Path: {PATH}",
            f"<think>a<code>print('{PATH}')</code><sandbox_output>{PATH}</sandbox_output>b</think><answer>y</answer>",
            [{"bytes": RED, "path": PATH}],
        ),
        [
            user("<image>q"),
            said("a", "", "print('input_image.jpg')"),
            tool("input_image.jpg"),
            said("b", "<answer>y</answer>"),
        ],
        [RED],
        "y",
    ),
    Case(
        "a question that names the output format",
        row("q\nWrite <think>..</think> and <answer>..</answer>.", "<think>t</think><answer>1</answer>"),
        [user("q\nWrite < think>..< /think> and < answer>..< /answer>."), said("t", "<answer>1</answer>")],
        [],
        "1",
    ),
    Case(
        "a literal picture tag in a question without pictures",
        row("What does <image> mean?", "<think>t</think><answer>1</answer>"),
        dropped="picture_count",
    ),
    Case(
        "an output that was cut off at the end",
        row("q", "<think>a<code>x()</code><sandbox_output>12"),
        dropped="no_final_reply",
    ),
    Case("ends in code", row("q", "<think>a<code>```python\nx()\n```</code></think>"), dropped="code_without_result"),
    Case("an output before any code", row("q", "<think><sandbox_output>1</sandbox_output></think>"),
         dropped="result_without_call"),
    Case("an empty response", row("q", "  ", RED64), dropped="no_reply"),
    Case("no picture file", row("q", "<answer>1</answer>", ["images/gone.jpg"]), dropped="missing_picture"),
    Case("no response", {"question": "q", "image": [], "response": None}, dropped="unknown_shape"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_thyme(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
