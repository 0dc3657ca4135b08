"""The search tool's part of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..ledger import Caps
from ..records import TASK_TYPES
from ..records.blocked_urls import blocked


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How searches are made and shown. Holds no key."""

    backend: str = "serper"
    results: int = 8
    region: Mapping[str, str] = field(default_factory=dict)
    """Handed to the provider as it is, e.g. ``{"gl": "us", "hl": "en"}``."""
    show_blocked: bool = False
    """True: blocked sources stay visible to the model, and F2 drops the sample if it uses one."""
    blocked_urls: tuple[str, ...] = ()
    """Regular expressions, as in ``filters.blocked_urls``."""
    caps: Mapping[str, Caps] = field(default_factory=dict)
    """Task type -> limits."""
    attempts: int = 5
    """Requests for one search before it is given up as an infrastructure fault."""
    first_wait_s: float = 0.5
    """Wait before the second request; doubles each time, up to ``longest_wait_s``, unless the provider names a time."""
    longest_wait_s: float = 30.0
    timeout_s: float = 20.0
    faults_to_stop: int = 8
    """Searches in a row that failed after all their attempts, none succeeding in between: the run stops."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> SearchSettings:
        search = config["search"]
        return cls(
            backend=search["backend"],
            results=search["results"],
            region=dict(search["region"]),
            show_blocked=search["show_blocked"],
            blocked_urls=tuple(config["filters"]["blocked_urls"]),
            caps={name: Caps.from_config(config, name) for name in TASK_TYPES},
        )

    def is_blocked(self, url: str) -> bool:
        """Whether a result points to a source of evaluation data (F2's list), however it is spelled."""
        return blocked(url, self.blocked_urls) is not None
