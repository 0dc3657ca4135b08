"""Legacy rows in the proportions of the user's own 26,515 (seed sections 10.1 and 11); every figure is known."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

ANSWERED = 24_508
UNANSWERED = 2_007
WITH_CODE = 13_828
INPUT_IMAGE = 7_989
IMAGE_PATH = 1_784
WITHOUT_THINKING = 17_828
LETTERS = 9_085


def png(colour: tuple[int, int, int] = (200, 30, 30), size: tuple[int, int] = (8, 6)) -> bytes:
    """Bytes of a small picture of one colour."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


def data_uri(data: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _spread(number: int, factor: int, wanted: int) -> bool:
    """True for exactly ``wanted`` of the answered rows, spread over all of them (``factor`` shares no divisor)."""
    return number * factor % ANSWERED < wanted


def rows(*, pictures: bool = False) -> Iterator[dict[str, Any]]:
    """26,515 rows in the CodeDance shape: unanswered ones stand evenly between the others.

    ``pictures``: rows whose code reads a picture have one; else all are text alone.
    """
    unanswered = 0
    given = [data_uri(png())] if pictures else []
    for number in range(ANSWERED):
        row = answered(number)
        yield row | {"images": given} if number < INPUT_IMAGE + IMAGE_PATH else row
        while unanswered * ANSWERED < UNANSWERED * (number + 1) and unanswered < UNANSWERED:
            yield {
                "id": f"open_{unanswered}",
                "messages": [
                    {"role": "system", "content": "You are a helpful assistant. Old prompt."},
                    {"role": "user", "content": "How much is it?"},
                    {"role": "assistant", "content": "<code>\n```python\nprint(1)\n```\n</code>"},
                ],
                "images": [],
            }
            unanswered += 1


def answered(number: int) -> dict[str, Any]:
    """Row ``number`` of those that end in an answer."""
    think = "" if _spread(number, 7919, WITHOUT_THINKING) else "<think>I look at the numbers first.</think>\n"
    letter = _spread(number, 104_729, LETTERS)
    question = f"What is {number} plus one?\nA. {number + 1}\nB. {number}" if letter else f"What is {number} plus one?"
    answer = f"{think}<answer>{'A' if letter else number + 1}</answer>"
    messages = [
        {"role": "system", "content": "You are a helpful assistant. Old prompt."},
        {"role": "user", "content": question},
    ]
    if number < WITH_CODE:
        opened = "Image.open('input_image.jpg')" if number < INPUT_IMAGE else "Image.open(IMAGE_PATH)"
        code = f"im = {opened}\nprint({number} + 1)" if number < INPUT_IMAGE + IMAGE_PATH else f"print({number} + 1)"
        messages += [
            {"role": "assistant", "content": f"{think}<code>\n```python\n{code}\n```\n</code>"},
            {"role": "user", "content": f"<tool_response>\nOutput: {number + 1}\n</tool_response>"},
        ]
    messages.append({"role": "assistant", "content": answer})
    return {"id": f"row_{number}", "messages": messages, "images": []}
