"""Terms of each data set, from ``resources/licences.yaml``, joined with what was actually fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.errors import TirError
from ..records.jsonl import read_json
from ..records.licences import forbids_commerce


@dataclass(frozen=True, slots=True)
class SourceTerms:
    """One source as the manifest and the card state it."""

    id: str
    repo: str
    hub: str
    revision: str
    licence: str
    licence_upstream: str
    """What the hub's own card says; empty when it says nothing."""
    use: str
    """``questions`` or ``evaluation``."""
    non_commercial: bool
    notes: str
    rows: int | None
    files: Mapping[str, str]
    """Path on the hub -> sha256."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "use": self.use,
            "repo": self.repo,
            "hub": self.hub,
            "revision": self.revision,
            "licence": self.licence,
            "licence_upstream": self.licence_upstream,
            "non_commercial": self.non_commercial,
            "notes": self.notes,
            "rows": self.rows,
            "files": dict(self.files),
        }


def read_terms(locks: Sequence[Path], table: Path, question_sources: Sequence[str]) -> list[SourceTerms]:
    """Terms by source id. Raises TirError for a lock that is none; a source missing from the table only lacks notes."""
    import yaml

    known = yaml.safe_load(table.read_text(encoding="utf-8"))["sources"]
    out = []
    for path in locks:
        lock = read_json(path)
        try:
            entry = known.get(lock["source"], {})
            out.append(
                SourceTerms(
                    id=lock["source"],
                    repo=lock["repo"],
                    hub=lock["hub"],
                    revision=lock["revision"],
                    licence=lock["licence"],
                    licence_upstream=lock["licence_upstream"],
                    use="questions" if lock["source"] in question_sources else "evaluation",
                    non_commercial=bool(entry.get("non_commercial")) or forbids_commerce(lock["licence"]),
                    notes=" ".join(str(entry.get("notes", "")).split()),
                    rows=lock["rows"],
                    files={file["path"]: file["sha256"] for file in lock["files"]},
                )
            )
        except (KeyError, TypeError) as error:
            raise TirError(f"{path}: not a lock file ({error}); fetch the source again") from error
    return sorted(out, key=lambda terms: terms.id)
