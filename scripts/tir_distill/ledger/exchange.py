"""The search cache as JSON Lines, for the record and for the next run (``search_cache.jsonl``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from sqlalchemy import Connection, insert, or_, select

from ..records.errors import TirError
from . import schema
from .keys import search_key
from .reservations import pack, unpack

BATCH = 500


def export_rows(connection: Connection, run: str | None) -> Iterator[dict[str, Any]]:
    """Believed search answers in key order; only those that ``run`` paid for or used, when one is named."""
    table = schema.answers.c
    query = select(
        table.key, table.query, table.backend, table.params, table.payload, table.fetched_at, table.run
    ).where(table.kind == "search", table.state == "good")
    if run is not None:
        used = select(schema.calls.c.key).where(schema.calls.c.run == run)
        query = query.where(or_(table.run == run, table.key.in_(used)))
    for row in connection.execution_options(yield_per=BATCH).execute(query.order_by(table.key)):
        yield {
            "key": row.key,
            "query": row.query,
            "backend": row.backend,
            "params": orjson.loads(row.params),
            "fetched_at": row.fetched_at,
            "run": row.run,
            "payload": unpack(row.payload),
        }


def import_row(connection: Connection, row: Mapping[str, Any], where: str) -> bool:
    """Keep one exported answer unless there is one already. Raises TirError naming ``where`` and the field."""
    for field, kind in (("query", str), ("backend", str), ("params", dict), ("payload", dict), ("fetched_at", float)):
        value = row.get(field)
        if not isinstance(value, kind) and not (kind is float and isinstance(value, int)):
            raise TirError(f"{where}: field '{field}' must be {kind.__name__}, found {value!r}")
    key = search_key(row["query"], row["backend"], row["params"])
    table = schema.answers.c
    present = connection.scalar(select(table.state).where(table.key == key))
    if present == "good":
        return False
    values = {"state": "good", "payload": pack(row["payload"]), "fetched_at": row["fetched_at"], "run": row.get("run")}
    if present is not None:
        connection.execute(schema.answers.update().where(table.key == key).values(**values))
        return True
    params = orjson.dumps(row["params"], option=orjson.OPT_SORT_KEYS).decode()
    connection.execute(
        insert(schema.answers).values(
            key=key, kind="search", query=row["query"], backend=row["backend"], params=params, **values
        )
    )
    return True
