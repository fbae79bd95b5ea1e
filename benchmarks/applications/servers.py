"""The servers that applications run on, each with what their programs need to know of its driver."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from isoscope.databases.database import Aborted
from isoscope.databases.mariadb import server as mariadb_server
from isoscope.databases.postgresql.server import start
from isoscope.databases.process import Server
from isoscope.record.simulated import SimulatedSQL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

__all__ = ["SERVERS", "MariaDB", "PostgreSQL", "SQLite", "Simulated", "Target"]


class Target(Protocol):
    """A server that an application runs on."""

    def connect(self, level: str) -> Any:
        """A connection at this isolation level, or at the server's own if it is empty."""

    def clear(self) -> None:
        """Drops all tables."""

    def analyse(self) -> None:
        """Lets the server look at the tables, so that it takes indexes."""

    def is_refused(self, error: Exception) -> bool:
        """Whether a transaction with this error may be tried again."""


class PostgreSQL:
    """PostgreSQL through psycopg 3."""

    def __init__(self, where: dict[str, Any]) -> None:
        self._where = where

    def connect(self, level: str) -> Any:
        """A connection; statements begin transactions."""
        import psycopg  # noqa: PLC0415 - only if it is used

        connection = psycopg.connect(**self._where)
        if level:
            connection.isolation_level = psycopg.IsolationLevel[level.upper().replace("-", "_")]
        return connection

    def clear(self) -> None:
        """Drops all tables."""
        self._do("DROP SCHEMA public CASCADE", "CREATE SCHEMA public")

    def analyse(self) -> None:
        """Counts the rows of all tables."""
        self._do("ANALYZE")

    def is_refused(self, error: Exception) -> bool:
        """Serialization failures, deadlocks and rows that exist."""
        return getattr(error, "sqlstate", None) in ("40001", "40P01", "23505")

    def _do(self, *statements: str) -> None:
        connection = self.connect("")
        connection.autocommit = True
        with closing(connection):
            for statement in statements:
                connection.execute(statement)


class MariaDB:
    """MariaDB through PyMySQL."""

    def __init__(self, where: dict[str, Any]) -> None:
        self._where = where
        self.clear()

    def connect(self, level: str) -> Any:
        """A connection; statements begin transactions."""
        connection = _pymysql().connect(**self._where, database="application")
        if level:
            name = level.upper().replace("-", " ")
            connection.cursor().execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {name}")
        return connection

    def clear(self) -> None:
        """Drops all tables."""
        with closing(_pymysql().connect(**self._where)) as connection:
            connection.cursor().execute("CREATE OR REPLACE DATABASE application")

    def analyse(self) -> None:
        """InnoDB does so by itself."""

    def is_refused(self, error: Exception) -> bool:
        """Records that changed, deadlocks, waits that took too long and rows that exist."""
        return isinstance(error, _pymysql().Error) and error.args[0] in (1020, 1062, 1205, 1213)


class SQLite:
    """SQLite in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def connect(self, level: str) -> Any:
        """A connection; every transaction is serializable."""
        assert level in ("", "serializable")
        return sqlite3.connect(self._path, timeout=60, check_same_thread=False)

    def clear(self) -> None:
        """A new file."""
        self._path.unlink(missing_ok=True)

    def analyse(self) -> None:
        """It takes the primary keys anyhow."""

    def is_refused(self, error: Exception) -> bool:
        """A transaction that has read may not be allowed to write."""
        return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


class Simulated:
    """The simulated database through SQL."""

    def __init__(self, isolation: str, settings: Mapping[str, str] | None = None) -> None:
        self._isolation = isolation
        self._settings = settings
        self.clear()

    def connect(self, level: str) -> Any:
        """A connection; the isolation is that of the database, which asks for none or for its own."""
        assert level in ("", self._isolation)
        return self._database.connect()

    def clear(self) -> None:
        """A new database."""
        self._database = SimulatedSQL(self._isolation, self._settings)

    def analyse(self) -> None:
        """It has no indexes."""

    def is_refused(self, error: Exception) -> bool:
        """Conflicts, and rows that exist."""
        return isinstance(error, Aborted)


def _pymysql() -> Any:
    import pymysql  # noqa: PLC0415 - only if it is used

    return pymysql


@contextmanager
def _postgresql(*, is_durable: bool) -> Iterator[Target]:
    # A scan of a whole small table would be a predicate lock on all of it: most attempts would be refused.
    parameters = {"deadlock_timeout": "10ms", "enable_seqscan": "off"}
    # TPC-C asks for durable commits (clause 3.5), and the server makes them so by default.
    server, where = start(parameters if is_durable else {**parameters, "fsync": "off"})
    try:
        yield PostgreSQL(where)
    finally:
        server.stop()


@contextmanager
def _mariadb(*, is_durable: bool) -> Iterator[Target]:
    server = Server("mariadb", users=("mysql", "nobody"))
    try:
        place = mariadb_server.start(server, {} if is_durable else {"innodb_flush_log_at_trx_commit": "0"})
        yield MariaDB(
            {"host": place.host, "port": place.port, "user": place.user, "password": place.password}
        )
    finally:
        server.stop()


SERVERS: dict[str, Callable[..., AbstractContextManager[Target]]] = {
    "mariadb": _mariadb,
    "postgresql": _postgresql,
}
