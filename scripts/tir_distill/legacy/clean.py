"""What native legacy rows still need before they may join a mix (seed section 11, last paragraph)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from ..export import IMAGE_TAG, Row
from ..records import BadRow
from ..records.behaviour import find_answer
from .chosen import option_text

_OPEN, _CLOSE = "<think>", "</think>"
_LAST_ANSWER = re.compile(r"(.*<answer>)(.*?)(</answer>)", re.S)

NoThinking = Literal["keep", "drop", "queue"]


def thought_and_text(content: str) -> tuple[str, str]:
    """The thinking that a content begins with, and the visible text after it."""
    if not content.startswith(_OPEN):
        return "", content.strip()
    thinking, _, visible = content[len(_OPEN) :].partition(_CLOSE)
    return thinking.strip(), visible.strip()


def without_thinking(row: Mapping[str, object], min_chars: int = 1) -> list[int]:
    """Indices of the messages in which the assistant acts after a thought of fewer characters, or after none."""
    messages = row["messages"]
    assert isinstance(messages, list)
    return [
        number
        for number, message in enumerate(messages)
        if message["role"] == "assistant" and len(thought_and_text(message["content"])[0]) < min_chars
    ]


def check_answer(row: Row) -> None:
    """Raises BadRow ``no_answer`` where the last visible text gives none, ``open_answer`` for tags that do not pair.

    Of several answers the last one counts, as everywhere.
    """
    visible = [thought_and_text(m["content"])[1] for m in row["messages"] if m["role"] == "assistant"]
    if not visible or not find_answer(visible[-1]):
        raise BadRow("no_answer", f"{row['id']}: the last message answers nothing")
    if any(text.count("<answer>") > text.count("</answer>") for text in visible):
        raise BadRow("open_answer", f"{row['id']}: an <answer> is not closed")


def letter_to_text(row: Row) -> tuple[Row, bool]:
    """The row with an answer by letter replaced by its option's text, and whether that happened.

    Raises BadRow where the text cannot be told (``chosen.option_text`` names the reasons).
    """
    last = row["messages"][-1]
    match = _LAST_ANSWER.match(last["content"])
    if match is None:
        return row, False
    given = match.group(2)
    question = next(m["content"] for m in row["messages"] if m["role"] == "user").replace(IMAGE_TAG, "")
    text = option_text(given, question, row["id"])
    if text is None:
        return row, False
    content = f"{match.group(1)}{text}{match.group(3)}{last['content'][match.end() :]}"
    answer = text if _names_same(row["answer"], question, text) else row["answer"]
    return {**row, "messages": [*row["messages"][:-1], {**last, "content": content}], "answer": answer}, True


def _names_same(answer: str, question: str, text: str) -> bool:
    """Whether the row's own answer is another way to name the same option."""
    try:
        return option_text(answer, question, "") == text
    except BadRow:
        return False
