"""The ledger's clock as seen from this process, however long a look at it takes.

On a busy machine a process may stand still between reading the ledger's clock and reading its own. So each look only
bounds the difference between the two; the bounds of several looks together are narrow.
"""

from __future__ import annotations

from .store import Moment

FORGET_S = 30.0
"""Clocks drift apart: bounds are kept no longer than this."""


class ClockView:
    """Bounds of ``ledger clock - monotonic clock``."""

    def __init__(self) -> None:
        self._low = self._high = 0.0
        self._since = float("-inf")

    def observe(self, moment: Moment) -> None:
        """The ledger's clock said ``moment.now`` some time between ``before`` and ``after``."""
        low, high = moment.now - moment.after, moment.now - moment.before
        joined = max(low, self._low), min(high, self._high)
        if moment.before - self._since > FORGET_S or joined[0] > joined[1]:  # the latter: a clock was set
            self._low, self._high, self._since = low, high, moment.before
        else:
            self._low, self._high = joined

    def surely(self, at: float) -> float:
        """Monotonic time at which the ledger's clock has certainly reached ``at``."""
        return at - self._low

    def perhaps(self, at: float) -> float:
        """Monotonic time at which the ledger's clock may already have reached ``at``."""
        return at - self._high
