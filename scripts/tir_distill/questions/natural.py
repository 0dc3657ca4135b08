"""Ids in the order a reader expects: ``fvqa_train_2`` before ``fvqa_train_10``."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(name: str) -> tuple[tuple[tuple[str, int], ...], str]:
    """Sort key: runs of ASCII digits by value, everything else by code point; the name itself breaks ties."""
    pieces = _DIGITS.split(name)
    numbers = [*map(int, pieces[1::2]), -1]
    return tuple(zip(pieces[0::2], numbers, strict=True)), name
