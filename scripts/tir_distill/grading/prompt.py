"""What the judge is asked. The rules stand in ``resources/judge_prompt.txt``; the case is one JSON object.

JSON keeps the fields apart whatever an answer contains: no answer can pose as a reference. Verdict tags in an
answer get other brackets, so that a judge that quotes it does not give the verdict that the answer asks for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..records import dumps, text_digest
from .text import without_format_marks

PROMPT = Path(__file__).resolve().parents[3] / "resources" / "judge_prompt.txt"
REMINDER = "\n\nReply with nothing but <judge>Yes</judge> or <judge>No</judge>."
READING = 2
"""Raised when replies are read otherwise, so that a verdict from an older reading is asked for again."""
_OWN_MARKUP = re.compile(
    r"[<＜]([\s/]*(?:judge|judg\w*ment|verdict|reason|think|answer)\b[^<>＜＞]*)[>＞]", re.IGNORECASE
)


@cache
def rules_text() -> str:
    """The judge's instructions."""
    return PROMPT.read_text(encoding="utf-8").strip()


def prompt_hash() -> str:
    """Changes with the instructions and with how replies are read, so that no verdict of other ones is reused."""
    return text_digest(f"{rules_text()}{REMINDER}\n{READING}")


def defused(answer: str) -> str:
    """The answer without markup that belongs to replies: ``<judge>`` becomes ``[judge]``, hidden characters or not."""
    bare = without_format_marks(answer)
    return _OWN_MARKUP.sub(r"[\1]", bare if _OWN_MARKUP.search(bare) else answer)


def judge_messages(
    question: str, references: Sequence[str], answer: str, *, picture: str | None = None, remind: bool = False
) -> list[dict[str, Any]]:
    """System and user message. ``picture`` is a data URL; ``remind`` is set after a reply that said nothing."""
    case = dumps(
        {
            "question": question,
            "reference_answer": references[0],
            "other_accepted_answers": list(references[1:]),
            "response": defused(answer),
        }
    ).decode()
    text = f"Case to judge:\n{case}" + (REMINDER if remind else "")
    content: str | list[dict[str, Any]] = text
    if picture is not None:
        content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": text}]
    return [{"role": "system", "content": rules_text()}, {"role": "user", "content": content}]
