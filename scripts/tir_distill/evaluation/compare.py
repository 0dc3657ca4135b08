"""Two students on the same questions, paired: who got which, and whether that can be chance (McNemar, exact)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..records import TirError
from .intervals import mcnemar
from .observed import Observed, first_samples

FIGURES: Mapping[str, Callable[[Observed], bool]] = {
    "official": lambda row: row.official,
    "guarded": lambda row: row.guarded is True,
    "self_search": lambda row: row.self_search,
    "image_code_without_picture": lambda row: row.image_code and not row.has_picture,
    "answered": lambda row: row.answered,
}


def compare(mine: Iterable[Observed], other: Iterable[Observed]) -> dict[str, Any]:
    """Per figure: how many questions both have, one of the two, neither, and the p-value. Raises TirError when the runs
    share no question.
    """
    first, second = first_samples(mine), first_samples(other)
    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise TirError("the two runs have no question in common")
    out: dict[str, Any] = {
        "questions": len(shared),
        "only_in_first": len(first) - len(shared),
        "only_in_second": len(second) - len(shared),
    }
    for name, holds in FIGURES.items():
        pairs = [(holds(first[key]), holds(second[key])) for key in shared]
        only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
        out[name] = {
            "both": pairs.count((True, True)),
            "first_only": only_first,
            "second_only": only_second,
            "neither": pairs.count((False, False)),
            "p": mcnemar(only_first, only_second),
        }
    return out


def table(result: Mapping[str, Any], first: str, second: str) -> str:
    """The comparison in lines."""
    lines = [f"{first} against {second} on {result['questions']} questions"]
    for name in FIGURES:
        row = result[name]
        lines.append(
            f"{name}: {row['both'] + row['first_only']} against {row['both'] + row['second_only']}"
            f" (only first {row['first_only']}, only second {row['second_only']}, p = {row['p']:.4f})"
        )
    return "\n".join(lines)
