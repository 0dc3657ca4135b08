"""What counts as a search, as picture code, as an answer."""

from __future__ import annotations

import pytest

from tir_distill.records.behaviour import find_answer, find_call_text, has_image_code, has_search

PICTURE_CODE = (
    "from PIL import Image|import cv2|x.rotate(90)|x.crop ((0,0,1,1))|plt.imshow(x)|image_1.size|open(IMAGE_PATH)|"
    "Image.open('a.png')|open('input_image.jpg')"
)


@pytest.mark.parametrize("code", PICTURE_CODE.split("|"))
def test_picture_code(code: str) -> None:
    assert has_image_code(code)


@pytest.mark.parametrize("code", ["print(1)", "APPLIED = 3", "crop = 4", "import pandas as pd", "rotate_90 = 1"])
def test_other_code(code: str) -> None:
    assert not has_image_code(code)


def test_the_last_answer_counts() -> None:
    assert find_answer("<answer>a</answer> no: <answer> b\n</answer>") == "b"
    assert find_answer("<answer>a") is None


def test_search_and_open_are_searches() -> None:
    assert has_search(["python", "open"])
    assert not has_search(["python"])


@pytest.mark.parametrize(
    "content",
    [
        '{"action":"search","query":"x"}',
        '```json\n{ "name": "open", "arguments": {}}\n```',
        "<tool_calls>[]",
        "<|tool_call|>",
        "<TOOL_CALL>",
        "<tool_call >",
        "[TOOL_CALLS]",
        "<function_call>",
        "<function=search>",
        '<invoke name="search">',
        "<｜tool▁call▁begin｜>",
        "<code>print(1)",
    ],
)
def test_calls_written_as_text(content: str) -> None:
    assert find_call_text(f"So.\n{content}\n<answer>x</answer>")


@pytest.mark.parametrize(
    "content", ["I call the tool now.", "functions f(x) = 2", '{"name": "Mumbai"}', "a < tool, b > call", "codes < 3"]
)
def test_no_calls_written_as_text(content: str) -> None:
    assert find_call_text(content) is None
