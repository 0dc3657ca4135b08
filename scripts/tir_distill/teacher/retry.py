"""When to try again, and when to give up on the endpoint as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..records import Stopped
from .faults import FaultKind, TeacherFault


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Tries of one request, all of them outside the sample count k (seed section 12).

    Written here and not taken from a retry library because the wait depends on the answer: a ``Retry-After`` is a lower
    bound that no jitter may cut short, and a wait beyond ``longest_wait_s`` is not worth a held conversation.
    """

    attempts: int = 5
    """Tries in all, the first included."""
    attempts_of: Mapping[FaultKind, int] = field(
        default_factory=lambda: {"refused": 2, "context_length": 1, "bad_request": 1}
    )
    """Fewer tries for faults that come back: content inspection gets one more (seed section 9), the others none."""
    first_wait_s: float = 1.0
    factor: float = 2.0
    jitter: float = 0.5
    """Up to this share is added to a wait, so that conversations do not come back in step."""
    max_wait_s: float = 60.0
    """Of our own back-off."""
    longest_wait_s: float = 600.0
    """A ``Retry-After`` above this ends the tries; the question is deferred."""

    def wait(self, tries: int, fault: TeacherFault, chance: float) -> float | None:
        """Seconds to wait after ``tries`` failed tries, or None to give up. ``chance``: uniform in [0, 1)."""
        if tries >= min(self.attempts, self.attempts_of.get(fault.kind, self.attempts)):
            return None
        back_off = min(self.max_wait_s, self.first_wait_s * self.factor ** (tries - 1))
        asked = fault.retry_after or 0.0
        if asked > self.longest_wait_s:
            return None
        return max(back_off, asked) + chance * self.jitter * max(back_off, min(asked, back_off))


@dataclass(slots=True)
class Breaker:
    """Stops the run when the endpoint answers nobody, rather than deferring every question one by one.

    It trips when requests of ``limit`` different questions have used up their tries in a row without one success
    between, and more often than there are first tries still waiting: neither a slow server that works on many long
    replies nor one question that makes it hang is a saturated endpoint.
    """

    limit: int = 3
    in_a_row: int = 0
    unanswered: set[str] = field(default_factory=set)
    """Questions that have used up a request's tries since the last success; those without a name count one by one."""
    waiting_first: int = 0
    """Requests on their first try that have not been answered yet."""
    answered: bool = False
    """Whether there was any success at all."""
    tripped: Stopped | None = None

    def success(self) -> None:
        self.answered = True
        self.in_a_row = 0
        self.unanswered.clear()

    def exhausted(self, fault: TeacherFault, question: str = "", *, opening: bool = False) -> None:
        """A request gave up. Raises Stopped when that was one too many. ``opening``: the first of its conversation."""
        if fault.kind == "refused":  # says something of the request, nothing of the endpoint
            return
        too_long = fault.kind == "context_length"
        if too_long and (self.answered or not opening):  # the same; but when not one question fits, it is the settings
            return
        self.in_a_row += 1
        self.unanswered.add(question or f"request {self.in_a_row}")
        if len(self.unanswered) < self.limit or self.in_a_row < self.waiting_first:
            return
        if too_long:
            self.trip(
                "context_length",
                f"the first requests of {len(self.unanswered)} questions do not fit into the served context, and none"
                f" does: lower --max-tokens or serve a longer context; last: {fault.detail}",
            )
        else:
            self.trip(
                "endpoint_saturated",
                f"{self.in_a_row} requests in a row used up their tries without one answer between; last: {fault}",
            )

    def trip(self, reason: str, detail: str) -> None:
        """Stop now and for every later request. Raises Stopped."""
        if self.tripped is None:
            self.tripped = Stopped(reason, detail)
        self.check()

    def check(self) -> None:
        """Raises Stopped once tripped."""
        if self.tripped is not None:
            raise Stopped(self.tripped.reason, self.tripped.detail)
