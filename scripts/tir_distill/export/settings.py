"""What the exporter reads from the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import BadRow, Question, digest


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """Licences of the sources, and where the tokenizer is."""

    licences: Mapping[str, str]
    """Bucket -> licence of the source it was drawn from (configuration, ``sources.sets.<name>.licence``)."""
    template_dir: Path | None
    """A tokenizer folder given by the user; None: the packaged vocabulary and the pinned template."""
    config_hash: str
    """Digest of the sections that decide what a row holds; part of each row's lineage."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ExportSettings:
        sets = config["sources"]["sets"]
        folder = config["tokens"]["template_dir"]
        return cls(
            licences={name: sets[entry["source"]]["licence"] for name, entry in config["buckets"].items()},
            template_dir=Path(folder) if folder else None,
            config_hash=digest({key: config[key] for key in ("sampling", "plan", "filters", "max_length", "judge")}),
        )

    def licence_of(self, question: Question) -> str:
        """Raises BadRow when the configuration knows no licence: a row without one cannot be shared."""
        licence = self.licences.get(question.bucket, "")
        if not licence:
            raise BadRow("no_licence", f"bucket {question.bucket!r} is not in the configuration")
        return licence
