"""What one room needs from another that it may not import: handed in as an argument (DESIGN section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .trajectory import TokenCounts, Trajectory


class TokenCounter(Protocol):
    """Counts a sample's tokens when it is written (F9, F11)."""

    def count(self, trajectory: Trajectory, image_sizes: Sequence[tuple[int, int]]) -> TokenCounts:
        """``image_sizes``: width and height in pixels of every picture, in the order of their places."""
        ...


class Progress(Protocol):
    """Shows how far long work has come."""

    def update(self, **counts: int | float) -> None:
        """Give the new totals by name (``done=12, accepted=7``)."""
        ...


Settings = Mapping[str, Any]
"""One section of the validated configuration."""
