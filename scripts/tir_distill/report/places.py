"""Where the stages keep their files, as far as a reader of finished work needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.hashing import file_sha256


@dataclass(frozen=True)
class Places:
    """Folders of one configuration (``paths`` in config.yaml) and the runs that it names.

    ``evaluation_runs`` is private and not among them: nothing in this room ever reads it.
    """

    data: Path
    handover: Path
    results: Path
    run_names: tuple[str, ...]

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Places:
        paths = config["paths"]
        names = [name for name, entry in config["runs"].items() if entry is not None]
        return cls(
            data=Path(paths["data"]),
            handover=Path(paths["handover"]),
            results=Path(paths["results"]),
            run_names=("smoke", *names),
        )

    def runs(self) -> list[Path]:
        """Folders of the configured runs that have finished a shard, in the order of the configuration."""
        return [self.results / name for name in self.run_names if any((self.results / name).glob("shards/*/*.jsonl"))]

    def finished_runs(self) -> list[Path]:
        """Those of them that have come to their statistics."""
        return [run for run in self.runs() if (run / "stats.json").exists()]

    def state(self) -> dict[str, str]:
        """Run -> sha256 of its statistics: changes when there is something new to report."""
        return {run.name: file_sha256(run / "stats.json") for run in self.finished_runs()}

    def mixes(self) -> list[Path]:
        """Folders of the training mixes, by name."""
        return sorted(path.parent for path in (self.results / "train").glob("*/MIX.json"))
