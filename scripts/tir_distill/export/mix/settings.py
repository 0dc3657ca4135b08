"""What a training mix is made of (configuration, ``mixes.<name>``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...records import UsageError


@dataclass(frozen=True, slots=True)
class Part:
    """One file of rows in a mix. Its place in the list decides who stays when two parts hold the same question."""

    name: str
    path: Path
    row_root: Path
    """Folder that the picture paths of this file are relative to."""
    weight: float
    """1: every row once; 0.5: half of them, chosen by hash; 2: every row twice."""
    audit: str | None = None
    """Profile of the audit whose row checks each row must pass; None: none, as for a run, which has its own audit."""


def part_name(part: Mapping[str, Any]) -> str:
    """The run, the legacy file or the name that a part is configured under."""
    return str(part.get("run") or part.get("legacy") or part["name"])


def part_path(part: Mapping[str, Any], results: Path) -> Path:
    """Rows of a part: accepted rows of a run, cleaned rows of a legacy file, or any file."""
    if "run" in part:
        return results / str(part["run"]) / "accepted.jsonl"
    if "legacy" in part:
        return results / "legacy" / f"{part['legacy']}_clean.jsonl"
    return Path(part["file"])


def part_profile(part: Mapping[str, Any]) -> str | None:
    """The audit profile of a part's rows; None for a run, and for a file that names none."""
    if "run" in part:
        return None
    if "legacy" in part:
        return "legacy_python"
    profile = part.get("audit", "any")
    return None if profile is None else str(profile)


@dataclass(frozen=True, slots=True)
class MixSettings:
    """A mix, without its parts' contents."""

    name: str
    parts: tuple[Part, ...]
    seed: int
    validation_share: float
    cap_per_source: int | None
    cap_per_bucket: int | None
    non_commercial: bool
    """False: rows whose licence forbids commercial use are left out."""
    near_duplicate_jaccard: float
    near_duplicate_min_units: int
    near_duplicate_bits: int
    """Bits of a perceptual hash in which two files of one picture may differ."""
    max_length: int
    """Tokens; longer rows are dropped (RULINGS 12)."""

    @property
    def root(self) -> Path:
        """Folder that picture paths in the mix are relative to: that of the first part."""
        return self.parts[0].row_root

    @classmethod
    def from_config(cls, config: Mapping[str, Any], name: str) -> MixSettings:
        """Raises UsageError when there is no such mix."""
        if config["mixes"].get(name) is None:
            raise UsageError(f"mixes.{name} is not configured; expected one of {sorted(config['mixes'])}")
        entry = config["mixes"][name]
        results = Path(config["paths"]["results"])
        parts = []
        for part in entry["parts"]:
            path = part_path(part, results)
            root = Path(part["images"]) if part.get("images") else results
            parts.append(Part(part_name(part), path, root, float(part["weight"]), part_profile(part)))
        rules = config["decontamination"]
        return cls(
            name=name,
            parts=tuple(parts),
            seed=config["seed"],
            validation_share=entry["validation_share"],
            cap_per_source=entry["cap_per_source"],
            cap_per_bucket=entry["cap_per_bucket"],
            non_commercial=entry["non_commercial"],
            near_duplicate_jaccard=rules["jaccard_min"],
            near_duplicate_min_units=rules["long_text_min_units"],
            near_duplicate_bits=rules["phash_max_distance"],
            max_length=config["max_length"],
        )
