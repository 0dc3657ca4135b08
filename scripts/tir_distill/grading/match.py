"""What a comparison of one answer with one reference can say."""

from __future__ import annotations

import enum


class Match(enum.Enum):
    """Three decisions, and "not my kind"."""

    YES = "yes"
    """Certainly the same."""
    NO = "no"
    """Certainly not the same."""
    UNKNOWN = "unknown"
    """Of this kind, but only a judge can tell."""
    NOT_MINE = "not_mine"
    """One side is not of this kind: another comparer may know."""
