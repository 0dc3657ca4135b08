"""The tables, the same on SQLite and PostgreSQL. Times are seconds since the epoch by the ledger's clock."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

SCHEMA_VERSION = 2

metadata = MetaData()

about = Table("about", metadata, Column("version", Integer, primary_key=True))

answers = Table(
    "answers",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("kind", String(8), nullable=False),  # search | page
    Column("state", String(8), nullable=False),  # none | doubtful | good
    Column("query", Text, nullable=False),  # as first written, or the URL
    Column("backend", String(32), nullable=False),
    Column("params", Text, nullable=False),
    Column("payload", LargeBinary),  # JSON, deflated
    Column("fetched_at", Float),
    Column("run", Text),  # the run that paid
    # A lease and the reservation of its cost are one thing: while `holder` is set and `lease_until` lies ahead, one
    # search of this run and question is spoken for. A dead owner's share returns when the lease ends.
    Column("holder", Text),
    Column("lease_until", Float),
    Column("lease_run", Text),
    Column("lease_question", Text),
)
Index(
    "answers_lease",
    answers.c.lease_run,
    answers.c.lease_question,
    sqlite_where=answers.c.holder.is_not(None),
    postgresql_where=answers.c.holder.is_not(None),
)

calls = Table(
    "calls",
    metadata,
    Column("run", Text, primary_key=True),
    Column("question_id", Text, primary_key=True),
    Column("sample", Integer, primary_key=True),
    Column("call_id", Text, primary_key=True),
    Column("key", String(64), nullable=False),
    Column("outcome", String(8), nullable=False),  # open | cached | paid | free
)

questions = Table(
    "questions",
    metadata,
    Column("run", Text, primary_key=True),
    Column("question_id", Text, primary_key=True),
    Column("billed", Integer, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("run", Text, primary_key=True),
    Column("billed", BigInteger, nullable=False),
    Column("cache_hits", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("usd", Float, nullable=False),
)

token_holds = Table(
    "token_holds",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run", Text, nullable=False, index=True),
    Column("holder", Text, nullable=False),
    Column("until", Float, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("usd", Float, nullable=False),
)

rates = Table(
    "rates",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("next_at", Float, nullable=False),
    Column("factor", Float, nullable=False),
    Column("factor_at", Float, nullable=False),
    Column("slots", BigInteger, nullable=False),
)

stops = Table(
    "stops",
    metadata,
    Column("run", Text, primary_key=True),
    Column("reason", String(32), nullable=False),
    Column("detail", Text, nullable=False),
    Column("at", Float, nullable=False),
)
