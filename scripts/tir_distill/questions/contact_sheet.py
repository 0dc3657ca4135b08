"""An HTML page on which a person sees, side by side, each pair of pictures that a rule took for the same.

Thumbnails are embedded, so the page is one file. Evaluation pictures are shown only where the caller hands them over:
they are no part of the fingerprints. No question text of an evaluation set is on it.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..records.jsonl import atomic_writer
from .decontaminate import read_drops
from .match import JACCARD, Match
from .natural import natural_key
from .parquet_in import batches

THUMBNAIL = 240
"""Longest side in pixels."""

STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 2rem; color: #222; background: #fff }
table { border-collapse: collapse } td, th { border-bottom: 1px solid #ccc; padding: .5rem 1rem; text-align: left }
img { display: block; max-width: 240px } .none { color: #777 }
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """One row of the page."""

    row: Mapping[str, Any]
    """id, question, images of the candidate."""
    match: Match


def picture_pairs(drops: Sequence[Path], questions: Sequence[Path]) -> list[Pair]:
    """Matches by picture, by id in natural order."""
    found = {name: matches for path in drops for name, matches in read_drops(path).items()}
    wanted = pa.array([name for name, matches in found.items() if _by_picture(matches)], type=pa.string())
    pairs = []
    for path in questions:
        for batch in batches(path, ["id", "question", "images"]):
            for row in batch.filter(pc.is_in(batch.column("id"), value_set=wanted)).to_pylist():
                pairs += [Pair(row=row, match=match) for match in _by_picture(found[row["id"]])]
    return sorted(pairs, key=lambda pair: (natural_key(pair.row["id"]), pair.match.rank))


def _by_picture(matches: Iterable[Match]) -> list[Match]:
    return [match for match in matches if match.rule != JACCARD]


def write_sheet(
    pairs: Sequence[Pair], *, store: Path, evaluation: Mapping[tuple[str, str], Sequence[bytes]], out: Path
) -> None:
    """Write the page. ``evaluation`` maps (set, id) to the file bytes of the item's pictures."""
    with atomic_writer(out) as handle:
        for piece in _page(pairs, store, evaluation):
            handle.write(piece.encode())


def _page(pairs: Sequence[Pair], store: Path, evaluation: Mapping[tuple[str, str], Sequence[bytes]]) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Image matches</title>\n'
    yield f"<style>{STYLE}</style></head><body>\n<h1>Image matches: {len(pairs)}</h1>\n"
    if evaluation:
        yield "<p>Pictures of evaluation sets are on this page: keep it to yourself.</p>\n"
    yield "<table><tr><th>question</th><th>its picture</th><th>evaluation item</th><th>its picture</th></tr>\n"
    for pair in pairs:
        match = pair.match
        mine = [_stored(store, cell) for cell in pair.row["images"]]
        theirs = [_thumbnail(data) for data in evaluation.get((match.evaluation_set, match.evaluation_id), ())]
        said = f"{match.rule}, {match.value:g} bits"
        yield (
            f"<tr><td><b>{html.escape(pair.row['id'])}</b><br>{html.escape(pair.row['question'])}</td>"
            f"<td>{''.join(mine) or _absent('no picture')}</td>"
            f"<td><b>{html.escape(match.evaluation_set)} {html.escape(match.evaluation_id)}</b><br>{said}</td>"
            f"<td>{''.join(theirs) or _absent('not shown')}</td></tr>\n"
        )
    yield "</table></body></html>\n"


def _stored(store: Path, cell: Mapping[str, Any]) -> str:
    path = store / cell["sha256"][:2] / f"{cell['sha256']}.{cell['ext']}"
    return _thumbnail(path.read_bytes()) if path.exists() else _absent("not in the store")


def _thumbnail(data: bytes) -> str:
    """An ``img`` with the picture made small, as the project's picture policy sees it."""
    from PIL import Image

    from ..records.errors import BadRow
    from ..sources.pictures import prepare

    try:
        _, pixels = prepare(data)
    except BadRow as error:
        return _absent(error.reason)
    pixels.thumbnail((THUMBNAIL, THUMBNAIL), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    pixels.convert("RGB").save(buffer, "JPEG", quality=80)
    return f'<img alt="" src="data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}">'


def _absent(why: str) -> str:
    return f'<span class="none">{html.escape(why)}</span>'
