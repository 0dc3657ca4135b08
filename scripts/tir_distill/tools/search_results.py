"""Search results, whatever the provider: title, url, snippet, date; and the text that the model reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

NO_RESULTS = "No results."


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One hit. Each field is a single line."""

    title: str
    url: str
    snippet: str
    date: str | None = None

    @classmethod
    def of(cls, title: object, url: object, snippet: object, date: object = None) -> SearchResult | None:
        """From whatever a provider sent; None when it has no URL."""
        address = one_line(url)
        if not address:
            return None
        return cls(
            title=one_line(title) or address, url=address, snippet=one_line(snippet), date=one_line(date) or None
        )

    def to_dict(self) -> dict[str, Any]:
        """For the cache; without the date when there is none."""
        row: dict[str, Any] = {"title": self.title, "url": self.url, "snippet": self.snippet}
        return row | {"date": self.date} if self.date else row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> SearchResult:
        return cls(title=row["title"], url=row["url"], snippet=row["snippet"], date=row.get("date"))


def one_line(value: object) -> str:
    """Text with all white space, line ends included, as single spaces; empty for anything that is no text."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def distinct(results: Iterable[SearchResult | None], limit: int) -> list[SearchResult]:
    """The first ``limit`` results with different URLs."""
    by_url: dict[str, SearchResult] = {}
    for result in results:
        if result is not None:
            by_url.setdefault(result.url, result)
    return list(by_url.values())[:limit]


def render(results: Iterable[SearchResult]) -> str:
    """The text of the tool message."""
    blocks = []
    for number, result in enumerate(results, start=1):
        lines = [f"{number}. {result.title}", f"URL: {result.url}"]
        if result.date:
            lines.append(f"Date: {result.date}")
        if result.snippet:
            lines.append(result.snippet)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) or NO_RESULTS
