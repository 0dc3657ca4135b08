"""The SQL of the hot path, in the dialect that SQLite and PostgreSQL share.

SQLAlchemy opens the connection, begins and ends the transaction and translates these texts to the driver's parameter
style, once. ``run`` then hands them to the driver directly: building and executing them as expressions costs 0.1 ms
each, which was most of a transaction. Rare statements elsewhere use expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, TextClause, text


def run(connection: Connection, statement: TextClause, values: Mapping[str, Any]) -> Any:
    """Execute in the connection's open transaction; returns the driver's cursor (plain tuples, ``rowcount``)."""
    driver: Any = connection.connection.dbapi_connection
    return driver.execute(_translated(statement, connection.dialect), values)


@lru_cache(maxsize=128)
def _translated(statement: TextClause, dialect: Dialect) -> str:
    return str(statement.compile(dialect=dialect))


LOOK = text("""
    SELECT stops.reason AS stop_reason, stops.detail AS stop_detail, stops.at AS stop_at,
           answers.state, answers.payload, answers.fetched_at, answers.holder,
           COALESCE(questions.billed, 0) AS question_billed,
           COALESCE(runs.billed, 0) AS run_billed, COALESCE(runs.usd, 0.0) AS run_usd,
           (SELECT COUNT(*) FROM answers AS live WHERE live.holder IS NOT NULL AND live.lease_run = :run
               AND live.lease_question = :question) AS question_live,
           (SELECT COUNT(*) FROM answers AS live WHERE live.holder IS NOT NULL AND live.lease_run = :run) AS run_live
    FROM (SELECT 1 AS one) AS base
    LEFT JOIN stops ON stops.run = :run
    LEFT JOIN runs ON runs.run = :run
    LEFT JOIN questions ON questions.run = :run AND questions.question_id = :question
    LEFT JOIN answers ON answers.key = :key
""")
"""All that a decision on one search depends on. A lease counts until it is given back,
whether or not its time has passed: its owner may only be slow (``leases.abandoned`` judges that)."""

DOOR = text("""
    SELECT stops.reason, stops.detail, stops.at, answers.holder
    FROM (SELECT 1 AS one) AS base
    LEFT JOIN stops ON stops.run = :run
    LEFT JOIN answers ON answers.key = :key
""")
"""What may still forbid a request that is about to be written."""

MARK_CALL = text("""
    INSERT INTO calls (run, question_id, sample, call_id, key, outcome)
    VALUES (:run, :question, :sample, :call_id, :key, :outcome)
    ON CONFLICT (run, question_id, sample, call_id) DO UPDATE SET key = excluded.key, outcome = excluded.outcome
""")

TAKE_LEASE = text("""
    INSERT INTO answers (key, kind, state, query, backend, params, holder, lease_until, lease_run, lease_question)
    VALUES (:key, :kind, 'none', :query, :backend, :params, :holder, :until, :run, :question)
    ON CONFLICT (key) DO UPDATE
    SET holder = excluded.holder, lease_until = excluded.lease_until,
        lease_run = excluded.lease_run, lease_question = excluded.lease_question
""")

ADD_ENTRY = text("""
    INSERT INTO answers (key, kind, state, query, backend, params)
    VALUES (:key, :kind, 'none', :query, :backend, :params)
""")

ENTRY = text("SELECT state, payload, fetched_at, holder FROM answers WHERE key = :key")

KEEP = text("""
    UPDATE answers SET state = :state, payload = :payload, fetched_at = :now, run = :run WHERE key = :key
""")

RELEASE = text("""
    UPDATE answers SET holder = NULL, lease_until = NULL, lease_run = NULL, lease_question = NULL
    WHERE key = :key AND holder = :holder
""")

ADD_TO_QUESTION = text("""
    INSERT INTO questions (run, question_id, billed) VALUES (:run, :question, :billed)
    ON CONFLICT (run, question_id) DO UPDATE SET billed = questions.billed + excluded.billed
""")

ADD_TO_RUN = text("""
    INSERT INTO runs (run, billed, cache_hits, tokens, usd) VALUES (:run, :billed, :cache_hits, :tokens, :usd)
    ON CONFLICT (run) DO UPDATE
    SET billed = runs.billed + excluded.billed, cache_hits = runs.cache_hits + excluded.cache_hits,
        tokens = runs.tokens + excluded.tokens, usd = runs.usd + excluded.usd
""")

RUN = text("SELECT billed, cache_hits, tokens, usd FROM runs WHERE run = :run")

FLAG = text("SELECT reason, detail, at FROM stops WHERE run = :run")

RATE = text("""
    SELECT stops.reason, stops.detail, stops.at, rates.next_at, rates.factor, rates.factor_at
    FROM (SELECT 1 AS one) AS base
    LEFT JOIN stops ON stops.run = :run
    LEFT JOIN rates ON rates.name = :name
""")

MOVE_RATE = text("""
    INSERT INTO rates (name, next_at, factor, factor_at, slots) VALUES (:name, :next_at, :factor, :factor_at, :slots)
    ON CONFLICT (name) DO UPDATE
    SET next_at = excluded.next_at, factor = excluded.factor, factor_at = excluded.factor_at,
        slots = rates.slots + excluded.slots
""")

HELD = text("""
    SELECT COALESCE(SUM(tokens), 0) AS tokens, COALESCE(SUM(usd), 0.0) AS usd FROM token_holds WHERE run = :run
""")

HOLD = text("""
    INSERT INTO token_holds (id, run, holder, until, tokens, usd) VALUES (:id, :run, :holder, :until, :tokens, :usd)
""")

DROP_HOLD = text("DELETE FROM token_holds WHERE id = :id")

CALL_OUTCOME = text("""
    SELECT outcome FROM calls
    WHERE run = :run AND question_id = :question AND sample = :sample AND call_id = :call_id AND key = :key
""")

LIVE_IN_RUN = text("""
    SELECT COUNT(*) FROM answers WHERE holder IS NOT NULL AND lease_run = :run
""")
