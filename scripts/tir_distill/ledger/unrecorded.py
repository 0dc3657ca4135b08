"""Paid searches whose ledger was gone when the answer came: kept in a file, and written down at the next start."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import orjson

from ..records.jsonl import dumps
from .outcomes import Fetched
from .owner import Caps, Owner
from .reservations import Request

log = logging.getLogger(__name__)


def keep(path: Path | None, request: Request, fetched: Fetched) -> None:
    """Append one search. Without a path there is nowhere to keep it, and the caller's error has to do."""
    if path is None:
        return
    row = {
        "owner": asdict(request.owner),
        "call_id": request.call_id,
        "made": request.made,
        "query": request.query,
        "backend": request.backend,
        "params": dict(request.params),
        "caps": asdict(request.caps),
        "paid": request.paid,
        "fetched": asdict(fetched) | {"payload": dict(fetched.payload)},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if handle.seek(0, os.SEEK_END):
            handle.seek(-1, os.SEEK_END)
            cut_off = handle.read(1) != b"\n"
            handle.write(b"\n" if cut_off else b"")
        handle.write(dumps(row) + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def take_in(path: Path | None, record: Callable[[Request, Fetched], None]) -> int:
    """Hand every kept search to ``record`` and empty the file; returns how many. Killed in between, they are handed
    over again, so ``record`` must not count one twice. A line that was cut off (full disk) or has other fields than
    ``keep`` writes is said and left out: no start may fail for it.
    """
    if path is None or not path.exists():
        return 0
    with path.open("r+b") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        count = 0
        for line in handle:
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                owner, caps = Owner(**row.pop("owner")), Caps(**row.pop("caps"))
                fetched = Fetched(**row.pop("fetched"))
                request = Request.of(owner=owner, caps=caps, **row)
            except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
                log.warning(
                    "%s: a line was cut off or is no search; one of %d bytes is not in the books", path, len(line)
                )
                continue
            record(request, fetched)
            count += 1
        handle.truncate(0)
    return count
