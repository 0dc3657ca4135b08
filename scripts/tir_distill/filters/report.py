"""What the filters say of one trajectory."""

from __future__ import annotations

from typing import NamedTuple

from ..records import Trajectory


class Fail(NamedTuple):
    """One rule that a trajectory does not meet."""

    rule: str
    """``F1`` ... ``F11``, ``judge_failed``, ``malformed_call``, ``rule_error``, or the name of an extra rule."""
    reason: str
    """Snake-case, for counts; the first word says what was wrong, figures follow after a colon."""


class FilterReport(NamedTuple):
    """All rules evaluated; the first that fails is the drop reason."""

    trajectory: Trajectory
    """As repaired (F5), with ``accepted``, ``filter_fails`` and ``filter_hash`` set."""
    fails: tuple[Fail, ...]

    @property
    def accepted(self) -> bool:
        return not self.fails

    @property
    def first(self) -> str | None:
        """Rule that is counted as the reason for the drop."""
        return self.fails[0].rule if self.fails else None
