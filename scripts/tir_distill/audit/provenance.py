"""Licence and lineage: a row that cannot say where it came from cannot be shared or traced."""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from ..export import LINEAGE_KEYS
from .findings import Finding
from .view import View

LICENCE = "licence"
LINEAGE = "lineage"
SHA256 = re.compile(r"[0-9a-f]{64}")


def check_licence(view: View) -> Iterator[Finding]:
    """Present and not blank. What it permits is the data card's business."""
    value = view.row.get("licence")
    if not isinstance(value, str) or not value.strip():
        yield Finding(check=LICENCE, reason="missing", detail=repr(value))


def check_lineage(view: View) -> Iterator[Finding]:
    """Every key is there, hashes are hashes, JSON texts are JSON, and it names this row."""
    lineage = view.row.get("lineage")
    if not isinstance(lineage, dict):
        yield Finding(check=LINEAGE, reason="missing", detail=repr(lineage))
        return
    for key in LINEAGE_KEYS:
        kind = int if key == "sample_index" else str
        if type(lineage.get(key)) is not kind:
            yield Finding(check=LINEAGE, reason="incomplete", detail=f"{key}: {lineage.get(key)!r}")
    for key in ("question", "fingerprint", "config"):
        value = lineage.get(key)
        if isinstance(value, str) and not SHA256.fullmatch(value):
            yield Finding(check=LINEAGE, reason="not_a_hash", detail=f"{key}: {value!r}")
    for key, form in (("cut_calls", list), ("versions", dict)):
        value = lineage.get(key)
        if isinstance(value, str) and not _holds(value, form):
            yield Finding(check=LINEAGE, reason="not_json", detail=f"{key}: {value!r}")
    expected = f"{view.row.get('id')}#{lineage.get('sample_index')}"
    if isinstance(lineage.get("sample"), str) and lineage["sample"] != expected:
        yield Finding(check=LINEAGE, reason="other_sample", detail=f"{lineage['sample']!r}, expected {expected!r}")


def _holds(text: str, kind: type) -> bool:
    try:
        return isinstance(orjson.loads(text), kind)
    except orjson.JSONDecodeError:
        return False
