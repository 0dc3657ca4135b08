"""Running totals of a run and of its questions."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from . import schema
from .outcomes import RunTotals


def run_counts(connection: Connection, run: str) -> RunTotals:
    """Totals of a run; zeros for one that has used nothing."""
    table = schema.runs.c
    row = connection.execute(
        select(table.billed, table.cache_hits, table.tokens, table.usd).where(table.run == run)
    ).first()
    if row is None:
        return RunTotals(searches_billed=0, cache_hits=0, tokens=0, usd=0.0)
    return RunTotals(searches_billed=row[0], cache_hits=row[1], tokens=row[2], usd=row[3])


def add_to_run(
    connection: Connection, run: str, *, billed: int = 0, cache_hits: int = 0, tokens: int = 0, usd: float = 0.0
) -> None:
    """Add to a run's totals. Call inside a write transaction."""
    table = schema.runs.c
    changed = connection.execute(
        update(schema.runs)
        .where(table.run == run)
        .values(
            billed=table.billed + billed,
            cache_hits=table.cache_hits + cache_hits,
            tokens=table.tokens + tokens,
            usd=table.usd + usd,
        )
    )
    if changed.rowcount == 0:
        values = {"billed": billed, "cache_hits": cache_hits, "tokens": tokens, "usd": usd}
        connection.execute(insert(schema.runs).values(run=run, **values))


def question_billed(connection: Connection, run: str, question_id: str) -> int:
    """Billed searches of one question in one run, over all samples and re-runs."""
    table = schema.questions.c
    value = connection.scalar(select(table.billed).where(table.run == run, table.question_id == question_id))
    return value or 0


def add_to_question(connection: Connection, run: str, question_id: str, billed: int) -> None:
    """Add to a question's count. Call inside a write transaction."""
    table = schema.questions.c
    changed = connection.execute(
        update(schema.questions)
        .where(table.run == run, table.question_id == question_id)
        .values(billed=table.billed + billed)
    )
    if changed.rowcount == 0:
        connection.execute(insert(schema.questions).values(run=run, question_id=question_id, billed=billed))
