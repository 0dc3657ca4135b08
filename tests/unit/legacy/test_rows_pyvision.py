"""PyVision rows: typed parts, results inside the model's own text, pictures between numbered marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from legacy_cases import BLUE, GREEN, RED, Case, check, said, tool, user
from legacy_helpers import data_uri


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def shown(data: bytes) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_uri(data)}}


def asked(question: str, *pictures: bytes) -> dict[str, Any]:
    """The set's way: mark, picture, mark as three parts."""
    parts = []
    for number, data in enumerate(pictures):
        parts += [text(f"<image_clue_{number}>"), shown(data), text(f"</image_clue_{number}>\n\n")]
    return {"role": "user", "content": [*parts, text(question)]}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(parts) if len(parts) > 1 else parts[0]}


CASES = [
    Case(
        "code, text result, answer boxed inside the tags",
        {
            "messages": [
                asked("How wide?", RED),
                model("I read it.\n<code>\n```python\nprint(image_clue_0.size)\n```\n</code>"
                      "<interpreter>\nText Result:\n(8, 6)\n</interpreter>\n"
                      "So it is 8.\n<answer>\n\\boxed{8}\n</answer>"),
            ]
        },
        [
            user("<image>How wide?"),
            said("", "I read it.", "print(image_1.size)"),
            tool("Text Result:\n(8, 6)"),
            said("", "So it is 8.\n<answer>8</answer>"),
        ],
        [RED],
        "8",
    ),
    Case(
        "a picture as result, typed, inside the assistant's own message",
        {
            "messages": [
                asked("What is there?", RED),
                model(text("Crop.<code>```python\nplt.show()\n```</code><interpreter>\nText Result:\nNone\n"
                           "Image Result:\n<image_clue_1>"), shown(BLUE), text("</image_clue_1></interpreter>\nA dot. "
                           "<answer>dot</answer>")),
            ]
        },
        [
            user("<image>What is there?"),
            said("", "Crop.", "plt.show()"),
            tool("Text Result:\nNone\nImage Result:\n<image>"),
            said("", "A dot. <answer>dot</answer>"),
        ],
        [RED, BLUE],
        "dot",
    ),
    Case(
        "two pictures in one result",
        {
            "messages": [
                asked("Which?", RED),
                model(text("<code>two()</code><interpreter>Image Result:\n<image_clue_1>"), shown(BLUE),
                      text("</image_clue_1><image_clue_2>"), shown(GREEN),
                      text("</image_clue_2></interpreter><answer>green</answer>")),
            ]
        },
        [
            user("<image>Which?"),
            said("", "", "two()"),
            tool("Image Result:\n<image><image>"),
            said("", "<answer>green</answer>"),
        ],
        [RED, BLUE, GREEN],
        "green",
    ),
    Case(
        "two given pictures; code opens them as files, which models do wrongly",
        {
            "messages": [
                asked("Same?", RED, BLUE),
                model("<code>a = Image.open('image_clue_0.png'); b = image_clue_1\nprint(a == b)</code>"
                      "<interpreter>Text Result:\nFalse</interpreter><answer>no</answer>"),
            ]
        },
        [
            user("<image><image>Same?"),
            said("", "", "a = Image.open('image_1.png'); b = image_2\nprint(a == b)"),
            tool("Text Result:\nFalse"),
            said("", "<answer>no</answer>"),
        ],
        [RED, BLUE],
        "no",
    ),
    Case(
        "an error text alone as result, and a second try in a message of its own",
        {
            "messages": [
                asked("n?", RED),
                model("<code>boom()</code><interpreter>name 'boom' is not defined</interpreter>"),
                model("Again.<code>print(5)</code><interpreter>Text Result:\n5</interpreter>"),
                model("<answer>5</answer>"),
            ]
        },
        [
            user("<image>n?"),
            said("", "", "boom()"),
            tool("name 'boom' is not defined"),
            said("", "Again.", "print(5)"),
            tool("Text Result:\n5"),
            said("", "<answer>5</answer>"),
        ],
        [RED],
        "5",
    ),
    Case(
        "the result in a user message of typed parts",
        {
            "messages": [
                asked("n?", RED),
                model("<code>plt.show()</code>"),
                {"role": "user", "content": [text("<interpreter>Image Result:\n<image_clue_1>"), shown(BLUE),
                                             text("</image_clue_1></interpreter>")]},
                model("<answer>1</answer>"),
            ]
        },
        [
            user("<image>n?"),
            said("", "", "plt.show()"),
            tool("Image Result:\n<image>"),
            said("", "<answer>1</answer>"),
        ],
        [RED, BLUE],
        "1",
    ),
    Case(
        "plain text with marks; pictures in a list beside it",
        {
            "messages": [
                {"role": "user", "content": "<image_clue_0>img</image_clue_0>n?"},
                model("<code>x()</code><interpreter>Image Result:\n<image_clue_1>img</image_clue_1></interpreter>"
                      "<answer>1</answer>"),
            ],
            "images": [RED, BLUE],
        },
        [
            user("<image>n?"),
            said("", "", "x()"),
            tool("Image Result:\n<image>"),
            said("", "<answer>1</answer>"),
        ],
        [RED, BLUE],
        "1",
    ),
    Case(
        "plain text with the picture itself between the marks",
        {
            "messages": [
                {"role": "user", "content": f"<image_clue_0>{data_uri(RED)}</image_clue_0>n?"},
                model("<think>t</think><answer>1</answer>"),
            ]
        },
        [user("<image>n?"), said("t", "<answer>1</answer>")],
        [RED],
        "1",
    ),
    Case(
        "parts that are bare texts, one of them null; boxed and no tags",
        {
            "messages": [
                {"role": "user", "content": ["n", {"type": "text", "text": None}, {"type": "text", "text": "?"}]},
                model("It is \\boxed{\\text{Cape Verde}}."),
            ]
        },
        [user("n?"), said("", "It is \\boxed{\\text{Cape Verde}}.\n\n<answer>Cape Verde</answer>")],
        [],
        "Cape Verde",
    ),
    Case(
        "neither tags nor box: conversion keeps the row, cleaning drops it",
        {"messages": [asked("n?"), model("It is five.")]},
        [user("n?"), said("", "It is five.")],
        [],
        "",
    ),
    Case(
        "code uses the picture that a result showed",
        {
            "messages": [
                asked("n?", RED),
                model(text("<code>plt.show()</code><interpreter>Image Result:\n<image_clue_1>"), shown(BLUE),
                      text("</image_clue_1></interpreter><code>image_clue_1.crop()</code><interpreter>1</interpreter>"
                           "<answer>1</answer>")),
            ]
        },
        dropped="picture_of_a_result",
    ),
    Case(
        "no closing code tag, since it was the stop text; interpreter left open at the end",
        {"messages": [asked("n?"), model("<code>\n```python\nx()\n```\n<interpreter>5")]},
        dropped="no_final_reply",
    ),
    Case(
        "an error without tags leaves a call without result",
        {"messages": [asked("n?"), model("<code>x()</code>NameError: x"), model("<answer>1</answer>")]},
        dropped="call_without_result",
    ),
    Case(
        "a picture between marks that names no file",
        {
            "messages": [
                {"role": "user", "content": "<image_clue_0>img</image_clue_0>n?"},
                model("<answer>1</answer>"),
            ],
            "images": ["lost/clue_0.png"],
        },
        dropped="missing_picture",
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pyvision(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
