"""What a run will cost, before its first paid call: from the configuration, or from a finished pilot's statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..records import Question, UsageError
from .settings import Limits, PlanSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What one question uses on average."""

    samples: float
    turns: float
    """Per sample."""
    tokens: float
    """Per sample, prompts of all its turns included."""
    searches: float
    """Billed, per sample."""
    accepted: float
    """Share of questions."""


ASSUMED = {
    "image_search": Rates(samples=2.6, turns=5, tokens=40_000, searches=5, accepted=0.6),
    "text_search": Rates(samples=2.8, turns=10, tokens=120_000, searches=14, accepted=0.25),
    "image_reasoning": Rates(samples=2.4, turns=3, tokens=20_000, searches=0.3, accepted=0.7),
}
"""Used without a pilot. Shares of accepted questions follow seed section 2; the rest are round guesses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Forecast of one bucket; ``worst``: every limit reached."""

    bucket: str
    questions: int
    samples: float
    worst_samples: int
    turns: float
    worst_turns: int
    searches: float
    worst_searches: int
    tokens: float
    usd: float
    worst_usd: float
    accepted: float


def forecast(
    questions: Iterable[Question], config: Mapping[str, Any], stats: Mapping[str, Any] | None = None
) -> list[Line]:
    """One line per bucket, in the order of the questions.

    ``stats``: a finished run's stats.json. Raises UsageError when it lacks the counts that are needed.
    """
    counts: Counter[tuple[str, str]] = Counter((question.bucket, question.task_type) for question in questions)
    measured = _measured(stats) if stats is not None else None
    return [_line(bucket, task, count, config, measured) for (bucket, task), count in counts.items()]


def _line(bucket: str, task_type: str, count: int, config: Mapping[str, Any], measured: Rates | None) -> Line:
    plan, limits = PlanSettings.from_config(config, task_type), Limits.from_config(config, task_type)
    assumed = ASSUMED[task_type]
    rates = assumed if measured is None or task_type != "image_search" else measured
    samples = count * min(rates.samples, plan.k_max)
    worst_samples = count * plan.k_max
    worst_searches = count * min(plan.max_searches, plan.k_max * limits.max_searches)
    searches = min(samples * rates.searches, worst_searches)
    budgets = config["budgets"]
    per_search, per_token = budgets["usd_per_search"], budgets["usd_per_million_tokens"] / 1e6
    worst_turns = worst_samples * (limits.max_turns + 1)
    worst_tokens = worst_turns * (config["max_length"] + limits.max_tokens)
    tokens = samples * rates.tokens
    return Line(
        bucket=bucket,
        questions=count,
        samples=samples,
        worst_samples=worst_samples,
        turns=samples * min(rates.turns, limits.max_turns + 1),
        worst_turns=worst_turns,
        searches=searches,
        worst_searches=worst_searches,
        tokens=tokens,
        usd=searches * per_search + tokens * per_token,
        worst_usd=worst_searches * per_search + worst_tokens * per_token,
        accepted=count * rates.accepted,
    )


def _measured(stats: Mapping[str, Any]) -> Rates:
    """Means of a finished run. Its turns and tokens are not in every stats.json; then the assumed ones stay."""
    assumed = ASSUMED["image_search"]
    try:
        questions = stats["questions"]["total"]
        samples, requests = stats["samples"], stats["search"]["requests"]
        accepted = stats["questions"]["accepted"]
    except (KeyError, TypeError) as error:
        raise UsageError(f"the statistics lack {error}: give the stats.json of a finished run") from None
    if not questions or not samples:
        raise UsageError("the statistics are of an empty run: give the stats.json of a finished run")
    return Rates(
        samples=samples / questions,
        turns=assumed.turns,
        tokens=stats.get("tokens_per_sample", assumed.tokens),
        searches=requests / samples,
        accepted=accepted / questions,
    )


def table(lines: Iterable[Line]) -> str:
    """The forecast as text: expected, and in brackets the most that the limits allow."""
    head = ("bucket", "questions", "samples", "turns", "searches", "tokens", "USD", "accepted")
    rows = [head]
    total = [0.0] * 11
    for line in lines:
        values = (
            line.questions,
            line.samples,
            line.worst_samples,
            line.turns,
            line.worst_turns,
            line.searches,
            line.worst_searches,
            line.tokens,
            line.usd,
            line.worst_usd,
            line.accepted,
        )
        total = [a + b for a, b in zip(total, values, strict=True)]
        rows.append(_row(line.bucket, values))
    rows.append(_row("total", total))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _row(name: str, v: Iterable[float]) -> tuple[str, str, str, str, str, str, str, str]:
    n, samples, worst_samples, turns, worst_turns, searches, worst_searches, tokens, usd, worst_usd, accepted = v
    return (
        name,
        f"{n:,.0f}",
        f"{samples:,.0f} (<= {worst_samples:,.0f})",
        f"{turns:,.0f} (<= {worst_turns:,.0f})",
        f"{searches:,.0f} (<= {worst_searches:,.0f})",
        f"{tokens / 1e6:,.1f} M",
        f"{usd:,.2f} (<= {worst_usd:,.2f})",
        f"{accepted:,.0f}",
    )
