"""What native legacy rows still need before they may join a mix (seed section 11, last paragraph)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from ..export import IMAGE_TAG, Row
from ..records import BadRow
from .letters import letter_of, options_in

_EMPTY_THINK = re.compile(r"\A<think>\s*</think>")
_LAST_ANSWER = re.compile(r"(.*<answer>)(.*?)(</answer>)", re.S)

NoThinking = Literal["keep", "drop", "queue"]


def without_thinking(row: Mapping[str, object]) -> list[int]:
    """Indices of the messages in which the assistant answers without a thought."""
    messages = row["messages"]
    assert isinstance(messages, list)
    return [
        number
        for number, message in enumerate(messages)
        if message["role"] == "assistant"
        and (not message["content"].startswith("<think>") or _EMPTY_THINK.match(message["content"]))
    ]


def letter_to_text(row: Row) -> tuple[Row, bool]:
    """The row with a single-letter answer replaced by its option's text, and whether that happened.

    Raises BadRow ``letter_without_options`` when the question does not hold the option.
    """
    last = row["messages"][-1]
    match = _LAST_ANSWER.match(last["content"])
    letter = letter_of(match.group(2)) if match else None
    if match is None or letter is None:
        return row, False
    question = next(m["content"] for m in row["messages"] if m["role"] == "user").replace(IMAGE_TAG, "")
    text = options_in(question).get(letter)
    if text is None:
        raise BadRow(
            "letter_without_options", f"{row['id']}: answers {letter!r}, and the question lists no such option"
        )
    content = f"{match.group(1)}{text}{match.group(3)}{last['content'][match.end() :]}"
    answer = text if letter_of(row["answer"]) == letter else row["answer"]
    return {**row, "messages": [*row["messages"][:-1], {**last, "content": content}], "answer": answer}, True
