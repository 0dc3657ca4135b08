"""What a sample shows of the teacher's behaviour, and figures over many (seed sections 8 and 11)."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

from ..records import Trajectory
from ..records.letters import is_letter
from .f03_self_search import self_searches
from .f04_image_code_text import image_code_calls


class Behaviour(NamedTuple):
    """Figures of one sample."""

    searches: int
    opens: int
    python_calls: int
    image_code: int
    """Python calls that handle pictures."""
    letter: bool
    think_chars: int
    """Characters of thinking in all turns."""
    turns: int
    answer_chars: int

    @property
    def self_search(self) -> bool:
        return self.searches + self.opens > 0


def behaviour_of(trajectory: Trajectory) -> Behaviour:
    """Figures of one sample as it stands (repaired or not)."""
    searches, opens = self_searches(trajectory)
    return Behaviour(
        searches=searches,
        opens=opens,
        python_calls=sum(call.name == "python" for turn in trajectory.turns for call in turn.calls),
        image_code=image_code_calls(trajectory),
        letter=is_letter(trajectory.answer),
        think_chars=sum(len(turn.thinking) for turn in trajectory.turns),
        turns=len(trajectory.turns),
        answer_chars=len(trajectory.answer or ""),
    )


class BehaviourFigures:
    """Sums and quantiles over samples; a few bytes per sample."""

    def __init__(self) -> None:
        self._samples = 0
        self._self_search = 0
        self._letters = 0
        self._image_code = 0
        self._searches = array("L")
        self._opens = array("L")
        self._think = array("L")
        self._turns = array("L")

    def add(self, sample: Behaviour) -> None:
        self._samples += 1
        self._self_search += sample.self_search
        self._letters += sample.letter
        self._image_code += sample.image_code > 0
        self._searches.append(sample.searches)
        self._opens.append(sample.opens)
        self._think.append(sample.think_chars)
        self._turns.append(sample.turns)

    def to_dict(self) -> dict[str, Any]:
        """Rates are shares of samples; quantiles are of values that occurred (nearest rank)."""
        total = self._samples
        return {
            "samples": total,
            "self_search": self._self_search,
            "self_search_rate": round(self._self_search / total, 4) if total else None,
            "searches": sum(self._searches),
            "searches_mean": round(sum(self._searches) / total, 4) if total else None,
            "searches_max": max(self._searches, default=0),
            "opens": sum(self._opens),
            "turns_mean": round(sum(self._turns) / total, 4) if total else None,
            "think_chars": {f"p{q}": quantile(self._think, q) for q in (5, 25, 50, 75, 95)},
            "letter_answers": self._letters,
            "image_code": self._image_code,
        }


def quantile(values: array[int], percent: int) -> int | None:
    """Nearest-rank quantile: the smallest value that at least ``percent`` of the values do not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]
