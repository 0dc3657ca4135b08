"""``metrics.json`` of a student's run: scores and behaviour, each share with its interval; no question text."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .gate import Behaviour, decide
from .intervals import Share, wilson
from .observed import Observed, first_samples

NUMBERS = ("searches", "opens", "python_calls", "turns", "think_chars", "completion_tokens")


def metrics(
    samples: Sequence[Observed],
    questions: Sequence[Mapping[str, Any]],
    *,
    about: Mapping[str, Any],
    rejects: Mapping[str, str] | None = None,
    gate: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """``questions``: lines of the run's question file. ``about``: model, protocol and the like, repeated at the top.

    Scores and behaviour are of each question's first sample; a question without any counts as wrong and as showing
    nothing, so that a model gains nothing by failing. ``rejects``: rows of the set that could not be asked; the same.
    ``gate``: ``min_self_search`` and ``max_image_code`` where they are not the seed's.
    """
    first = first_samples(samples)
    lost = {str(row["id"]): str(row["status"]) for row in questions if row["id"] not in first} | dict(rejects or {})
    total = len(first) + len(lost)
    rows = list(first.values())
    behaviours = [*(row.behaviour for row in rows), *map(Behaviour.unknown, lost)]
    return {
        **about,
        "questions": total,
        "not_asked": dict(sorted(Counter(lost.values()).items())),
        "score": {
            "official": _by_level(rows, lambda row: row.official, total),
            "guarded": _by_level(rows, lambda row: row.guarded is True, total),
            "guarded_undecided": sum(row.guarded is None for row in rows),
            "samples": _over_samples(samples),
        },
        "behaviour": {
            "self_search": wilson(sum(row.self_search for row in rows), total).to_dict(),
            "image_code_without_picture": _of(
                [row for row in rows if not row.has_picture], lambda r: r.image_code
            ).to_dict(),
            "letter_answers": _of(rows, lambda row: row.letter).to_dict(),
            "unanswered": wilson(sum(not row.answered for row in rows) + len(lost), total).to_dict(),
            "truncated": _of(rows, lambda row: row.truncated).to_dict(),
            "per_question": {name: _spread([getattr(row, name) for row in rows]) for name in NUMBERS},
        },
        "tool_errors": _faults(rows),
        "gate": [figure.to_dict() for figure in decide(behaviours, **gate or {})],
    }


def _of(rows: Sequence[Observed], holds: Callable[[Observed], bool]) -> Share:
    return wilson(sum(map(holds, rows)), len(rows))


def _by_level(rows: Sequence[Observed], right: Callable[[Observed], bool], total: int) -> dict[str, Any]:
    """All questions, then each level of the set. A question that was not asked has no level but counts in all."""
    levels: dict[str, list[Observed]] = defaultdict(list)
    for row in rows:
        if row.level:
            levels[f"level {row.level}"].append(row)
    out = {"all": wilson(sum(map(right, rows)), total).to_dict()}
    return out | {name: _of(levels[name], right).to_dict() for name in sorted(levels)}


def _over_samples(samples: Iterable[Observed]) -> dict[str, Any]:
    """The official score over all samples: its mean, and the share of questions that any sample got right."""
    right: dict[str, list[bool]] = defaultdict(list)
    for sample in samples:
        right[sample.question_id].append(sample.official)
    count = sum(map(len, right.values()))
    return {
        "count": count,
        "mean": sum(map(sum, right.values())) / count if count else 0.0,
        "any": wilson(sum(map(any, right.values())), len(right)).to_dict(),
    }


def _spread(values: Sequence[int]) -> dict[str, float]:
    if not values:
        return {"mean": 0.0, "median": 0.0, "max": 0}
    return {
        "mean": round(statistics.fmean(values), 3),
        "median": float(statistics.median(values)),
        "max": max(values),
    }


def _faults(rows: Iterable[Observed]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row.faults)
    return dict(sorted(counts.items()))


def summary(document: Mapping[str, Any]) -> str:
    """The figures that one looks at first."""
    score, behaviour = document["score"], document["behaviour"]
    lines = [f"{document['model']}: {document['questions']} questions, {score['samples']['count']} samples"]
    for name in ("official", "guarded"):
        lines.append(f"{name}: " + ", ".join(f"{level} {_say(share)}" for level, share in score[name].items()))
    for name in ("self_search", "image_code_without_picture", "letter_answers", "unanswered"):
        lines.append(f"{name}: {_say(behaviour[name])}")
    for key, count in document["not_asked"].items():
        lines.append(f"not asked ({key}): {count}")
    return "\n".join(lines)


def _say(share: Mapping[str, Any]) -> str:
    return (
        f"{share['count']}/{share['total']} ({100 * share['share']:.1f} %,"
        f" 95 % {100 * share['low']:.1f} to {100 * share['high']:.1f})"
    )
