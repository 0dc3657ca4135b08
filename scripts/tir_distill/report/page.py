"""One HTML page over the runs: figures from stats.json and audit.json, and some trajectories to read through.

Model and web text stands in it, so everything is escaped, and the page forbids itself scripts and foreign addresses.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.jsonl import atomic_writer, read_json
from .examples import Example, examples
from .places import Places

TEMPLATES = Path(__file__).resolve().parents[3] / "resources" / "report"


@dataclass(frozen=True)
class RunReport:
    """What the page says of one run."""

    name: str
    stats: dict[str, Any]
    audit: dict[str, Any] | None
    """None while the run has not been audited."""
    rules: list[str]
    """Rules that dropped something, in the order of ``stats.json``."""
    examples: list[Example]

    @classmethod
    def read(cls, run: Path, each: int) -> RunReport:
        """``each``: samples shown per bucket and reason. Raises TirError when the run has no stats.json yet."""
        stats = read_json(run / "stats.json")
        found = [path for path in (run / "audit.json", run / "state" / "audit_failed.json") if path.exists()]
        return cls(
            name=run.name,
            stats=stats,
            audit=read_json(found[0]) if found else None,
            rules=list(stats["drops"]["first"]),
            examples=examples(sorted(run.glob("shards/*/*.filtered.jsonl")), each),
        )


def write_page(places: Places, out: Path, each: int) -> list[str]:
    """Write the page of all runs that have statistics; returns their names."""
    import jinja2

    runs = [RunReport.read(run, each) for run in places.finished_runs()]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template("index.html.j2").render(
        runs=runs,
        question_picture=lambda path: os.path.relpath(places.handover / path, out.parent),
        tool_picture=lambda run, path: os.path.relpath(places.results / run / path, out.parent),
    )
    with atomic_writer(out) as handle:
        handle.write(text.encode("utf-8", "backslashreplace"))
    return [run.name for run in runs]
