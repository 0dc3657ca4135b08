"""The database behind a ledger: one code path for SQLite and PostgreSQL.

Every change is made under one lock (SQLite's write lock; an advisory lock in PostgreSQL), so what a transaction has
read stays true until it commits. That is what makes "look, then reserve" a hard wall, and the searches of a run are
far too slow to need more.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from . import schema
from .outcomes import LedgerError

ADVISORY_LOCK = 0x7469725F  # "tir_"
BUSY_TIMEOUT_S = 30.0


class Store:
    """Opened database. Threads may share it; processes each open their own."""

    def __init__(self, engine: Engine, *, sqlite_path: Path | None) -> None:
        self._engine = engine
        self._path = sqlite_path

    @property
    def is_sqlite(self) -> bool:
        return self._path is not None

    @classmethod
    def open(cls, url: str) -> Store:
        """Connect, and make the tables where they are missing. Raises LedgerError in plain words."""
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise LedgerError("ledger.url is no database URL; expected sqlite:///… or postgresql+psycopg://…") from None
        if parsed.get_backend_name() == "sqlite":
            store = cls._open_sqlite(url, Path(parsed.database or ""))
        elif parsed.get_backend_name() == "postgresql":
            store = cls._open_postgres(url)
        else:
            raise LedgerError(f"ledger.url names {parsed.get_backend_name()!r}; expected sqlite or postgresql")
        try:
            store._make_tables()
        except DBAPIError as error:
            store.close()
            raise LedgerError(f"ledger at {parsed.render_as_string()}: {error.orig}") from error
        return store

    @classmethod
    def _open_sqlite(cls, url: str, path: Path) -> Store:
        path.parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(
            url, connect_args={"timeout": BUSY_TIMEOUT_S}, pool_size=4, max_overflow=64, paramstyle="named"
        )

        @event.listens_for(engine, "connect")
        def _connect(connection: Any, _record: object) -> None:
            connection.isolation_level = None  # transactions are begun below, not by the driver
            cursor = connection.cursor()
            # NORMAL: a commit survives the death of the process; the newest ones may go with the power.
            for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "cache_size=-16000"):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            reading = connection.get_execution_options().get("ledger_read", False)
            connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

        return cls(engine, sqlite_path=path)

    @classmethod
    def _open_postgres(cls, url: str) -> Store:
        try:
            engine = create_engine(url, pool_size=4, max_overflow=8, pool_pre_ping=False)
        except (NoSuchModuleError, ModuleNotFoundError):
            raise LedgerError(
                "ledger.url names PostgreSQL, but psycopg is not installed; install envs/optional-postgres.txt"
            ) from None

        @event.listens_for(engine, "connect")
        def _connect(connection: Any, _record: object) -> None:
            # As NORMAL above: a flush to disk inside the one lock would make all processes wait for it.
            connection.execute("SET synchronous_commit = off")
            connection.commit()

        return cls(engine, sqlite_path=None)

    def _make_tables(self) -> None:
        # SQLite answers "locked" at once when two connections switch to WAL together, whatever the timeout.
        with self._file_lock(), self.write() as connection:
            schema.metadata.create_all(connection)
            version = connection.scalar(select(schema.about.c.version))
            if version is None:
                connection.execute(insert(schema.about).values(version=schema.SCHEMA_VERSION))
            elif version != schema.SCHEMA_VERSION:
                raise LedgerError(
                    f"the ledger has schema version {version}, this program needs {schema.SCHEMA_VERSION}; "
                    "export its cache with the program that wrote it, and import that into a new ledger"
                )

    @contextlib.contextmanager
    def _file_lock(self) -> Iterator[None]:
        if self._path is None:
            yield
            return
        with self._path.with_name(f"{self._path.name}.lock").open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that no other writer overlaps: committed at the end of the block, or rolled back."""
        with self._engine.begin() as connection:
            if self._path is None:
                connection.execute(_PG_LOCK, {"key": ADVISORY_LOCK})
            yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent look that waits for no writer."""
        with self._engine.connect().execution_options(ledger_read=True) as connection:
            yield connection

    def now(self, connection: Connection) -> float:
        """The ledger's clock, in seconds: this machine's for SQLite, the server's where several machines share it."""
        if self._path is not None:
            return time.time()
        return float(connection.scalar(_PG_NOW) or 0.0)

    def close(self) -> None:
        self._engine.dispose()


_PG_LOCK = text("SELECT pg_advisory_xact_lock(:key)")
_PG_NOW = text("SELECT extract(epoch FROM clock_timestamp())")
