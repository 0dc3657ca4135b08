"""What the judge is asked. The rules stand in ``resources/judge_prompt.txt``; the case is one JSON object.

JSON keeps the fields apart whatever an answer contains: no answer can pose as a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..records import dumps, text_digest

PROMPT = Path(__file__).resolve().parents[3] / "resources" / "judge_prompt.txt"
REMINDER = "\n\nReply with nothing but <judge>Yes</judge> or <judge>No</judge>."


@cache
def rules_text() -> str:
    """The judge's instructions."""
    return PROMPT.read_text(encoding="utf-8").strip()


def prompt_hash() -> str:
    """Changes with the instructions, so that verdicts under other instructions are not reused."""
    return text_digest(rules_text() + REMINDER)


def judge_messages(
    question: str, references: Sequence[str], answer: str, *, picture: str | None = None, remind: bool = False
) -> list[dict[str, Any]]:
    """System and user message. ``picture`` is a data URL; ``remind`` is set after a reply that said nothing."""
    case = dumps(
        {
            "question": question,
            "reference_answer": references[0],
            "other_accepted_answers": list(references[1:]),
            "response": answer,
        }
    ).decode()
    text = f"Case to judge:\n{case}" + (REMINDER if remind else "")
    content: str | list[dict[str, Any]] = text
    if picture is not None:
        content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": text}]
    return [{"role": "system", "content": rules_text()}, {"role": "user", "content": content}]
