"""A shard's two files, written whole and only when each of its questions has come to an end.

Trajectories: one line per finished sample; questions in hand-over order, then by sample index, whatever order they
ended in. Questions: one line each: id, bucket, status, reason, samples, accepted_sample, searches_billed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..records import BadRow, Question, write_jsonl
from .plan import Next
from .state import ShardState


def write_outputs(
    questions: Sequence[Question],
    ends: Mapping[str, Next],
    bad: Mapping[str, BadRow],
    billed: Mapping[str, int],
    state: ShardState,
    *,
    trajectories: Path,
    questions_out: Path,
) -> None:
    """Write both; the questions file last, as the sign that the shard is done."""
    write_jsonl(trajectories, _rows(questions, bad, state))
    write_jsonl(questions_out, (_line(q, ends, bad, billed, state) for q in questions))


def _rows(questions: Sequence[Question], bad: Mapping[str, BadRow], state: ShardState) -> Iterator[dict[str, Any]]:
    for question in questions:
        if question.id not in bad:
            for index in sorted(state.question(question.id).samples):
                yield state.row(question.id, index)


def _line(
    question: Question,
    ends: Mapping[str, Next],
    bad: Mapping[str, BadRow],
    billed: Mapping[str, int],
    state: ShardState,
) -> dict[str, Any]:
    line: dict[str, Any] = {"id": question.id, "bucket": question.bucket}
    if question.id in bad:
        error = bad[question.id]
        status, reason, samples, best = "deferred", f"{error.reason}: {error.detail}", 0, None
    else:
        known = state.question(question.id)
        end = ends[question.id]
        status, reason = str(end.status), end.reason
        samples, best = len(known.samples), known.accepted_sample()
    return {
        **line,
        "status": status,
        "reason": reason,
        "samples": samples,
        "accepted_sample": best,
        "searches_billed": billed.get(question.id, 0),
    }
