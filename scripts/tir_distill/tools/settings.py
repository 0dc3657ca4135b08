"""Limits of the tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSettings:
    """Of ``open(url)``."""

    deadline_s: float = 25
    """From the first look-up to the last byte, redirects included. Per read, a slow server could hold on for ever."""
    parse_s: float = 10
    """For one parser in its own process; a second one is tried after it."""
    max_bytes: int = 5_000_000
    """Of a page, packed and unpacked. A PDF may have four times as much."""
    max_pdf_pages: int = 30
    max_redirects: int = 5
    trust_env: bool = False
    """Use the proxy of HTTP_PROXY and HTTPS_PROXY. It resolves names, so it must refuse private addresses itself."""
    per_host: int = 2
    """Connections to one host at the same time."""
    host_delay_s: float = 0.25
    """Between two requests to one host."""
    reader_url_env: str = "READER_URL"
    max_age_s: float | None = None
    """Oldest kept page that is used; None: any."""
    blocked: tuple[str, ...] = ()
    """Patterns of addresses that must not be opened (F2)."""
    ports: tuple[int, ...] = (80, 443)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> OpenSettings:
        """From the sections ``open``, ``filters.blocked_urls`` and ``ledger.cache_max_age_days``."""
        section = config["open"]
        days = config["ledger"]["cache_max_age_days"]
        return cls(
            deadline_s=section["deadline_s"],
            max_bytes=section["max_bytes"],
            max_pdf_pages=section["max_pdf_pages"],
            trust_env=section["trust_env"],
            per_host=section["per_host"],
            reader_url_env=section["reader_url_env"],
            max_age_s=days * 86400 if days is not None else None,
            blocked=tuple(config["filters"]["blocked_urls"]),
        )

    @property
    def max_pdf_bytes(self) -> int:
        return 4 * self.max_bytes
