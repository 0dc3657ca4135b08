"""Check 5: no evaluation item, by question, by picture, and (a warning) by text inside observations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from ..export import IMAGE_TAG
from .findings import Finding
from .pictures import Pictures
from .view import View

CHECK = "5_overlap"


class EvaluationIndex(Protocol):
    """The evaluation sets as hashes (room ``questions`` reads ``eval_text_index.json``). A match says set and id."""

    def match_text(self, text: str) -> Sequence[Any]:
        """Items whose question is, or nearly is, this text."""
        ...

    def match_phash(self, phash: str, flat: bool) -> Sequence[Any]:
        """Items with this picture, or nearly; nothing for a flat one."""
        ...

    def match_grams(self, text: str) -> Sequence[Any]:
        """Items a long piece of whose text stands in this one."""
        ...


def check_overlap(view: View, index: EvaluationIndex, pictures: Pictures) -> Iterator[Finding]:
    """Question text and every picture of the row."""
    for number, message in enumerate(view.messages):
        if message["role"] == "user":
            question = message["content"].replace(IMAGE_TAG, "").strip()
            for match in index.match_text(question):
                yield Finding(check=CHECK, reason="question", message=number, detail=_said(match), excerpt=question)
    for path in view.images:
        seen = pictures.look(path)
        if seen.phash:
            for match in index.match_phash(seen.phash, seen.flat):
                yield Finding(check=CHECK, reason="picture", detail=f"{path}: {_said(match)}")


def check_observations(view: View, index: EvaluationIndex) -> Iterator[Finding]:
    """Evaluation text in what a tool answered: a page may quote a benchmark."""
    for number, message in enumerate(view.messages):
        if message["role"] == "tool":
            for match in index.match_grams(message["content"]):
                yield Finding(check=CHECK, reason="observation", message=number, detail=_said(match))


def _said(match: Any) -> str:
    """A match as text, whatever its type."""
    return str(match)
