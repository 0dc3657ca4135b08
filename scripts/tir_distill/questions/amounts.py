"""How many questions each bucket gives: the configuration's wishes against what there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..records.errors import UsageError
from .settings import SelectionSettings


@dataclass(frozen=True, slots=True)
class Amounts:
    """Resolved numbers of one bucket."""

    count: int
    pilot: int


def resolve(settings: SelectionSettings, available: Mapping[str, int]) -> dict[str, Amounts]:
    """Numbers by bucket, in the order of the configuration.

    ``all`` is everything that is available. The bucket named by ``fill`` takes the total less all others, whatever its
    own count says. Raises UsageError that says how many there are when more is asked for than there is, or when the
    counts do not make the total.
    """
    counts = {
        plan.name: available[plan.name] if plan.count == "all" else plan.count
        for plan in settings.buckets
        if plan.name != settings.fill
    }
    if settings.fill is not None:
        if settings.total is None:
            raise UsageError(
                f"selection.fill is '{settings.fill}' but selection.total is null; give a total to fill up to"
            )
        counts[settings.fill] = settings.total - sum(counts.values())
        if counts[settings.fill] < 0:
            raise UsageError(
                f"selection.total is {settings.total:,}, but the buckets besides '{settings.fill}' already give "
                f"{sum(counts.values()) - counts[settings.fill]:,} ({_list(counts, without=settings.fill)})"
            )
    for name, count in counts.items():
        if count > available[name]:
            wish = f"selection.fill needs {count:,}" if name == settings.fill else f"buckets.{name}.count is {count:,}"
            raise UsageError(
                f"{wish}, but after decontamination and the cap per article bucket {name} has {available[name]:,}; "
                f"lower it, or set it to all and name another bucket in selection.fill"
            )
    if settings.total is not None and sum(counts.values()) != settings.total:
        raise UsageError(
            f"the counts make {sum(counts.values()):,} ({_list(counts)}), selection.total is {settings.total:,}; "
            f"change a count, set total to null, or name the bucket that takes the rest in selection.fill"
        )
    out = {}
    for plan in settings.buckets:
        count = counts[plan.name]
        pilot = count if plan.pilot == "all" else plan.pilot
        if pilot > count:
            raise UsageError(
                f"buckets.{plan.name}.pilot is {pilot:,}, but only {count:,} of its questions are selected"
            )
        out[plan.name] = Amounts(count=count, pilot=pilot)
    return out


def _list(counts: Mapping[str, int], without: str | None = None) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if name != without)
