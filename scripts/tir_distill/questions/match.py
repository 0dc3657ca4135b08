"""A match: which evaluation item a question is taken for, by which rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PHASH = "phash"
JACCARD = "jaccard"
SAME_PICTURE_TEXT = "same_picture_text"

RULES = (PHASH, JACCARD, SAME_PICTURE_TEXT)
"""In the order in which a drop is attributed: a question with several matches is counted under the first."""


@dataclass(frozen=True, slots=True)
class Match:
    """One question and one evaluation item."""

    rule: str
    evaluation_set: str
    evaluation_id: str
    value: float
    """Distance in bits for picture rules, Jaccard (0 to 1) for ``jaccard``."""

    @property
    def rank(self) -> tuple[int, float, str, str]:
        """Sort key: rule, closest first, then set and id. Free of any file or row order."""
        closeness = -self.value if self.rule == JACCARD else self.value
        return RULES.index(self.rule), closeness, self.evaluation_set, self.evaluation_id

    def __str__(self) -> str:
        measure = f"{self.value:g} bits" if self.rule in (PHASH, SAME_PICTURE_TEXT) else f"{self.value:.3f}"
        return f"{self.rule}: {self.evaluation_set} {self.evaluation_id} ({measure})"

    def to_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "evaluation_set": self.evaluation_set,
            "evaluation_id": self.evaluation_id,
            "value": self.value,
        }
