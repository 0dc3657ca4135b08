"""What the ledger is given, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..records.errors import ExitCode, Stopped, TirError

CapScope = Literal["trajectory", "question", "run"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A provider's answer, already parsed. What could not be parsed is a ``SearchFault``, never a ``Fetched``."""

    payload: Mapping[str, Any]
    """A JSON object; kept in the cache as it is."""
    doubtful: bool = False
    """True for a well-formed answer without results: it is handed over, but the next asker pays once more, and only a
    second empty answer is believed. A provider's hiccup must not stand for "nothing exists" for the whole run."""
    credits: float = 1.0
    """What the provider took, in units of its price for one search."""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What became of one search call."""

    kind: Literal["answer", "cap"]
    scope: CapScope | None
    """The cap that was reached; None for an answer."""
    payload: Mapping[str, Any]
    """The provider's answer; empty at a cap."""
    billed: int
    """1 when this call was paid for, also when a killed trajectory is replayed from the cache; else 0."""
    cached: bool
    """True when another call had paid for the answer."""


class SearchFault(Exception):
    """The provider could not be reached or answered nonsense, after all retries: our side, not the model's."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        """Short snake_case key used in counts: ``timeout``, ``rate_limited``, ``server_error``, ``garbled``, ..."""
        self.detail = detail


class LedgerError(TirError):
    """The ledger's file or server cannot be used."""


class LedgerUrlError(LedgerError):
    """``ledger.url`` is wrong."""

    exit_code = ExitCode.USAGE


class LedgerLost(Stopped):
    """The database failed while a run was under way: nothing new may be paid for, and the same command resumes."""

    def __init__(self, detail: str) -> None:
        super().__init__("ledger_unavailable", detail)


class TokensHeld(Stopped):
    """What is left of the run's tokens or money is spoken for by requests under way. They may use less than that: who
    can wait asks again when one has ended, and for all others the run stops here."""


class LeaseLost(Exception):
    """This process was suspended for so long that its query passed to another one: it must not be sent any more."""


@dataclass(frozen=True, slots=True)
class StopFlag:
    """Why a run takes no new work."""

    reason: str
    """``credits_exhausted``, ``endpoint_saturated``, ``bad_key``, ``corpus_unusable``, ``operator``,
    ``budget_searches``, ``budget_tokens`` or ``budget_usd``."""
    detail: str
    at: float
    """Seconds since the epoch, by the ledger's clock."""

    @property
    def soft(self) -> bool:
        """True: no new samples, but samples under way may still end with a forced answer."""
        return self.reason.startswith("budget_")


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What one run has used so far, over all its processes and re-runs."""

    searches_billed: int
    cache_hits: int
    tokens: int
    usd: float
