"""One connection to SQLite, and the meaning of its errors for a run."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from time import monotonic, sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Aborted
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.databases.database import Found

__all__ = ["IN_USE", "Session", "sentence"]

IN_USE = "another program is using the file"

#: Seconds between two attempts to get a lock of the shared cache: SQLite does not wait for those.
_PAUSE = 0.0005
#: Errors that end a transaction, but not the run: a lock, snapshot, rollback or row of another one.
_CONFLICTS = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_ABORT, sqlite3.SQLITE_CONSTRAINT}
)
_HINTS = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: "free space on the disk",
        sqlite3.SQLITE_READONLY: "the file and its folder must be writable",
        sqlite3.SQLITE_CANTOPEN: "the folder must be there and writable; "
        "an absolute path is `sqlite:/PATH`, or `sqlite:////PATH` as a URL",
        sqlite3.SQLITE_NOTADB: "the file is something else, or encrypted",
        sqlite3.SQLITE_BUSY: IN_USE,
    }
)
_TRIGGER = """
CREATE TEMP TRIGGER isoscope_{event} AFTER {event} ON main.isoscope BEGIN
  INSERT INTO isoscope_log (key, value) VALUES (new.key, new.value);
END
"""


class Session:
    """One connection."""

    __slots__ = ("_connection", "_path", "_timeout", "beginning", "latency")

    def __init__(self, connection: sqlite3.Connection, path: Path, timeout: float) -> None:
        self._connection = connection
        self._path = path
        self._timeout = timeout
        self.beginning = "BEGIN"
        self.latency = 0.0

    def begin(self) -> None:
        """Starts a transaction; one that is open is rolled back."""
        self.rollback()
        self.execute(self.beginning)

    def read(self, key: int) -> Found:
        """What `key` holds."""
        rows = self.execute("SELECT value FROM isoscope WHERE key = ?", (key,))
        return _found(rows[0][0]) if rows else None

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""
        self.execute("UPDATE isoscope SET value = ? WHERE key = ?", (value, key))

    def append(self, key: int, value: int) -> None:
        """Appends to a list, which is text."""
        self.execute(
            "UPDATE isoscope SET value = iif(value = '', '', value || ',') || ? WHERE key = ?", (value, key)
        )

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        self.execute("INSERT INTO isoscope VALUES (?, ?)", (key, value))

    def delete(self, key: int) -> None:
        """Removes a row."""
        if not self.execute("DELETE FROM isoscope WHERE key = ? RETURNING 1", (key,)):
            self.rollback()
            raise Aborted("the row is not there")

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers by key."""
        rows: list[tuple[int, int]] = self.execute(
            "SELECT key, value FROM isoscope WHERE key BETWEEN ? AND ? ORDER BY key", (low, high)
        )
        return rows

    def commit(self) -> None:
        """Commits."""
        self.execute("COMMIT")

    def rollback(self) -> None:
        """Rolls back what is open."""
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Closes the connection."""
        self.rollback()
        with suppress(sqlite3.Error):
            self._connection.close()

    def log(self) -> None:
        """Records every change of this connection by triggers."""
        for event in ("INSERT", "UPDATE"):
            self.execute(_TRIGGER.format(event=event))

    def insert_all(self, rows: list[tuple[int, int | str]]) -> None:
        """Commits these rows."""
        self.execute("BEGIN IMMEDIATE")
        for row in rows:
            self.execute("INSERT INTO isoscope VALUES (?, ?)", row)
        self.execute("COMMIT")

    def execute(self, statement: str, parameters: tuple[int | str, ...] = ()) -> list[Any]:
        """All rows of a statement. A failure ends the transaction, also that of a COMMIT."""
        if self.latency:
            sleep(self.latency)
        end = monotonic() + self._timeout
        while True:
            try:
                return self._connection.execute(statement, parameters).fetchall()
            except sqlite3.Error as error:
                if _code(error) == sqlite3.SQLITE_LOCKED_SHAREDCACHE and monotonic() < end:
                    sleep(_PAUSE)
                    continue
                self.rollback()
                raise _failure(error, self._path) from None


def _found(value: int | str) -> Found:
    """A register, or a list as text."""
    if isinstance(value, int):
        return value
    return tuple(map(int, value.split(","))) if value else ()


def _failure(error: sqlite3.Error, path: Path) -> Aborted | DatabaseError:
    """The meaning of an error of SQLite for a run."""
    if _code(error) & 0xFF in _CONFLICTS:
        return Aborted(f"{_message(error)} ({error.sqlite_errorname})")
    return DatabaseError(sentence(error, path))


def sentence(error: sqlite3.Error, path: Path) -> str:
    """The error with the path of the file, and a hint."""
    hint = _HINTS.get(_code(error) & 0xFF)
    return f"{path}: {_message(error)}" + (f"\n\nhint: {hint}" if hint else "")


def _message(error: sqlite3.Error) -> str:
    """The message without the name of the table or row."""
    return str(error).partition(":")[0]


def _code(error: sqlite3.Error) -> int:
    """The extended code; an error of a closed connection has none."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code
