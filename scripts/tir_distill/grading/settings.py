"""Settings of the judge, read from the configuration and the environment. The key is never kept here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """How and by whom answers are judged when no rule decides."""

    model: str = "gpt-4o-2024-11-20"
    url: str | None = None
    """Base address of an OpenAI-compatible server (``.../v1``); None: the client's default."""
    key_env: str = "JUDGE_API_KEY"
    """Name of the environment variable that holds the key."""
    enabled: bool = True
    second_model: str | None = None
    """Asked as well, for agreement figures only; the first judge decides."""
    chart_relaxed: frozenset[str] = frozenset()
    """Buckets where ChartQA's 5 % rule also accepts (path ``relaxed``)."""
    attach_image: bool = False
    """Send the question's first picture along; needs an image root."""
    attempts: int = 4
    """Requests for one verdict before it is given up."""
    timeout_s: float = 60.0
    """For one request."""
    backoff_s: float = 0.5
    """First wait after a failed request; doubles each time, and a Retry-After header is never cut short."""
    patience_s: float = 120.0
    """How long one verdict waits through answers of 429 before the run stops."""
    max_tokens: int = 400
    concurrency: int = 16
    breaker: int = 3
    """Verdicts in a row that fail on the way to the judge before the run stops: the endpoint is down."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> JudgeSettings:
        """From the section ``judge`` of the resolved configuration."""
        section = config["judge"]
        return cls(
            model=section["model"],
            url=os.environ.get(section["url_env"]) or None,
            key_env=section["key_env"],
            enabled=section["enabled"],
            second_model=section["second_model"],
            chart_relaxed=frozenset(section["chart_relaxed"]),
            attach_image=section.get("attach_image", False),
        )
