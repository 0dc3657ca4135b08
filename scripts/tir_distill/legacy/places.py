"""Files of a command that must not be the same: the input would be gone, or one output would hide another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..records import UsageError


def refuse_the_same(files: Mapping[str, Path]) -> None:
    """Raises UsageError for two options that name one file, by whatever path."""
    seen: dict[Path, str] = {}
    for option, path in files.items():
        place = path.resolve()
        same = seen.get(place) or next((other for known, other in seen.items() if _linked(known, place)), None)
        if same is not None:
            raise UsageError(f"{same} and {option} name the same file {path}; give each a file of its own")
        seen[place] = option


def _linked(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
