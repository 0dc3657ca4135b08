"""Canonical JSON and the hashes built on it. Equal values have equal hashes on any machine and in any process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson


def canonical_json(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no white space. Raises TypeError for values JSON does not have."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest(value: Any) -> str:
    """sha256 hex of ``canonical_json(value)``."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def text_digest(text: str) -> str:
    """sha256 hex of the text's UTF-8 bytes; lone surrogates are kept apart rather than refused."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def file_sha256(path: Path) -> str:
    """sha256 hex of a file's bytes, read in blocks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def stable_unit(seed: int, *parts: str) -> float:
    """A number in [0, 1) fixed by ``seed`` and ``parts`` alone: sampling that no order or worker count changes."""
    return stable_int(seed, *parts) / 2**64


def stable_int(seed: int, *parts: str) -> int:
    """A 64-bit unsigned integer fixed by ``seed`` and ``parts``."""
    text = "\x1f".join([str(seed), *parts])
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def shard_of(question_id: str, shards: int) -> int:
    """Index in ``range(shards)`` of the shard that owns a question."""
    return stable_int(0, "shard", question_id) % shards


def combine(digests: Iterable[str]) -> str:
    """One sha256 hex over an ordered list of digests."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()
