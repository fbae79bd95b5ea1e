"""A driver for a database that speaks SQL and has a Python library with DB-API connections (PEP 249).

A subclass fills in `connect`, `begin` and `failure`, and names its isolations; `isoscope new driver NAME`
writes one. Lists are kept as text, as `,3,5`, which every SQL database can append to in one statement.

With `CREATE_LOG` there is an order of versions: each change of a register also adds a row to a second table,
in the same transaction. That is right where a changed row is locked until its transaction ends.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from threading import Lock
from time import monotonic, sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases.database import Aborted, ConnectionLost, Database
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isoscope.databases.database import Content, Found

__all__ = ["LOG_SETTING", "SQLDatabase", "SQLSession"]

#: The setting of databases with a log.
LOG_SETTING: Mapping[str, str] = MappingProxyType(
    {
        "log": "on (each change of a register adds a row to a second table, for the order of versions) or "
        "off (default on)"
    }
)

#: Seconds for which rows are tried to be inserted, and between two tries.
_PATIENCE, _PAUSE = 5.0, 0.01


class SQLDatabase(Database):
    """A table of registers or lists in a database that speaks SQL.

    `PLACEHOLDER` is how the library writes a parameter (`?` or `%s`); the statements may be replaced where
    the dialect needs another one.
    """

    SETTINGS: ClassVar[Mapping[str, str]] = {}
    #: How a parameter is written: `?` (qmark) or `%s` (format).
    PLACEHOLDER: ClassVar[str] = "?"
    TABLE: ClassVar[str] = "isoscope_run"
    LOG: ClassVar[str] = "isoscope_log"
    CREATE: ClassVar[Mapping[str, str]] = {
        "register": "CREATE TABLE {table} (id BIGINT PRIMARY KEY, value BIGINT NOT NULL)",
        "list": "CREATE TABLE {table} (id BIGINT PRIMARY KEY, value VARCHAR(10000) NOT NULL)",
    }
    #: Appends a text to a text.
    APPEND: ClassVar[str] = "UPDATE {table} SET value = value || {p} WHERE id = {p}"
    #: Makes the log, a table with the columns `txn`, `id` and `value`; empty if there is none.
    CREATE_LOG: ClassVar[str] = ""
    READ_LOG: ClassVar[str] = "SELECT txn, id, value FROM {log} ORDER BY place"
    #: Removes what `open` made.
    DROP: ClassVar[str] = "DROP TABLE {table}"
    #: Whether `rowcount` counts the rows that an UPDATE finds, also those that it does not change. Then an
    #: UPDATE that finds no row ends the transaction.
    COUNTS_FOUND: ClassVar[bool] = False

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        self.isolation, self.url, self.settings = isolation, url, settings
        self._content: Content = "register"
        self._lock = Lock()
        self._admin: SQLSession | None = None
        #: Numbers of transactions in the log.
        self.numbers = count(1)

    @property
    def has_log(self) -> bool:
        """Whether changes of rows are logged."""
        is_on = bool(self.CREATE_LOG) and self.settings.get("log", "on") == "on"
        return is_on and self._content == "register"

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
            if self.has_log:
                self._admin.execute(self.CREATE_LOG)
            return self.version(self._admin.cursor)
        except (Aborted, ConnectionLost) as error:
            raise DatabaseError(f"the table {self.TABLE} cannot be made: {error}") from None

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values."""
        assert self._admin is not None, "opened first"
        given = list(rows)
        with self._lock:
            end = monotonic() + _PATIENCE
            while given and not self._inserted(self._admin, given, end):
                sleep(_PAUSE)

    def _inserted(self, session: SQLSession, rows: list[tuple[int, int]], end: float) -> bool:
        """Whether the rows are committed; they are tried again until `end`: sessions may lock the table."""
        try:
            session.begin()
            for key, value in rows:
                session.add(key, "" if self._content == "list" else value)
            session.commit()
        except Aborted as error:
            if monotonic() >= end:
                raise DatabaseError(f"rows cannot be inserted: {error}") from None
            return False
        return True

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

    def version_order(self) -> list[tuple[int, int]] | None:
        """The last value of each key in each transaction, in the order of the log; None without a log."""
        if not self.has_log or self._admin is None:
            return None
        last: dict[tuple[int, int], int] = {}
        with self._lock:
            for txn, key, value in self._admin.execute(self.READ_LOG):
                last.pop((int(txn), int(key)), None)
                if value is not None:
                    last[int(txn), int(key)] = int(value)
        return [(key, value) for (_, key), value in last.items()]

    def close(self) -> None:
        """Drops the table."""
        if self._admin is not None:
            self._admin.rollback()
            for statement in [self.DROP, "DROP TABLE {log}"] if self.has_log else [self.DROP]:
                with suppress(Exception):
                    self._admin.execute(statement)
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
        self._number = 0

    def begin(self) -> None:
        """Starts a transaction; one that is open is rolled back."""
        self.rollback()
        try:
            self._database.begin(self.cursor)
        except Exception as error:
            raise self._told(error) from None
        self._is_open = True
        self._number = next(self._database.numbers)

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
        self._refuse_missing(found=self._database.COUNTS_FOUND)
        self._log(key, value)

    def append(self, key: int, value: int) -> None:
        """Appends to a list."""
        self.execute(self._database.APPEND, f",{value}", key)
        self._refuse_missing(found=self._database.COUNTS_FOUND)

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        self.add(key, f",{value}" if self._content == "list" else value)
        self._log(key, value)

    def add(self, key: int, value: int | str) -> None:
        """Adds a row with this content."""
        self.execute("INSERT INTO {table} (id, value) VALUES ({p}, {p})", key, value)

    def delete(self, key: int) -> None:
        """Removes a row; a row that is not there ends the transaction."""
        self.execute("DELETE FROM {table} WHERE id = {p}", key)
        self._refuse_missing(found=True)
        self._log(key, None)

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
        named = self._database
        text = statement.format(table=named.TABLE, log=named.LOG, p=named.PLACEHOLDER)
        try:
            self.cursor.execute(text, parameters) if parameters else self.cursor.execute(text)
            return self.cursor.fetchall() if self.cursor.description else ()
        except Exception as error:
            raise self._told(error) from None

    def _log(self, key: int, value: int | None) -> None:
        """Adds a version to the log, after its row is locked; None is a deleted row."""
        if self._database.has_log:
            places = "NULL" if value is None else "{p}"
            logged = (self._number, key) if value is None else (self._number, key, value)
            self.execute(f"INSERT INTO {{log}} (txn, id, value) VALUES ({{p}}, {{p}}, {places})", *logged)

    def _refuse_missing(self, *, found: bool) -> None:
        """Ends the transaction if its last statement, which counts what it found, found no row."""
        if found and self.cursor.rowcount == 0:
            self.rollback()
            raise Aborted("the row is not there")

    def _told(self, error: Exception) -> Exception:
        if isinstance(error, NotImplementedError):
            return error
        told = _as_failure(self._database, error)
        if not isinstance(told, ConnectionLost):
            self.rollback()
        return told
