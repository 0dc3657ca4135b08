"""Which searches are the same search (seed section 12: one bill per normalised query)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from ..records.hashing import digest

UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"), "") | dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A)), ""
)
"""Soft hyphen, zero-width space, word joiner, byte order mark and direction marks: a reader sees none of them. The two
zero-width joiners are not among them, because they tell words of some scripts apart."""
CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


def storable(text: str) -> str:
    """Text without what a database cannot hold: NUL, and lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def normalise_query(query: str) -> str:
    """Full-width and composed forms, case and white space levelled, unseen characters left out; the order of words is
    kept.

    NFKC twice, because folding case can leave a form that NFKC would compose. Damaged text (lone surrogates) is
    replaced, so that it can be sent and stored at all.
    """
    sound = query.encode("utf-8", "replace").decode("utf-8").translate(CONTROLS).translate(UNSEEN)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", sound).casefold())
    return " ".join(folded.split())


def search_key(query: str, backend: str, params: Mapping[str, Any]) -> str:
    """sha256 hex that names one cached answer: the query as it counts, where it was asked, and how."""
    return digest({"kind": "search", "query": normalise_query(query), "backend": backend, "params": dict(params)})


def page_key(url: str) -> str:
    """sha256 hex that names one cached page. URLs are compared as written: servers may tell them apart."""
    return digest({"kind": "page", "url": url})
