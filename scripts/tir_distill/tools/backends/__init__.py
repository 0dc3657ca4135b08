"""Search providers behind one interface. Which one is used is configuration (``search.backend``)."""

from __future__ import annotations

from ...records import UsageError
from ..search_settings import SearchSettings
from .base import ProviderStop, QueryRefused, SearchBackend, TryAgain


def backend_from_env(settings: SearchSettings) -> SearchBackend:
    """The configured provider, with its address and key from the environment. Raises UsageError."""
    if settings.backend == "serper":
        from .serper import SerperBackend

        return SerperBackend.from_env(settings)
    if settings.backend == "searxng":
        from .searxng import SearxngBackend

        return SearxngBackend.from_env(settings)
    if settings.backend == "corpus":
        from .corpus import CorpusBackend

        return CorpusBackend.from_env(settings)
    raise UsageError(f"search.backend is {settings.backend!r}; expected serper, searxng or corpus")


__all__ = ["ProviderStop", "QueryRefused", "SearchBackend", "TryAgain", "backend_from_env"]
