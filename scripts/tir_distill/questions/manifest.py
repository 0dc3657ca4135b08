"""``MANIFEST.json``: what the hand-over is, how it came to be, and the sha256 of every file in it.

Nothing of the machine that built it is in it, no time and no path, so equal inputs give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..records.errors import TirError
from ..records.hashing import digest
from ..records.jsonl import read_json
from .funnel import BucketFunnel, by_bucket
from .image_tar import FileHash
from .licences import SourceTerms
from .match import RULES
from .phase_file import PhaseCounts
from .settings import DecontaminationSettings, SelectionSettings

FORMAT = 1
LIBRARIES = ("pillow", "ImageHash", "numpy", "scipy")
"""Decide the bits of a picture's hash."""


def evaluation_counts(paths: Sequence[Path], sets: Sequence[str]) -> dict[str, dict[str, Any]]:
    """``<set>.counts.json`` by set, in the order of the configuration."""
    files = by_bucket(paths, ".counts.json", sets)
    return {name: read_json(files[name]) for name in sets}


def manifest(
    *,
    counts: PhaseCounts,
    funnel: Mapping[str, BucketFunnel],
    evaluation: Mapping[str, Mapping[str, Any]],
    sources: Sequence[SourceTerms],
    rules: DecontaminationSettings,
    selection: SelectionSettings,
    answer_chars: Sequence[int],
    shipped: Mapping[str, FileHash],
    files: Mapping[str, FileHash],
) -> dict[str, Any]:
    """The document. Raises TirError when the selected questions are not those of the funnel."""
    in_file = counts.by(0)
    for name, row in funnel.items():
        if in_file[name] != row.selected:
            raise TirError(f"bucket {name}: {in_file[name]} questions in the file, {row.selected} selected")
    drops: dict[str, dict[str, int]] = {}
    for row in funnel.values():
        for rule, sets in row.dropped.items():
            for name, number in sets.items():
                per_set = drops.setdefault(rule, {})
                per_set[name] = per_set.get(name, 0) + number
    return {
        "format": FORMAT,
        "seed": selection.seed,
        "counts": counts.to_dict(),
        "rules": {
            "decontamination": rules.to_dict(),
            "attribution": "a question with several matches is counted under the first of " + ", ".join(RULES),
            "selection": {
                "by": "sha256 of (seed, id), smallest first; the pilot is the beginning of the same order",
                "total": selection.total,
                "fill": selection.fill,
                "answer_chars": list(answer_chars),
                "buckets": {
                    plan.name: {"count": plan.count, "pilot": plan.pilot, "max_per_article": plan.max_per_group}
                    for plan in selection.buckets
                },
            },
            "order": "priority, bucket as configured, id in natural order",
        },
        "funnel": {name: row.to_dict() for name, row in funnel.items()},
        "drops": {rule: dict(sorted(sets.items())) for rule, sets in sorted(drops.items())},
        "evaluation": {
            name: {"items": numbers["kept"], "rejects": numbers["rejects"], "notes": numbers.get("notes", {})}
            for name, numbers in evaluation.items()
        },
        "sources": {terms.id: terms.to_dict() for terms in sources},
        "versions": {name.lower(): version(name) for name in LIBRARIES},
        "code": {"files": len(shipped), "digest": digest({path: found.sha256 for path, found in shipped.items()})},
        "files": {path: {"sha256": found.sha256, "bytes": found.size} for path, found in sorted(files.items())},
    }
