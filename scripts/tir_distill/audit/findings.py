"""What a check found, and the book in which findings are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

EXCERPTS = 20
"""How many findings are shown with the text around them."""
EXCERPT_CHARS = 160

CHECKS = (
    "1_thinking",
    "2_shape",
    "3_truncation",
    "4_behaviour",
    "5_overlap",
    "6_rendering",
    "pictures",
    "loader",
    "duplicates",
    "secrets",
    "licence",
    "lineage",
)
"""1 to 6 as numbered in seed section 11; the others are ours. A deep check adds ``deep``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing wrong in one row, or in the file (``line`` 0)."""

    check: str
    reason: str
    """Short snake_case key, counted."""
    message: int | None = None
    """Index in ``messages``, 0 is the first; None when the row as a whole is meant."""
    detail: str = ""
    excerpt: str = ""
    """Text around the place; empty where it must not be shown (keys)."""


@dataclass
class Book:
    """Findings by check and reason. Memory grows with failures, not with rows."""

    failures: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    excerpts: list[dict[str, Any]] = field(default_factory=list)
    _counts: dict[str, Counter[str]] = field(default_factory=dict)
    _rows: dict[str, set[int]] = field(default_factory=dict)

    def add(self, row_id: str, line: int, findings: Iterable[Finding], *, warning: bool = False) -> int:
        """Write findings of one row down; returns how many there were."""
        count = 0
        for item in guarded(findings):
            count += 1
            entry = {
                "id": row_id,
                "line": line,
                "check": item.check,
                "reason": item.reason,
                "message": item.message,
                "detail": item.detail[:EXCERPT_CHARS],
            }
            if warning:
                self.warnings.append(entry)
                continue
            self.failures.append(entry)
            self._counts.setdefault(item.check, Counter())[item.reason] += 1
            self._rows.setdefault(item.check, set()).add(line)
            if len(self.excerpts) < EXCERPTS and item.excerpt:
                self.excerpts.append({**entry, "excerpt": item.excerpt[:EXCERPT_CHARS]})
        return count

    def table(self, checks: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Check -> rows failed and findings by reason, for every check that was run."""
        return {
            check: {
                "rows_failed": len(self._rows.get(check, ())),
                "reasons": dict(sorted(self._counts.get(check, Counter()).items())),
            }
            for check in checks
        }


def unreadable(error: Exception) -> Finding:
    """An exception that no check foresaw, as a finding of the row that it came up in."""
    return Finding(check="2_shape", reason="unreadable_row", detail=f"{type(error).__name__}: {error}")


def guarded(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of a check, and one more where it breaks off: an odd row must not take the report of all others
    away. What has no end and what has no memory is left to the caller."""
    try:
        yield from findings
    except (RecursionError, MemoryError):
        raise
    except Exception as error:
        yield unreadable(error)


def around(text: str, piece: str) -> str:
    """The text around the first place of ``piece``, or its beginning."""
    place = max(text.find(piece), 0)
    return text[max(0, place - EXCERPT_CHARS // 2) : place + EXCERPT_CHARS // 2]
