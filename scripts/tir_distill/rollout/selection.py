"""Sampling only some questions of a run (``--limit``, ``--ids``, ``--priority``) without losing the others.

Outputs are written whole, so a run that looks at a few questions has to know those that came to an end before: it
reads them from the journal and keeps their place in the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..records import Question, UsageError, read_jsonl
from .journal import scan
from .plan import Next
from .sampler import Prepared
from .state import ShardState


@dataclass(frozen=True, slots=True)
class Selection:
    """Which questions are sampled now, and which only keep what they have."""

    ids: frozenset[str] | None
    """None: all of them."""
    concerned: Sequence[Question]
    """Questions to sample and questions that the journal knows, in hand-over order."""
    earlier: Mapping[str, Next]
    """How the questions outside the selection had ended by the last questions file."""

    @classmethod
    def of(
        cls, ids: frozenset[str] | None, questions: Sequence[Question], journal: Path, questions_out: Path
    ) -> Selection:
        """Look into the journal and the last questions file; neither is read when everything is selected."""
        if ids is None:
            return cls(None, questions, {})
        known = {str(event.get("q")) for _, _, event in scan(journal) if event is not None}
        lines = read_jsonl(questions_out) if questions_out.exists() else ()
        earlier = {row["id"]: Next(status=row["status"], reason=row["reason"]) for row in lines if row["id"] not in ids}
        concerned = [question for question in questions if question.id in ids or question.id in known | earlier.keys()]
        return cls(ids, concerned, earlier)

    def of_ready(self, ready: Sequence[Prepared]) -> list[Prepared]:
        """Those that are sampled now."""
        return [item for item in ready if self.ids is None or item.question.id in self.ids]

    def of_ends(self, ends: Mapping[str, Next]) -> dict[str, Next]:
        """Ends of those that are sampled now."""
        return {question_id: end for question_id, end in ends.items() if self.ids is None or question_id in self.ids}

    def as_before(self, ends: Mapping[str, Next], state: ShardState) -> dict[str, Next]:
        """The ends, where a question outside the selection stays ended although a changed plan would sample it on."""
        return {
            question_id: self.earlier[question_id]
            if end.status is None and question_id in self.earlier and state.question(question_id).samples
            else end
            for question_id, end in ends.items()
        }

    def outside(self, ids: Iterable[str]) -> int:
        """How many of them are not in the selection."""
        return 0 if self.ids is None else sum(question_id not in self.ids for question_id in ids)

    def refuse_other_settings(self, state: ShardState, run_dir: Path) -> None:
        """Raise UsageError when questions outside the selection were sampled under settings that no longer hold.

        Sampling a few questions otherwise is a trial, and would take all other rows out of the run's files.
        """
        if self.ids is None:
            return
        lost = [
            question_id
            for question_id in state.stale
            if question_id not in self.ids and not state.question(question_id).samples
        ]
        if lost:
            raise UsageError(
                f"{run_dir}: {len(lost)} questions outside --limit, --ids and --priority (first: {lost[0]}) were"
                " sampled under other settings and would leave the run's files; give another --out, or those settings"
            )
