"""What readers give: training candidates and evaluation items, both with their pictures still as file bytes."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .fields import is_writable


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A question that may be distilled."""

    id: str
    question: str
    answer: str
    candidates: tuple[str, ...] = ()
    """Other accepted forms of the answer, without the answer itself."""
    group: str = ""
    """Questions that belong together (one article); empty: grouped by the first picture, else alone."""
    pictures: tuple[bytes, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationItem:
    """An item that must never be trained on. Lives in memory only; an index keeps its prints."""

    id: str
    text: str
    """Empty when it cannot be read; the pictures still count."""
    pictures: tuple[bytes, ...] = ()
    problems: tuple[str, ...] = ()
    """Reasons for which pictures or the text could not be had; the rest still counts."""


def unsafe_reference(text: str) -> str | None:
    """Why the official scorer must not get this reference, else None.

    GAIA's scorer takes any unparsable answer for infinity and drops all ASCII punctuation: ``inf`` or ``1e400`` as a
    reference accepts every word, and ``--`` equals an empty answer.
    """
    try:
        if not math.isfinite(float(text)):
            return "answer_not_finite"
    except ValueError:
        pass  # no number: judged as text
    if all(char.isspace() or char in string.punctuation for char in text):
        return "answer_only_punctuation"
    return None


def other_forms(answer: str, *groups: Any) -> tuple[str, ...]:
    """Further accepted answers, stripped, in order, without repeats, broken or unsafe text and the answer itself."""
    forms = [text.strip() for group in groups for text in group if isinstance(text, str)]
    return tuple(
        form
        for form in dict.fromkeys(forms)
        if form and form != answer and is_writable(form) and unsafe_reference(form) is None
    )
