"""Ending early and well: signals, stop reasons, the time that conversations under way still get."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from ..records import Stopped

log = logging.getLogger(__name__)

SAME_SIGNAL_S = 0.5
"""A second signal within this time is the first one again: a supervisor's to us, and the same passed on by a shell."""


class Control:
    """One run's will to go on. The first reason to stop stands."""

    def __init__(self, grace_seconds: float) -> None:
        self.grace_seconds = grace_seconds
        self.reason: Stopped | None = None
        self._stopping = asyncio.Event()
        self._cut = asyncio.Event()

    @property
    def stopping(self) -> bool:
        """No new samples from now on."""
        return self.reason is not None

    def stop(self, reason: str, detail: str = "") -> None:
        """Start no further sample; those under way have ``grace_seconds``."""
        if self.reason is None:
            self.reason = Stopped(reason, detail)
            log.warning("stopping (%s): no new samples; those under way have %g s", self.reason, self.grace_seconds)
            self._stopping.set()

    def cut(self) -> None:
        """Do not wait any longer."""
        self._cut.set()

    async def wait_cut(self) -> None:
        """Return when conversations under way are to be cut off."""
        await self._stopping.wait()
        try:
            await asyncio.wait_for(self._cut.wait(), self.grace_seconds)
        except TimeoutError:
            log.warning("grace period over: conversations under way are cut off and go on from their turn next time")

    @contextmanager
    def signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM stop the run; another one after that cuts at once."""
        loop = asyncio.get_running_loop()
        names = (signal.SIGINT, signal.SIGTERM)

        last = float("-inf")

        def on_signal(name: str) -> None:
            nonlocal last
            earlier_s, last = loop.time() - last, loop.time()
            if self.stopping and earlier_s > SAME_SIGNAL_S:
                self.cut()
            self.stop("operator", f"{name} received")

        earlier = [signal.getsignal(number) for number in names]
        for number in names:
            loop.add_signal_handler(number, on_signal, number.name)
        try:
            yield
        finally:
            for number, handler in zip(names, earlier, strict=True):
                loop.remove_signal_handler(number)  # leaves the system's own handler: SIGTERM would kill without a word
                if handler is not None:
                    signal.signal(number, handler)
