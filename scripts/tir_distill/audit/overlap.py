"""Check 5: no evaluation item, by question, by picture, and (a warning) by text inside observations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ..export import IMAGE_TAG
from .findings import Finding
from .pictures import Pictures
from .view import View

CHECK = "5_overlap"
PICTURE_RULE = "phash"


class Match(Protocol):
    """An evaluation item that was met; ``str`` of it says set, id and how close."""

    @property
    def rule(self) -> str:
        """What met: ``phash`` for a picture, anything else for text."""
        ...


class EvaluationIndex(Protocol):
    """The evaluation sets as hashes (room ``questions`` reads ``eval_text_index.json``)."""

    def match_text(self, text: str, pictures: Sequence[tuple[str, bool]]) -> Sequence[Match]:
        """Items that a question with these pictures (hash, flat?) is, by text or by picture."""
        ...

    def match_phash(self, phash: str, flat: bool) -> Sequence[Match]:
        """Items with this picture, or nearly; nothing for a flat one."""
        ...

    def match_grams(self, text: str) -> Sequence[Match]:
        """Items a long piece of whose text stands in this one."""
        ...


def check_overlap(view: View, index: EvaluationIndex, pictures: Pictures) -> Iterator[Finding]:
    """The question with its pictures, and every picture that a tool showed."""
    start = 0
    for number, message in enumerate(view.messages):
        if message["role"] != "user":
            continue
        end = start + message["content"].count(IMAGE_TAG)
        prints = [(seen.phash, seen.flat) for path in view.images[start:end] if (seen := pictures.look(path)).phash]
        question = message["content"].replace(IMAGE_TAG, "").strip()
        for match in index.match_text(question, prints):
            reason = "picture" if match.rule == PICTURE_RULE else "question"
            yield Finding(check=CHECK, reason=reason, message=number, detail=str(match), excerpt=question)
        start = end
    for path in view.images[start:]:
        seen = pictures.look(path)
        if seen.phash:
            for match in index.match_phash(seen.phash, seen.flat):
                yield Finding(check=CHECK, reason="picture", detail=f"{path}: {match}")


def check_observations(view: View, index: EvaluationIndex) -> Iterator[Finding]:
    """Evaluation text in what a tool answered: a page may quote a benchmark."""
    told = [(number, message["content"]) for number, message in enumerate(view.messages) if message["role"] == "tool"]
    # what one of them quotes stands in all of them together too; few rows quote anything
    if len(told) > 1 and not index.match_grams("\n".join(text for _, text in told)):
        return
    for number, text in told:
        for match in index.match_grams(text):
            yield Finding(check=CHECK, reason="observation", message=number, detail=str(match))
