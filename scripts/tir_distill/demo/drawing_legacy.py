"""A small legacy file in the text protocols of earlier data, with its usual faults: letters, no thinking, no result."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .forms import encode
from .plots import draw_chart

LEGACY_FILE = "legacy/demo_legacy.jsonl"
COLOURS = ("red", "blue", "green", "orange", "purple", "teal")
OLD_PROMPT = "You can write code. The picture is loaded as input_image and lies at 'input_image.jpg'."


def draw_legacy(out: Path) -> int:
    """Write the file below a mirror folder; returns the number of rows."""
    path = out / LEGACY_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = list(_rows())
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return len(rows)


def _rows() -> Iterator[dict[str, Any]]:
    for number in range(9):
        bars = [(colour, 20 + (number * 7 + position * 13) % 60) for position, colour in enumerate(COLOURS[:4])]
        highest = max(bars, key=lambda bar: bar[1])[0]
        picture = base64.b64encode(encode(draw_chart(f"Stock {number + 1}", bars, 10))).decode()
        yield _row(number, bars, highest, picture)
    yield _unanswered(9)
    yield _unanswered(10)


def _row(number: int, bars: list[tuple[str, int]], highest: str, picture: str) -> dict[str, Any]:
    """Kinds by turns: code and thinking, letters, no thinking, everything in one response."""
    kind = ("code", "letter", "bare", "one_response")[number % 4]
    question = f"Which colour has the highest bar in chart {number + 1}?"
    think = "" if kind == "bare" else f"<think>I compare the bars of chart {number + 1} one by one.</think>\n"
    code = "from PIL import Image\nim = Image.open('input_image.jpg')\nprint(im.size)"
    result = f"Output: (640, 400)\n{dict(bars)}"
    if kind == "one_response":
        said = f"<think>I measure every bar of the chart first.<code>```python\n{code}\n```</code>"
        said += f"<sandbox_output>{result}</sandbox_output>"
        return {
            "id": f"demo_{number}",
            "image": [picture],
            "question": question,
            "response": f"{said}By these figures the tallest bar is {highest}.</think><answer>{highest}</answer>",
            "answer": highest,
        }
    options = "\n".join(f"{letter}. {colour}" for letter, (colour, _) in zip("ABCD", bars, strict=True))
    answer = "ABCD"[[colour for colour, _ in bars].index(highest)] if kind == "letter" else highest
    messages = [
        {"role": "system", "content": OLD_PROMPT},
        {"role": "user", "content": f"<image>\n{question}" + (f"\n{options}" if kind == "letter" else "")},
        {"role": "assistant", "content": f"{think}<code>\n```python\n{code}\n```\n</code>"},
        {"role": "user", "content": f"<tool_response>\n{result}\n</tool_response>"},
        {"role": "assistant", "content": f"{think}<answer>{answer}</answer>"},
    ]
    return {"id": f"demo_{number}", "messages": messages, "images": [picture], "answer": answer}


def _unanswered(number: int) -> dict[str, Any]:
    messages = [
        {"role": "system", "content": OLD_PROMPT},
        {"role": "user", "content": "How many lines are there?"},
        {"role": "assistant", "content": "<code>\n```python\nprint(2)\n```\n</code>"},
    ]
    return {"id": f"demo_{number}", "messages": messages, "images": []}
