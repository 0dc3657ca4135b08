"""How far a judge can be trusted: its verdicts against a file labelled by hand."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..records import BadRow, Question, Verdict, canonical_json
from .grader import Grader

Z95 = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion with its 95 % Wilson interval."""

    hits: int
    total: int

    def to_dict(self) -> dict[str, Any]:
        low, high = wilson(self.hits, self.total)
        rate = self.hits / self.total if self.total else None
        return {"hits": self.hits, "total": self.total, "rate": rate, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class Calibration:
    """Figures over a labelled file."""

    accuracy: Share
    """Decided verdicts that agree with the label."""
    false_accept: Share
    """Called right, of all that are labelled wrong and were decided."""
    false_reject: Share
    """Called wrong, of all that are labelled right and were decided."""
    undecided: Share
    """Without a verdict, of all rows."""
    paths: Mapping[str, Share]
    """Accuracy by what decided: ``exact``, ``scorer``, ``typed``, ``judge``, ..."""

    def to_dict(self) -> dict[str, Any]:
        names = ("accuracy", "false_accept", "false_reject", "undecided")
        return {name: getattr(self, name).to_dict() for name in names} | {
            "paths": {path: share.to_dict() for path, share in sorted(self.paths.items())}
        }


def wilson(hits: int, total: int, z: float = Z95) -> tuple[float, float]:
    """Wilson score interval of a proportion; (0, 1) when nothing was counted."""
    if not total:
        return 0.0, 1.0
    p = hits / total
    centre = p + z * z / (2 * total)
    spread = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def labelled_case(row: Mapping[str, Any], number: int) -> tuple[Question, str, bool]:
    """One labelled line: ``question``, ``answer`` (reference), ``response``, ``label`` (true: the response is right).

    Optional: ``candidate_answers`` (list, or JSON list in a string), ``bucket``, ``id``, ``images``. Raises BadRow.
    """
    candidates = row.get("candidate_answers", [])
    if isinstance(candidates, list):
        candidates = canonical_json(candidates).decode()
    if not isinstance(row.get("response"), str) or not isinstance(row.get("label"), bool):
        raise BadRow("bad_label", f"row {number}: 'response' must be a string and 'label' true or false")
    question = Question.from_dict(
        {
            "id": str(row.get("id", number)),
            "source": "calibration",
            "bucket": row.get("bucket", "calibration"),
            "priority": "P0",
            "phase": "pilot",
            "task_type": "image_search",
            "question": row.get("question"),
            "answer": row.get("answer"),
            "candidate_answers": candidates,
            "images": row.get("images", []),
        }
    )
    return question, row["response"], row["label"]


async def calibrate(grader: Grader, cases: Iterable[tuple[Question, str, bool]]) -> Calibration:
    """Grade every case as a run would, and compare with the labels. Raises Stopped."""
    rows = list(cases)
    verdicts = await asyncio.gather(*(grader.grade(question, response) for question, response, _ in rows))
    return summarise([(verdict, label) for verdict, (_, _, label) in zip(verdicts, rows, strict=True)])


def summarise(pairs: list[tuple[Verdict, bool]]) -> Calibration:
    """Figures from verdicts and labels."""
    decided = [(verdict, label) for verdict, label in pairs if verdict.correct is not None]

    def share(among: list[tuple[Verdict, bool]], want: bool) -> Share:
        """Of ``among``, those whose verdict equals the label (``want``) or differs from it."""
        return Share(sum((verdict.correct is label) is want for verdict, label in among), len(among))

    return Calibration(
        accuracy=share(decided, True),
        false_accept=share([pair for pair in decided if not pair[1]], False),
        false_reject=share([pair for pair in decided if pair[1]], False),
        undecided=Share(len(pairs) - len(decided), len(pairs)),
        paths={
            path: share([pair for pair in decided if pair[0].path == path], True)
            for path in {verdict.path for verdict, _ in decided}
        },
    )
