"""The database behind a ledger: one code path for SQLite and PostgreSQL.

Every change is made under one lock (SQLite's write lock; an advisory lock in PostgreSQL), so what a transaction has
read stays true until it commits. That is what makes "look, then reserve" a hard wall, and the searches of a run are
far too slow to need more.

PostgreSQL connections are in the driver's autocommit mode, and transactions are begun below: beginning, taking the lock
and reading the clock are one message to the server. On a busy machine every message costs a wait for a processor, and
all of them while the others wait for the lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from . import schema
from .outcomes import LedgerError, LedgerLost, LedgerUrlError

ADVISORY_LOCK = 0x7469725F  # "tir_"
RATE_LOCK = ADVISORY_LOCK + 1
"""The rate's queue has a lock of its own in PostgreSQL: it depends on nothing else, and must not wait for searches."""
BUSY_TIMEOUT_S = 30.0
FROZEN_S = 60.0
"""How long a process may stand still inside a transaction in PostgreSQL."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One reading of the ledger's clock, and this process's monotonic clock before and after it."""

    now: float
    before: float
    after: float


class Store:
    """Opened database. Threads may share it; processes each open their own."""

    def __init__(self, engine: Engine, *, sqlite_path: Path | None) -> None:
        self._engine = engine
        self._path = sqlite_path
        self._mine = threading.local()
        self._kept: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._generation = 0
        """Goes up with each failure: connections of an earlier generation are not used again."""
        self._closed = False

    @property
    def is_sqlite(self) -> bool:
        return self._path is not None

    @classmethod
    def open(cls, url: str) -> Store:
        """Connect, and make the tables where they are missing. Raises LedgerError in plain words."""
        parsed = _parsed(url)
        if parsed.get_backend_name() == "sqlite":
            store = cls._open_sqlite(url, Path(parsed.database or ""))
        else:
            store = cls._open_postgres(url)
        try:
            store._make_tables()
        except (LedgerLost, DBAPIError, OSError) as error:
            store.close()
            said = " ".join(str(getattr(error, "orig", None) or getattr(error, "detail", None) or error).split())
            raise LedgerError(f"ledger at {parsed.render_as_string()} cannot be used: {said}") from error
        except LedgerError:
            store.close()
            raise
        return store

    @classmethod
    def _open_sqlite(cls, url: str, path: Path) -> Store:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(f"ledger {path}: its folder cannot be made: {error.strerror}") from error
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
            reading = connection.info["lock"] is None
            driver: Any = connection.connection.dbapi_connection  # as in ``statements.run``
            driver.execute("BEGIN" if reading else "BEGIN IMMEDIATE")
            before = time.monotonic()
            now = time.time()
            connection.info["moment"] = Moment(now, before, time.monotonic())

        return cls(engine, sqlite_path=path)

    @classmethod
    def _open_postgres(cls, url: str) -> Store:
        try:
            engine = create_engine(url, pool_size=4, max_overflow=8, isolation_level="AUTOCOMMIT")
        except (NoSuchModuleError, ModuleNotFoundError):
            raise LedgerError(
                "ledger.url names PostgreSQL, but psycopg is not installed; install envs/optional-postgres.txt"
            ) from None

        @event.listens_for(engine, "connect")
        def _connect(connection: Any, _record: object) -> None:
            # As NORMAL above: a flush to disk inside the one lock would make all processes wait for it.
            connection.execute("SET synchronous_commit = off")
            # The server ends the transaction of a process that froze or was cut off, or its lock would stop all others.
            connection.execute(f"SET idle_in_transaction_session_timeout = '{FROZEN_S:g}s'")
            connection.commit()

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            lock = connection.info["lock"]
            locking = "" if lock is None else f"SELECT pg_advisory_xact_lock({int(lock)}); "
            driver: Any = connection.connection.dbapi_connection
            before = time.monotonic()
            # In a stricter isolation level, which a server may have as its default, all reads would be as of before the
            # wait for the lock, and every cap could be passed.
            begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
            cursor = driver.execute(f"{begin}; {locking}SELECT extract(epoch FROM clock_timestamp())::float8")
            while cursor.nextset():
                pass
            connection.info["moment"] = Moment(float(cursor.fetchone()[0]), before, time.monotonic())

        return cls(engine, sqlite_path=None)

    def _make_tables(self) -> None:
        # SQLite answers "locked" at once when two connections switch to WAL together, whatever the timeout.
        with self._file_lock():
            with self.read() as connection:
                version = self._version(connection)
            if version is None:
                with self.write() as connection:
                    schema.metadata.create_all(connection)
                    version = self._version(connection)
                    if version is None:
                        version = schema.SCHEMA_VERSION
                        connection.execute(insert(schema.about).values(version=version))
        if version != schema.SCHEMA_VERSION:
            raise LedgerError(
                f"the ledger has schema version {version}, this program needs {schema.SCHEMA_VERSION}; "
                "export its cache with the program that wrote it, and import that into a new ledger"
            )

    @staticmethod
    def _version(connection: Connection) -> int | None:
        if not inspect(connection).has_table(schema.about.name):
            return None
        return connection.scalar(select(schema.about.c.version))

    @contextlib.contextmanager
    def _file_lock(self) -> Iterator[None]:
        if self._path is None:
            yield
            return
        with self._path.with_name(f"{self._path.name}.lock").open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def write(self, lock: int = ADVISORY_LOCK) -> Iterator[Connection]:
        """A transaction that no other writer (with the same lock) overlaps: committed at the end of the block, or
        rolled back. Raises LedgerLost when the database fails; ``read`` and ``look`` likewise.
        """
        with self._connected() as connection:
            connection.info["lock"] = lock
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent look that waits for no writer."""
        with self._connected() as connection:
            connection.info["lock"] = None
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def look(self) -> Iterator[Connection]:
        """For one statement by ``statements.run``: no transaction around it, so one message to the server."""
        with self._connected() as connection:
            yield connection

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        """A connection whose failures are ours to explain, whether SQLAlchemy or the driver noticed them.

        Each thread keeps one: taking it from a pool and giving it back cost as much as a small transaction. After
        a failure all threads begin with new ones, and while a connection is in use a nested block gets another.
        """
        driver: Any = self._engine.dialect.loaded_dbapi
        ours = (driver.DataError, driver.IntegrityError, driver.ProgrammingError)  # a mistake in this program
        try:
            connection = self._take()
            try:
                yield connection
            except (DBAPIError, driver.Error):
                self._generation += 1  # what ended this connection may have ended those of the other threads
                if not connection.invalidated:
                    connection.invalidate()
                connection.close()
                raise
            except BaseException:
                connection.close()
                raise
            self._keep(connection)
        except (DBAPIError, driver.Error) as error:
            if isinstance(getattr(error, "orig", error), ours):
                raise
            said = " ".join(str(getattr(error, "orig", None) or error).split())
            raise LedgerLost(f"the ledger's database failed ({said}); mend it and start again") from error

    def _take(self) -> Connection:
        """This thread's connection, or a new one."""
        connection: Connection | None = getattr(self._mine, "connection", None)
        self._mine.connection = None
        if connection is not None and self._mine.generation != self._generation:
            connection.invalidate()
            connection.close()
            connection = None
        self._mine.generation = self._generation
        return connection or self._engine.connect()

    def _keep(self, connection: Connection) -> None:
        """Leave it to this thread's next block."""
        if getattr(self._mine, "connection", None) is not None or self._closed:
            connection.close()
            return
        self._mine.connection = connection
        self._kept.add(connection)

    def moment(self, connection: Connection) -> Moment:
        """When the open transaction began, which for a writer is after it got the lock.

        The ledger's clock is this machine's for SQLite, and the server's where several machines share it.
        """
        moment: Moment = connection.info["moment"]
        return moment

    def now(self, connection: Connection) -> float:
        """The ledger's clock at ``moment``, in seconds since the epoch."""
        return self.moment(connection).now

    def close(self) -> None:
        """Close every thread's connection; no block may be open."""
        self._closed = True
        for connection in list(self._kept):
            connection.close()
        self._engine.dispose()


def _parsed(url: str) -> URL:
    """Raises LedgerUrlError for what is no URL of a database that we know."""
    try:
        parsed = make_url(url)
        name = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        name = ""
    if name == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed
    if name == "postgresql":
        return parsed
    raise LedgerUrlError(
        f"ledger.url: {name or 'this'} is no database that a ledger can be in; "
        "expected sqlite:///<file> or postgresql+psycopg://<user>@<host>/<database>"
    )
