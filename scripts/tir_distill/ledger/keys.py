"""Which searches are the same search (seed section 12: one bill per normalised query)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from ..records.hashing import digest


def normalise_query(query: str) -> str:
    """Full-width and composed forms, case and white space levelled; the order of words is kept.

    NFKC twice, because folding case can leave a form that NFKC would compose. Damaged text (lone surrogates) is
    replaced, so that it can be sent and stored at all.
    """
    sound = query.encode("utf-8", "replace").decode("utf-8")
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", sound).casefold())
    return " ".join(folded.split())


def search_key(query: str, backend: str, params: Mapping[str, Any]) -> str:
    """sha256 hex that names one cached answer: the query as it counts, where it was asked, and how."""
    return digest({"kind": "search", "query": normalise_query(query), "backend": backend, "params": dict(params)})


def page_key(url: str) -> str:
    """sha256 hex that names one cached page. URLs are compared as written: servers may tell them apart."""
    return digest({"kind": "page", "url": url})
