"""What a run will cost, before its first paid call: from the configuration, or from a finished run's statistics.

Expected figures are products of means, bucket by bucket: nothing is averaged over buckets, because a multi-hop search
question costs ten times what a chart costs. The largest figures assume that every limit is reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
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
"""Used where nothing was measured. Shares of accepted questions follow seed section 2; the rest are round guesses."""

MEASURED = {
    "samples": "samples_per_question",
    "turns": "turns_per_sample",
    "searches": "searches_billed_per_sample",
    "accepted": "accepted_per_question",
}
"""Rate -> its key in ``per_bucket.<bucket>`` of stats.json; tokens stand one level deeper."""


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
    worst_tokens: int
    usd: float
    worst_usd: float
    accepted: float
    source: str
    """Where the rates come from: ``assumed``, ``measured``, or ``measured on <bucket>``."""


def forecast(
    questions: Iterable[Question], config: Mapping[str, Any], stats: Mapping[str, Any] | None = None
) -> list[Line]:
    """One line per bucket and task type, in the order of the questions.

    ``stats``: a finished run's stats.json. A bucket that the run did not sample takes the figures of those buckets of
    its task type that it did, or the assumed ones. Raises UsageError when the statistics cannot serve at all.
    """
    counts: Counter[tuple[str, str]] = Counter((question.bucket, question.task_type) for question in questions)
    measured = _buckets(stats) if stats is not None else {}
    return [
        _line(bucket, task, count, config, *_rates(bucket, task, measured)) for (bucket, task), count in counts.items()
    ]


def _buckets(stats: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The figures per bucket. Raises UsageError when there are none."""
    buckets = stats.get("per_bucket")
    if not isinstance(buckets, Mapping):
        raise UsageError("the statistics lack 'per_bucket': give the stats.json of a run finished by this version")
    found = {name: entry for name, entry in buckets.items() if isinstance(entry, Mapping) and entry.get("samples")}
    if not found:
        raise UsageError("the statistics are of an empty run: give the stats.json of a finished run")
    return found


def _rates(bucket: str, task_type: str, measured: Mapping[str, Mapping[str, Any]]) -> tuple[Rates, str]:
    """Rates of a bucket and the word for where they come from."""
    assumed = ASSUMED[task_type]
    if bucket in measured:
        return _measured(measured[bucket], assumed), "measured"
    alike = {name: entry for name, entry in measured.items() if entry.get("task_types") == [task_type]}
    if not alike:
        return assumed, "assumed"
    name = max(alike, key=lambda name: (alike[name].get("questions") or 0, name))
    return _measured(alike[name], assumed), f"measured on {name}"


def _measured(entry: Mapping[str, Any], assumed: Rates) -> Rates:
    """A bucket's means; the assumed one where a figure was not measured (a server that states no tokens)."""
    tokens = entry.get("tokens_per_sample")
    values = {name: entry.get(key) for name, key in MEASURED.items()}
    values["tokens"] = tokens.get("total") if isinstance(tokens, Mapping) else None
    return Rates(
        **{
            field.name: float(value) if isinstance(value := values[field.name], int | float) else default
            for field in fields(Rates)
            for default in [getattr(assumed, field.name)]
        }
    )


def _line(bucket: str, task_type: str, count: int, config: Mapping[str, Any], rates: Rates, source: str) -> Line:
    plan, limits = PlanSettings.from_config(config, task_type), Limits.from_config(config, task_type)
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
        worst_tokens=worst_tokens,
        usd=searches * per_search + tokens * per_token,
        worst_usd=worst_searches * per_search + worst_tokens * per_token,
        accepted=count * min(rates.accepted, 1.0),
        source=source,
    )


HEAD = ("bucket", "questions", "samples", "turns", "searches", "tokens", "USD", "accepted", "rates")


def table(lines: Iterable[Line]) -> str:
    """The forecast as text: expected, and in brackets the most that the limits allow."""
    lines = list(lines)
    rows = [HEAD, *(_row(line) for line in lines), _row(_total(lines))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i in (0, len(HEAD) - 1) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _total(lines: Iterable[Line]) -> Line:
    lines = list(lines)
    sums = {
        field.name: sum(getattr(line, field.name) for line in lines)
        for field in fields(Line)
        if field.name not in ("bucket", "source")
    }
    return Line(bucket="total", source="", **sums)


def _row(line: Line) -> tuple[str, ...]:
    return (
        line.bucket,
        f"{line.questions:,}",
        f"{line.samples:,.0f} (<= {line.worst_samples:,})",
        f"{line.turns:,.0f} (<= {line.worst_turns:,})",
        f"{line.searches:,.0f} (<= {line.worst_searches:,})",
        f"{line.tokens / 1e6:,.1f} M (<= {line.worst_tokens / 1e6:,.0f} M)",
        f"{line.usd:,.2f} (<= {line.worst_usd:,.2f})",
        f"{line.accepted:,.0f}",
        line.source,
    )
