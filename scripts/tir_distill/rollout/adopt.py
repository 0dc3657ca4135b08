"""Samples of another run, taken over instead of bought (RULINGS 1): the pilot is part of the full run.

A finished sample with the same fingerprint is copied into this run's journal with its record as it stands, and the
pictures of its tools into this run's folder, so that the other run may be moved or removed afterwards.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .journal import scan
from .state import ShardState, check_head

log = logging.getLogger(__name__)

_SHARD = re.compile(r"(\d+)-of-(\d+)\.jsonl")


def adopt(
    state: ShardState,
    fingerprints: Mapping[str, str],
    sources: Sequence[Path],
    run_dir: Path,
    *,
    shard: tuple[int, int],
) -> int:
    """Copy what fits; returns how many samples. ``shard``: index and number of this run's shards."""
    taken = 0
    for source in sources:
        for path in _journals(source, shard):
            for _, _, event in scan(path):
                if event is None or check_head(event, path):
                    continue
                if _fits(event, state, fingerprints):
                    try:
                        _copy_pictures(event["row"], source, run_dir)
                    except FileNotFoundError as error:
                        log.warning("%s#%d is not adopted, it is sampled again: %s", event["q"], event["s"], error)
                        continue
                    head = {key: event[key] for key in ("e", "s", "accepted", "answered", "billed", "capped")}
                    state.add_row(event["q"], head, event["row"], adopted=source.name)
                    taken += 1
    if taken:
        log.info("%d finished samples adopted from %s", taken, ", ".join(path.name for path in sources))
    return taken


def _fits(event: Mapping[str, Any], state: ShardState, fingerprints: Mapping[str, str]) -> bool:
    question_id = event.get("q")
    return (
        event.get("e") == "sample"
        and isinstance(question_id, str)
        and fingerprints.get(question_id) == event.get("fp")
        and event["s"] not in state.question(question_id).samples
    )


def _journals(source: Path, shard: tuple[int, int]) -> Iterator[Path]:
    """Journals that may hold this shard's questions: a question's shard depends on its id and their number alone."""
    index, shards = shard
    for path in sorted((source / "state" / "journal").rglob("*.jsonl")):
        match = _SHARD.fullmatch(path.name)
        if match and int(match[2]) == shards and int(match[1]) != index:
            continue
        yield path


def _copy_pictures(row: Mapping[str, Any], source: Path, run_dir: Path) -> None:
    for turn in row["turns"]:
        for result in turn["results"]:
            for picture in result["images"]:
                target = run_dir / picture["path"]
                if target.exists():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(source / picture["path"], target)
                except OSError:
                    shutil.copyfile(source / picture["path"], target)
