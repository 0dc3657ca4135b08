"""One answered question as the figures see it: read once from a trajectory, the conversation let go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..filters.behaviour import behaviour_of
from ..filters.f04_image_code_text import writes_image_code
from ..records import BadRow, TirError, Trajectory, read_jsonl
from .gate import Behaviour
from .official import guarded, official


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Figures of one sample."""

    question_id: str
    sample: int
    level: str
    """Empty where the set has no levels."""
    has_picture: bool
    official: bool
    guarded: bool | None
    """None: rules cannot tell."""
    answered: bool
    truncated: bool
    letter: bool
    self_search: bool
    image_code: bool
    """Picture code that was run or only written out (F4)."""
    searches: int
    opens: int
    python_calls: int
    turns: int
    think_chars: int
    completion_tokens: int
    faults: Mapping[str, int]
    """Tool results that told the model of a mistake, by ``<tool> <class>``."""

    @property
    def behaviour(self) -> Behaviour:
        return Behaviour(self.question_id, self.has_picture, self.self_search, self.image_code)


def observe(trajectory: Trajectory) -> Observed:
    """What one sample shows."""
    question, figures = trajectory.question, behaviour_of(trajectory)
    return Observed(
        question_id=question.id,
        sample=trajectory.sample_index,
        level=str(question.meta.get("level", "")),
        has_picture=bool(question.images),
        official=official(trajectory.answer, question.references),
        guarded=guarded(question, trajectory.answer),
        answered=trajectory.stop == "answer",
        truncated=trajectory.stop == "truncated",
        letter=figures.letter,
        self_search=figures.self_search,
        image_code=figures.image_code > 0 or writes_image_code(trajectory),
        searches=figures.searches,
        opens=figures.opens,
        python_calls=figures.python_calls,
        turns=figures.turns,
        think_chars=figures.think_chars,
        completion_tokens=sum(turn.usage.completion_tokens for turn in trajectory.turns),
        faults=dict(Counter(_faults(trajectory))),
    )


def _faults(trajectory: Trajectory) -> Iterator[str]:
    for turn in trajectory.turns:
        calls = {call.id: call for call in turn.calls}
        for result in turn.results:
            call = calls.get(result.call_id)
            if result.meta.get("cap"):
                yield f"{result.name} over_limit"
            elif result.status == "model_error":
                malformed = call.malformed if call is not None else None
                kind = malformed or result.meta.get("cell") or ("blocked" if result.meta.get("blocked") else "failed")
                yield f"{result.name} {kind}"


def read_observed(path: Path) -> list[Observed]:
    """All samples of a trajectory file, streaming. Raises TirError for a line that is no trajectory."""
    out = []
    for number, row in enumerate(read_jsonl(path), start=1):
        try:
            out.append(observe(Trajectory.from_dict(row)))
        except (KeyError, TypeError, ValueError, AttributeError, BadRow) as error:
            raise TirError(f"{path}:{number}: no trajectory ({error!r})") from None
    return out


def first_samples(samples: Iterable[Observed]) -> dict[str, Observed]:
    """Question id -> its first sample: what scores, gate and comparison look at."""
    out: dict[str, Observed] = {}
    for sample in samples:
        known = out.get(sample.question_id)
        if known is None or sample.sample < known.sample:
            out[sample.question_id] = sample
    return out


def read_total(path: Path) -> list[dict[str, Any]]:
    """Lines of the run's question file: every question, also those that could not be asked.

    Raises TirError for a line without an id.
    """
    rows = list(read_jsonl(path))
    for number, row in enumerate(rows, start=1):
        if not isinstance(row.get("id"), str):
            raise TirError(f"{path}: question {number} has no id; run the student's evaluation again")
    return rows
