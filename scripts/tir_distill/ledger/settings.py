"""The ledger's part of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS_PER_DAY = 86_400.0
RESULTS_PER_CREDIT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSettings:
    """Limits of a run, and how long things are kept. Holds no secret: PostgreSQL's password comes from PGPASSWORD."""

    qps: float = 8.0
    """Paid requests a second, over all processes of the ledger (seed section 12: the account allows 10)."""
    max_tokens_total: int | None = None
    max_usd_total: float | None = None
    usd_per_search: float = 0.0
    """Price of one credit; a search is counted with the credits that its answer names."""
    credits_per_search: float = 1.0
    """Credits that a search under way is expected to take. Serper takes two for more than ten results."""
    usd_per_million_tokens: float = 0.0
    cache_max_age_s: float | None = None
    """Age after which an answer is bought again; None: never."""
    max_page_bytes: int = 2_000_000
    """Pages whose JSON is larger are handed over but not kept."""
    lease_s: float = 30.0
    """How long a reservation outlives the last sign of life of its owner. On the same machine a dead owner is noticed
    at once; the time only matters for other machines."""
    unrecorded: Path | None = None
    """File for searches that were paid for while the database was away; taken in at the next start."""
    poll_s: float = 0.1
    """How often a process looks whether answers that others fetch have come: one read for all that it waits for."""

    @property
    def usd_held_per_search(self) -> float:
        """What a search under way is spoken for with."""
        return self.usd_per_search * self.credits_per_search

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LedgerSettings:
        budgets, ledger = config["budgets"], config["ledger"]
        days = ledger["cache_max_age_days"]
        return cls(
            qps=float(budgets["serper_qps"]),
            max_tokens_total=budgets["max_tokens_total"],
            max_usd_total=budgets["max_usd_total"],
            usd_per_search=budgets["usd_per_search"],
            credits_per_search=2.0 if config["search"]["results"] > RESULTS_PER_CREDIT else 1.0,
            usd_per_million_tokens=budgets["usd_per_million_tokens"],
            cache_max_age_s=None if days is None else days * SECONDS_PER_DAY,
            unrecorded=Path(config["paths"]["state"]) / "unrecorded_searches.jsonl",
        )


def ledger_url(config: Mapping[str, Any], root: Path | None = None) -> str:
    """The configured database, or SQLite in ``paths.state``, shared by all runs (RULINGS 1).

    ``root``: folder that ``paths.state`` is relative to; the working folder when left out.
    """
    url = config["ledger"]["url"]
    if url:
        return str(url)
    return f"sqlite:///{(root or Path.cwd()) / config['paths']['state'] / 'ledger.sqlite'}"
