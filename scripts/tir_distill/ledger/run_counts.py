"""Running totals of a run and of its questions."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from . import schema, statements
from .outcomes import RunTotals


def run_counts(connection: Connection, run: str) -> RunTotals:
    """Totals of a run; zeros for one that has used nothing."""
    row = statements.run(connection, statements.RUN, {"run": run}).fetchone()
    if row is None:
        return RunTotals(searches_billed=0, cache_hits=0, tokens=0, usd=0.0)
    return RunTotals(searches_billed=row[0], cache_hits=row[1], tokens=int(row[2]), usd=row[3])


def add_to_run(
    connection: Connection, run: str, *, billed: int = 0, cache_hits: int = 0, tokens: int = 0, usd: float = 0.0
) -> None:
    """Add to a run's totals. Call inside a write transaction."""
    values = {"run": run, "billed": billed, "cache_hits": cache_hits, "tokens": tokens, "usd": usd}
    statements.run(connection, statements.ADD_TO_RUN, values)


def question_billed(connection: Connection, run: str, question_id: str) -> int:
    """Billed searches of one question in one run, over all samples and re-runs."""
    table = schema.questions.c
    value = connection.scalar(select(table.billed).where(table.run == run, table.question_id == question_id))
    return value or 0


def add_to_question(connection: Connection, run: str, question_id: str, billed: int) -> None:
    """Add to a question's count. Call inside a write transaction."""
    statements.run(connection, statements.ADD_TO_QUESTION, {"run": run, "question": question_id, "billed": billed})


def rename_run(connection: Connection, run: str, name: str) -> None:
    """Move what a run has used to another name; what stood under that name is forgotten. Answers stay for all runs."""
    for table in (schema.calls, schema.questions, schema.runs, schema.token_holds, schema.stops):
        connection.execute(delete(table).where(table.c.run == name))
        connection.execute(update(table).where(table.c.run == run).values(run=name))
