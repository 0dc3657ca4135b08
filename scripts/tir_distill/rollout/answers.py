"""The final answer in a reply's visible text."""

from __future__ import annotations

import re

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.S)


def find_answer(content: str) -> str | None:
    """Text inside the last ``<answer>…</answer>``, stripped; None when there is none or it is empty.

    Prose without the tags is no answer (RULINGS 3), nor is an answer that stands only in the thinking: a row must show
    it where a student is to write it.
    """
    found = _ANSWER.findall(content)
    return (found[-1].strip() or None) if found else None
