"""The search cache as JSON Lines, for the record and for the next run (``search_cache.jsonl``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, insert, or_, select

from . import schema
from .keys import search_key, storable
from .reservations import pack, unpack

BATCH = 500
BACKEND_CHARS = 32
"""As wide as the table's column."""


def export_rows(connection: Connection, run: str | None) -> Iterator[dict[str, Any]]:
    """Believed search answers in key order; only those that ``run`` paid for or used, when one is named."""
    table = schema.answers.c
    query = select(
        table.key, table.query, table.backend, table.params, table.payload, table.fetched_at, table.run
    ).where(table.kind == "search", table.state == "good")
    if run is not None:
        used = select(schema.calls.c.key).where(schema.calls.c.run == run)
        query = query.where(or_(table.run == run, table.key.in_(used)))
    for row in connection.execute(query.order_by(table.key).execution_options(yield_per=BATCH)):
        yield {
            "key": row.key,
            "query": row.query,
            "backend": row.backend,
            "params": orjson.loads(row.params),
            "fetched_at": row.fetched_at,
            "run": row.run,
            "payload": unpack(row.payload),
        }


def problem(row: object) -> str | None:
    """What keeps this from being an exported answer; None when nothing does."""
    if not isinstance(row, dict):
        return f"expected a JSON object, found {type(row).__name__}"
    for field, kind in (("query", str), ("backend", str), ("params", dict), ("payload", dict), ("fetched_at", float)):
        value = row.get(field)
        if not isinstance(value, kind) and not (kind is float and type(value) is int):
            return f"field '{field}' must be {kind.__name__}, found {str(value)[:50]!r}"
    if not 0 < len(row["backend"]) <= BACKEND_CHARS or "\0" in row["backend"]:
        return f"field 'backend' must be the name of a search backend, found {row['backend'][:50]!r}"
    results = row["payload"].get("results")
    shaped = isinstance(results, list) and all(
        isinstance(hit, dict) and all(isinstance(hit.get(name), str) for name in ("title", "url", "snippet"))
        for hit in results
    )
    return None if shaped else "field 'payload.results' must be a list of objects with title, url and snippet"


class ReadRows:
    """The exported answers in a file; what is none is counted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bad = 0
        self.first = ""
        """Number of the first bad line, and what is wrong with it."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with self.path.open("rb") as handle:
            for number, line in enumerate(handle, start=1):
                if not line.strip():
                    continue
                try:
                    row = orjson.loads(line)
                    wrong = problem(row)
                except orjson.JSONDecodeError as error:
                    wrong = f"not JSON ({error})"
                if wrong is None:
                    yield row
                    continue
                self.bad += 1
                self.first = self.first or f"{number}: {wrong}"


def import_row(connection: Connection, row: Mapping[str, Any], now: float) -> bool:
    """Keep one exported answer unless there is one already that is as new."""
    key = search_key(row["query"], row["backend"], row["params"])
    table = schema.answers.c
    fetched_at = min(float(row["fetched_at"]), now)
    present = connection.execute(select(table.state, table.fetched_at).where(table.key == key)).one_or_none()
    if present is not None and present.state == "good" and (present.fetched_at or 0.0) >= fetched_at:
        return False
    values = {
        "state": "good",
        "payload": pack(row["payload"]),
        "fetched_at": fetched_at,
        "run": None,
    }
    if present is not None:
        connection.execute(schema.answers.update().where(table.key == key).values(**values))
        return True
    params = orjson.dumps(row["params"], option=orjson.OPT_SORT_KEYS).decode()
    connection.execute(
        insert(schema.answers).values(
            key=key, kind="search", query=storable(row["query"]), backend=row["backend"], params=params, **values
        )
    )
    return True
