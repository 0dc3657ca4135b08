"""Thresholds of the filters, from the configuration, with a hash that names them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..records import UsageError, digest

RULES_VERSION = 3
"""Part of the settings' hash: raised when a rule changes its meaning, so that old and new verdicts stay apart."""

EXTRA_RULES = ("unsupported_answer", "mixed_language", "repeated_ngrams", "empty_search", "evaluation_text")
"""Rules that are off unless named in ``filters.extra``, in the order of evaluation."""


class EvaluationText(Protocol):
    """Finds text of an evaluation set inside an observation. Handed in: it is built from the fingerprints."""

    @property
    def digest(self) -> str:
        """Names the fingerprints used."""
        ...

    def find(self, text: str) -> str | None:
        """``<set>:<id>`` of the first item whose text is there, else None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraThresholds:
    """Limits of the rules that are off by default."""

    mixed_language_share: float = 0.25
    """``mixed_language``: share of the rarer script (CJK characters against Latin words) in one turn's thinking."""
    mixed_language_min: int = 40
    """... for thinking of at least this many characters and words together."""
    ngram: int = 8
    """``repeated_ngrams``: words (or CJK characters) in one n-gram."""
    repeated_share: float = 0.3
    """... share of n-grams in one turn that occurred before in it."""
    repeated_min: int = 60
    """... for turns of at least this many words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSettings:
    """Everything that decides whether a trajectory is accepted (seed sections 5, 9, 11)."""

    blocked_urls: tuple[str, ...]
    """Regular expressions, matched without regard to case (F2)."""
    self_search_task_types: frozenset[str]
    """Task types that need a search or open of the teacher's own (F3)."""
    min_assistant_tokens: int = 200
    min_assistant_tokens_reasoning: int = 100
    """Lower bound of F9 for ``image_reasoning``."""
    max_assistant_tokens: int = 6000
    min_think_chars: int = 20
    """F10, for every turn."""
    max_length: int = 24_000
    """F11, tokens of the whole sequence."""
    extra: frozenset[str] = frozenset()
    thresholds: ExtraThresholds = ExtraThresholds()
    evaluation: EvaluationText | None = field(default=None, compare=False)
    """Needed by ``evaluation_text``, which finds nothing without it; the filter stage refuses to start then."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any], *, evaluation: EvaluationText | None = None) -> FilterSettings:
        """From ``filters`` and ``max_length``. Raises UsageError for a pattern that is no regular expression."""
        section = config["filters"]
        for pattern in section["blocked_urls"]:
            try:
                re.compile(pattern)
            except re.error as error:
                raise UsageError(f"filters.blocked_urls: {pattern!r} is no regular expression ({error})") from None
        return cls(
            blocked_urls=tuple(section["blocked_urls"]),
            self_search_task_types=frozenset(section["self_search_task_types"]),
            min_assistant_tokens=section["min_assistant_tokens"],
            min_assistant_tokens_reasoning=section["min_assistant_tokens_reasoning"],
            max_assistant_tokens=section["max_assistant_tokens"],
            min_think_chars=section["min_think_chars"],
            max_length=config["max_length"],
            extra=frozenset(section["extra"]),
            thresholds=ExtraThresholds(**section.get("thresholds", {})),
            evaluation=evaluation,
        )

    @property
    def hash(self) -> str:
        """sha256 over every value; two runs with the same hash accept the same samples."""
        return _hash(self, self.evaluation.digest if self.evaluation else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for ``stats.json``."""
        return {
            "blocked_urls": list(self.blocked_urls),
            "self_search_task_types": sorted(self.self_search_task_types),
            "min_assistant_tokens": self.min_assistant_tokens,
            "min_assistant_tokens_reasoning": self.min_assistant_tokens_reasoning,
            "max_assistant_tokens": self.max_assistant_tokens,
            "min_think_chars": self.min_think_chars,
            "max_length": self.max_length,
            "extra": sorted(self.extra),
            "thresholds": {name: getattr(self.thresholds, name) for name in ExtraThresholds.__slots__},
        }


@functools.lru_cache(maxsize=64)
def _hash(settings: FilterSettings, evaluation_digest: str) -> str:
    return digest([RULES_VERSION, settings.to_dict(), evaluation_digest])
