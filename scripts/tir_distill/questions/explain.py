"""Why a question was dropped or kept: its nearest pictures and texts among the evaluation items, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..sources.phash import distance
from ..sources.text_units import shingles, text_key
from .decontaminate import subject_of
from .fingerprints import Fingerprints
from .matcher import Matcher, Subject, text_similarities
from .parquet_in import batches
from .settings import DecontaminationSettings

NEAREST = 3


def find_rows(tables: Iterable[Path], ids: Sequence[str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """(table, row) of each wanted id, streaming."""
    wanted = pa.array(list(ids), type=pa.string())
    for path in tables:
        for batch in batches(path, ["id", "question", "images"]):
            for row in batch.filter(pc.is_in(batch.column("id"), value_set=wanted)).to_pylist():
                yield path, row


def explain(row: dict[str, Any], fingerprints: Fingerprints, settings: DecontaminationSettings) -> list[str]:
    """Lines for a person. Evaluation text is not in them, for nothing of it is kept."""
    subject = subject_of(row)
    found = Matcher(fingerprints, settings).matches([subject])[0]
    verdict = f"dropped, counted under {found[0].rule}" if found else "kept"
    lines = [f"{row['id']}: {verdict}"]
    lines += [f"  match  {match}" for match in found]
    lines += _pictures(subject, fingerprints, settings)
    lines += _texts(subject, fingerprints, settings)
    return lines


def _pictures(subject: Subject, fingerprints: Fingerprints, settings: DecontaminationSettings) -> Iterator[str]:
    limit = settings.phash_max_distance
    for phash, flat in subject.pictures:
        if flat:
            yield f"  picture {phash}: flat, never matched by hash alone"
            continue
        near = sorted(
            (distance(phash, other), item.set, item.id)
            for item in fingerprints.items
            for other, other_flat in item.pictures
            if not other_flat
        )
        said = ", ".join(f"{name} {item} at {bits}" for bits, name, item in near[:NEAREST]) or "none"
        yield f"  picture {phash}: nearest (limit {limit} bits) {said}"
    if not subject.pictures:
        yield "  no picture"


def _texts(subject: Subject, fingerprints: Fingerprints, settings: DecontaminationSettings) -> Iterator[str]:
    size = len(shingles(subject.text))
    kind = "long" if size >= settings.long_text_min_units else "short"
    values = text_similarities(fingerprints, subject.text)
    order = sorted(range(len(values)), key=lambda i: (-values[i], fingerprints.items[i].set, fingerprints.items[i].id))
    near = [(fingerprints.items[i], values[i]) for i in order[:NEAREST] if values[i] > 0]
    said = ", ".join(f"{item.set} {item.id} at {value:.3f} ({item.units} units)" for item, value in near) or "none"
    yield (
        f"  text of {size} units, {kind} (long from {settings.long_text_min_units}): "
        f"nearest (limit {settings.jaccard_min:g}) {said}"
    )
    same = fingerprints.by_text_key.get(text_key(subject.text), ())
    if same:
        names = ", ".join(f"{fingerprints.items[i].set} {fingerprints.items[i].id}" for i in same[:NEAREST])
        yield f"  same tokens as {len(same)} item(s): {names}; a match only with the same picture"
