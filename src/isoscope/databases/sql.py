"""A driver for a database that speaks SQL and has a Python library with DB-API connections (PEP 249).

A subclass fills in `connect`, `begin` and `failure`, and names its isolations; `isoscope new driver NAME`
writes one. Lists are kept as text, as `,3,5`, which every SQL database can append to in one statement.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases.database import Aborted, ConnectionLost, Database
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isoscope.databases.database import Content, Found

__all__ = ["SQLDatabase", "SQLSession"]


class SQLDatabase(Database):
    """A table of registers or lists in a database that speaks SQL.

    `PLACEHOLDER` is how the library writes a parameter (`?` or `%s`); the statements may be replaced where
    the dialect needs another one.
    """

    SETTINGS: ClassVar[Mapping[str, str]] = {}
    #: How a parameter is written: `?` (qmark) or `%s` (format).
    PLACEHOLDER: ClassVar[str] = "?"
    TABLE: ClassVar[str] = "isoscope_run"
    CREATE: ClassVar[Mapping[str, str]] = {
        "register": "CREATE TABLE {table} (id BIGINT PRIMARY KEY, value BIGINT NOT NULL)",
        "list": "CREATE TABLE {table} (id BIGINT PRIMARY KEY, value VARCHAR(10000) NOT NULL)",
    }
    #: Appends a text to a text.
    APPEND: ClassVar[str] = "UPDATE {table} SET value = value || {p} WHERE id = {p}"

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        self.isolation, self.url, self.settings = isolation, url, settings
        self._content: Content = "register"
        self._lock = Lock()
        self._admin: SQLSession | None = None

    def connect(self) -> Any:
        """A new DB-API connection without automatic transactions: BEGIN and COMMIT are sent as statements."""
        raise NotImplementedError

    def begin(self, cursor: Any) -> None:
        """Starts a transaction at `self.isolation`."""
        raise NotImplementedError

    def failure(self, error: Exception) -> Exception:
        """What an error of the library means: `Aborted`, `ConnectionLost`, or else `DatabaseError`."""
        raise NotImplementedError

    def version(self, cursor: Any) -> str:  # noqa: ARG002 - a subclass may ask the server
        """Name and version of the database."""
        return self.NAME

    def open(self, content: Content) -> str:
        """Connects and makes the table."""
        self._content = content
        try:
            self._admin = self._connected()
            self._admin.execute(self.CREATE[content])
            return self.version(self._admin.cursor)
        except (Aborted, ConnectionLost) as error:
            raise DatabaseError(f"the table {self.TABLE} cannot be made: {error}") from None

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values."""
        assert self._admin is not None, "opened first"
        given = list(rows)
        with self._lock:
            if given:
                self._insert(self._admin, given)

    def _insert(self, session: SQLSession, rows: list[tuple[int, int]]) -> None:
        try:
            session.begin()
            for key, value in rows:
                session.add(key, "" if self._content == "list" else value)
            session.commit()
        except Aborted as error:
            raise DatabaseError(f"rows cannot be inserted: {error}") from None

    def session(self) -> SQLSession:
        """A new connection."""
        return self._connected()

    def _connected(self) -> SQLSession:
        try:
            connection = self.connect()
            return SQLSession(self, connection, self._content)
        except NotImplementedError:
            raise
        except Exception as error:
            raise _as_failure(self, error) from None

    def version_order(self) -> None:
        """SQL alone does not tell the order of versions."""

    def close(self) -> None:
        """Drops the table."""
        if self._admin is not None:
            with suppress(Exception):
                self._admin.rollback()
                self._admin.execute("DROP TABLE {table}")
            self._admin.close()
            self._admin = None


def _as_failure(database: SQLDatabase, error: Exception) -> Exception:
    if isinstance(error, Aborted | ConnectionLost | DatabaseError):
        return error
    told = database.failure(error)
    known = isinstance(told, Aborted | ConnectionLost | DatabaseError)
    return told if known else DatabaseError(f"{type(error).__name__}: {error}")


class SQLSession:
    """One connection."""

    def __init__(self, database: SQLDatabase, connection: Any, content: Content) -> None:
        self._database, self._connection, self._content = database, connection, content
        self.cursor = connection.cursor()
        self._is_open = False

    def begin(self) -> None:
        """Starts a transaction; one that is open is rolled back."""
        self.rollback()
        try:
            self._database.begin(self.cursor)
        except Exception as error:
            raise self._told(error) from None
        self._is_open = True

    def read(self, key: int) -> Found:
        """What `key` holds."""
        rows = self.execute("SELECT value FROM {table} WHERE id = {p}", key)
        if not rows:
            return None
        value = rows[0][0]
        return tuple(map(int, value.split(",")[1:])) if self._content == "list" else int(value)

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""
        self.execute("UPDATE {table} SET value = {p} WHERE id = {p}", value, key)

    def append(self, key: int, value: int) -> None:
        """Appends to a list."""
        self.execute(self._database.APPEND, f",{value}", key)

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        self.add(key, f",{value}" if self._content == "list" else value)

    def add(self, key: int, value: int | str) -> None:
        """Adds a row with this content."""
        self.execute("INSERT INTO {table} (id, value) VALUES ({p}, {p})", key, value)

    def delete(self, key: int) -> None:
        """Removes a row; a row that is not there ends the transaction."""
        self.execute("DELETE FROM {table} WHERE id = {p}", key)
        if self.cursor.rowcount == 0:
            self.rollback()
            raise Aborted("the row is not there")

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`, by key."""
        statement = "SELECT id, value FROM {table} WHERE id BETWEEN {p} AND {p} ORDER BY id"
        return [(int(key), int(value)) for key, value in self.execute(statement, low, high)]

    def commit(self) -> None:
        """Commits."""
        self.execute("COMMIT")
        self._is_open = False

    def rollback(self) -> None:
        """Rolls back; never fails."""
        if self._is_open:
            self._is_open = False
            with suppress(Exception):
                self.cursor.execute("ROLLBACK")

    def close(self) -> None:
        """Closes the connection; never fails."""
        self.rollback()
        with suppress(Exception):
            self._connection.close()

    def execute(self, statement: str, *parameters: int | str) -> Sequence[Any]:
        """The rows of a statement. A failure ends the transaction."""
        text = statement.format(table=self._database.TABLE, p=self._database.PLACEHOLDER)
        try:
            self.cursor.execute(text, parameters) if parameters else self.cursor.execute(text)
            return self.cursor.fetchall() if self.cursor.description else ()
        except Exception as error:
            raise self._told(error) from None

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, NotImplementedError):
            return error
        told = _as_failure(self._database, error)
        if not isinstance(told, ConnectionLost):
            self.rollback()
        return told
