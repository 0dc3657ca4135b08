"""The packing half of the hand-over: ``images.tar``; then the commands for the site, card, metadata, the manifest.

Two steps, because the archive is the costly one and hangs on the selection alone: a changed command is shipped anew
without touching it. The manifest is written last: a folder that has one is whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records.errors import TirError
from ..records.hashing import file_sha256
from ..records.jsonl import atomic_writer, write_json
from ..records.private import refuse_private
from ..records.protocols import Progress
from .card import card, description
from .croissant import croissant
from .funnel import funnels
from .image_files import FOLDER
from .image_tar import FileHash, PackedPictures, write_tar
from .licences import read_terms
from .manifest import evaluation_counts, manifest
from .phase_file import PhaseCounts
from .select_questions import INDEX, MANIFEST, PHASE, PILOT
from .settings import DecontaminationSettings, SelectionSettings
from .shipped import ship

ARCHIVE = "images.tar"
NAME = "tir-distill-10k"
VERSION = "1.0.0"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Files of earlier stages that the manifest speaks of. Their order does not matter."""

    counts: Sequence[Path]
    """``<bucket>.counts.json`` of the readers."""
    kept: Sequence[Path]
    """Decontaminated tables."""
    drops: Sequence[Path]
    evaluation: Sequence[Path]
    """``<set>.counts.json``."""
    locks: Sequence[Path]


def pack_pictures(out: Path, progress: Progress | None = None) -> PackedPictures:
    """Write ``images.tar`` of the selection in ``out``. Raises TirError when ``images/`` is not the selection's."""
    refuse_private([out])
    (out / MANIFEST).unlink(missing_ok=True)
    named = PhaseCounts.read(out / PHASE).images
    packed = write_tar(out, FOLDER, out / ARCHIVE, progress)
    if set(packed.files) != named:
        (out / ARCHIVE).unlink()
        raise TirError(f"{out / FOLDER}: does not hold exactly the pictures that {PHASE} names; select again")
    return packed


def pack(
    config: Mapping[str, Any], evidence: Evidence, pictures: PackedPictures, *, out: Path, scripts_root: Path
) -> dict[str, Any]:
    """Complete the hand-over in ``out``; returns the manifest. Raises TirError when the numbers do not add up, when
    the archive is not that of this selection, and for anything that lies in a private folder.
    """
    refuse_private([out, *evidence.counts, *evidence.kept, *evidence.drops, *evidence.evaluation, *evidence.locks])
    (out / MANIFEST).unlink(missing_ok=True)
    rules = DecontaminationSettings.from_config(config)
    selection = SelectionSettings.from_config(config)
    counts = PhaseCounts.read(out / PHASE)
    funnel = funnels(selection, counts=evidence.counts, drops=evidence.drops, kept=evidence.kept, selected=counts.by(0))
    evaluation = evaluation_counts(evidence.evaluation, list(config["evaluation"]))
    question_sources = [config["buckets"][plan.name]["source"] for plan in selection.buckets]
    sources = read_terms(evidence.locks, scripts_root / "resources" / "licences.yaml", question_sources)

    archive = out / ARCHIVE
    if set(pictures.files) != counts.images or not archive.is_file() or archive.stat().st_size != pictures.archive.size:
        raise TirError(f"{archive}: not the archive of the pictures that {PHASE} names; pack the pictures again")
    data = {PHASE: _hash(out / PHASE), PILOT: _hash(out / PILOT), ARCHIVE: pictures.archive}
    shipped = {path: _hash(out / path) for path in ship(scripts_root, config, out)}
    text = card(counts, funnel, sources, evaluation, rules, selection)
    with atomic_writer(out / "README.md") as handle:
        handle.write(text.encode())
    metadata = croissant(data, sources, name=NAME, description=description(counts, sources), version=VERSION)
    write_json(out / "croissant.json", metadata)
    others = {name: _hash(out / name) for name in (INDEX, "README.md", "croissant.json")}
    document = manifest(
        counts=counts,
        funnel=funnel,
        evaluation=evaluation,
        sources=sources,
        rules=rules,
        selection=selection,
        answer_chars=config["selection"]["answer_chars"],
        shipped=shipped,
        files={**data, **others, **shipped, **pictures.files},
    )
    write_json(out / MANIFEST, document)
    return document


def _hash(path: Path) -> FileHash:
    return FileHash(sha256=file_sha256(path), size=path.stat().st_size)
