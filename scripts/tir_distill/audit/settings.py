"""Thresholds of the audit, and which of them each kind of file must meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..records import UsageError

ProfileName = Literal["distilled", "legacy_python", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a kind of file must be; checks 1 to 3, 5, 6, pictures, loader, duplicates and secrets hold for all."""

    name: str
    our_keys: bool
    """Keys and types exactly as the exporter writes them; otherwise as in the file's first row."""
    provenance: bool
    """Licence and lineage are required."""
    picture_places: bool
    """Picture tags stand first in the question and last in a result, as the exporter puts them."""
    plain_pictures: bool
    """Pictures are RGB or grey, upright, of one frame, as the sources store them; trainers convert what is not."""
    one_row_a_question: bool
    """A question stands in the file once; otherwise several trajectories of one question are sound."""
    one_answer: bool
    """A row answers once, in its last turn: a student that answers and goes on is stopped in the middle of it."""
    python_cells: bool
    """What is given to python is Python, unless the result says that it was not."""
    one_prompt: bool
    """Every row has the system text and the tools of the first one (seed section 4: one version only)."""
    enforced: frozenset[str]
    """Figures of check 4 that must meet their thresholds; all of them are reported."""
    only_tools: frozenset[str] | None = None
    """Tools that may be declared; None: any."""


PROFILES: Mapping[str, Profile] = {
    "distilled": Profile(
        name="distilled",
        our_keys=True,
        provenance=True,
        picture_places=True,
        plain_pictures=True,
        one_row_a_question=True,
        one_answer=True,
        python_cells=True,
        one_prompt=True,
        enforced=frozenset(
            {
                "self_search_rate",
                "mean_searches",
                "image_code_without_picture",
                "letter_answers",
                "median_think_chars",
                "short_answer_rate",
                "answers_as_reference",
            }
        ),
    ),
    "legacy_python": Profile(
        name="legacy_python",
        our_keys=False,
        provenance=False,
        picture_places=False,
        plain_pictures=False,
        one_row_a_question=False,
        one_answer=True,
        python_cells=True,
        one_prompt=False,
        enforced=frozenset({"image_code_without_picture", "letter_answers"}),
        only_tools=frozenset({"python"}),
    ),
    "any": Profile(
        name="any",
        our_keys=False,
        provenance=False,
        picture_places=False,
        plain_pictures=False,
        one_row_a_question=False,
        one_answer=False,
        python_cells=False,
        one_prompt=False,
        enforced=frozenset(),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """Sections ``audit``, ``max_length`` and ``filters`` of the configuration."""

    profile: Profile
    min_self_search_rate: float
    min_mean_searches: float
    max_image_code_text: int
    max_letter_answers: int
    min_median_think_chars: int
    max_answer_chars: int
    min_short_answer_rate: float
    min_think_chars: int
    """F10: shortest thinking of a turn."""
    max_length: int
    """Tokens of a whole sequence, the trainer's limit."""
    search_task_types: frozenset[str]
    evaluation_text_fails: bool
    """Evaluation text inside observations fails a row; otherwise it is a warning (the filter decides)."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any], profile: str = "distilled") -> AuditSettings:
        """Raises UsageError for an unknown profile."""
        if profile not in PROFILES:
            raise UsageError(f"profile {profile!r}: expected one of {sorted(PROFILES)}")
        filters = config["filters"]
        return cls(
            profile=PROFILES[profile],
            **config["audit"],
            min_think_chars=filters["min_think_chars"],
            max_length=config["max_length"],
            search_task_types=frozenset(filters["self_search_task_types"]),
            evaluation_text_fails="evaluation_text" in filters["extra"],
        )
