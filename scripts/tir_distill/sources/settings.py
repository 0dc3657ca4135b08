"""Settings of this room, read from the resolved configuration (keys as in config/config.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..records.errors import UsageError


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One entry of ``sources.sets``: which files of which data set, at which revision."""

    id: str
    repo: str
    """``owner/name`` on the hub, and the folder in a mirror."""
    revision: str
    """Branch, tag or commit; a branch is resolved to a commit and the commit is what the lock records."""
    files: tuple[str, ...]
    """Names or patterns (``*`` also crosses folders)."""
    licence: str
    hub: str = "huggingface"
    """``huggingface``, ``modelscope`` or ``mirror``."""
    mirror: Path | None = None
    tolerant: bool = False
    """The layout upstream is not certain: a pattern without files, other columns or another row count only warn."""
    gated: bool = False
    rows: int | None = None
    """Expected number of table rows over all files; None: not checked."""
    sha256: Mapping[str, str] = field(default_factory=dict)
    """File -> expected sha256 (hex); files that are not named are not checked."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any], source: str) -> SourceSettings:
        """Raises UsageError when the configuration has no such source."""
        section = config["sources"]
        try:
            entry = section["sets"][source]
        except KeyError:
            raise UsageError(f"sources.sets has no '{source}'; expected one of {sorted(section['sets'])}") from None
        return cls(
            id=source,
            repo=entry["repo"],
            revision=str(entry["revision"]),
            files=tuple(entry["files"]),
            licence=entry["licence"],
            hub=entry.get("hub") or section["hub"],
            mirror=Path(section["mirror"]) if section["mirror"] else None,
            tolerant=entry.get("tolerant", False),
            gated=entry.get("gated", False),
            rows=entry.get("rows"),
            sha256=dict(entry.get("sha256") or {}),
        )


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How rows of a bucket or an evaluation set are read."""

    name: str
    """The bucket or the evaluation set."""
    reader: str
    task_type: str = ""
    """Empty for an evaluation set."""
    tolerant: bool = False
    answer_chars: tuple[int, int] = (2, 60)
    """Shortest and longest answer of a multiple-choice source turned open-ended (LiveVQA, seed section 3)."""
    flat_max_std: float = 4.0

    @classmethod
    def for_bucket(cls, config: Mapping[str, Any], bucket: str) -> ReadSettings:
        """Raises UsageError when the configuration has no such bucket."""
        entry = _entry(config, "buckets", bucket)
        low, high = config["selection"]["answer_chars"]
        return cls(
            name=bucket,
            reader=entry["reader"],
            task_type=entry["task_type"],
            tolerant=_tolerant(config, entry["source"]),
            answer_chars=(low, high),
            flat_max_std=float(config["decontamination"]["flat_max_std"]),
        )

    @classmethod
    def for_evaluation(cls, config: Mapping[str, Any], name: str) -> ReadSettings:
        """Raises UsageError when the configuration has no such evaluation set."""
        entry = _entry(config, "evaluation", name)
        return cls(
            name=name,
            reader=entry["reader"],
            tolerant=_tolerant(config, entry["source"]),
            flat_max_std=float(config["decontamination"]["flat_max_std"]),
        )


def _entry(config: Mapping[str, Any], section: str, name: str) -> Mapping[str, Any]:
    try:
        entry: Mapping[str, Any] = config[section][name]
    except KeyError:
        raise UsageError(f"{section} has no '{name}'; expected one of {sorted(config[section])}") from None
    return entry


def _tolerant(config: Mapping[str, Any], source: str) -> bool:
    return bool(config["sources"]["sets"][source].get("tolerant", False))
