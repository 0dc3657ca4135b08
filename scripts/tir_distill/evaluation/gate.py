"""The pilot gate: the full run is allowed only when the pilot's student behaves (seed section 6).

Behaviour is looked at, not the score: on GAIA validation (165 questions) the student must search or open by itself in
more than 30, and must write picture code in fewer than 3 of the questions that have no picture. A question without an
answer speaks against both figures: nobody knows what the student would have done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

MIN_SELF_SEARCH = 30
"""More than this many questions; the untuned Qwen3.5-4B reached 32."""
MAX_IMAGE_CODE = 3
"""Fewer than this many; the earlier tuned student wrote it in 33."""
SHOWN = 10
SELF_SEARCH, IMAGE_CODE = "self_search", "image_code_without_picture"
FIGURES = frozenset({SELF_SEARCH, IMAGE_CODE})


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What one question showed."""

    question_id: str
    has_picture: bool
    self_search: bool
    image_code: bool
    answered: bool = True
    """False for one of which there is no sample."""

    @classmethod
    def unknown(cls, question_id: str) -> Behaviour:
        """A question of which there is no sample."""
        return cls(question_id, has_picture=False, self_search=False, image_code=False, answered=False)


@dataclass(frozen=True, slots=True)
class GateFigure:
    """One figure of the gate and the questions that speak against it."""

    name: str
    count: int
    wanted: str
    passed: bool
    examples: Sequence[str] = field(default_factory=list)
    without_sample: int = 0
    """Questions that are in ``count`` because nothing is known of them."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "count": self.count,
            "wanted": self.wanted,
            "passed": self.passed,
            "examples": list(self.examples),
            "without_sample": self.without_sample,
        }


def decide(
    behaviours: Iterable[Behaviour], *, min_self_search: int = MIN_SELF_SEARCH, max_image_code: int = MAX_IMAGE_CODE
) -> tuple[GateFigure, GateFigure]:
    """Both figures. ``examples`` are up to ten questions that show what is missing or wrong, in id order."""
    rows = sorted(behaviours, key=lambda row: row.question_id)
    searched = [row for row in rows if row.self_search]
    silent = [row.question_id for row in rows if not row.self_search]
    unknown = [row.question_id for row in rows if not row.answered]
    wrong = [row.question_id for row in rows if row.image_code and not row.has_picture] + unknown
    search_ok = len(searched) > min_self_search
    code_ok = len(wrong) < max_image_code
    return (
        GateFigure(SELF_SEARCH, len(searched), f"> {min_self_search}", search_ok, [] if search_ok else silent[:SHOWN]),
        GateFigure(
            IMAGE_CODE,
            len(wrong),
            f"< {max_image_code}",
            code_ok,
            [] if code_ok else wrong[:SHOWN],
            len(unknown),
        ),
    )
