"""ChartQA's own rule for numbers: within 5 % of the reference. An option per bucket, off by default, reported apart."""

from __future__ import annotations

import math

TOLERANCE = 0.05
"""Relative to the reference, as in the ChartQA paper."""


def _number(text: str) -> float | None:
    text = text.strip()
    try:
        value = float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def relaxed_correct(answer: str, reference: str) -> bool:
    """Numbers within 5 % (a zero reference has no tolerance), other text equal but for case."""
    a, r = _number(answer), _number(reference)
    if a is not None and r:
        return abs(a - r) / abs(r) <= TOLERANCE
    return answer.strip().lower() == reference.strip().lower()
