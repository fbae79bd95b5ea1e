"""A session: one connection, one round trip for each operation.

A list is a text in which a comma precedes each element, so that it grows by one concatenation.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.databases.mariadb.connection import errors, failure
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from isoscope.databases.database import Content, Found
    from isoscope.history import Timestamp

__all__ = ["Connected"]


class Connected:
    """A session of a run; `table` is the name in statements."""

    def __init__(self, connection: Any, table: str, content: Content) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._errors = errors()
        self._is_list = content == "list"
        # Whether a transaction may be open.
        self._is_begun = False
        self._select = f"SELECT v FROM {table} WHERE k="
        self._update = f"UPDATE {table} SET v="
        self._insert = f"INSERT INTO {table} VALUES "
        self._delete = f"DELETE FROM {table} WHERE k="
        self._range = f"SELECT k,v FROM {table} WHERE k BETWEEN "

    def begin(self) -> None:
        """Starts a transaction; its snapshot is that of its first read."""
        self.run("START TRANSACTION")
        self._is_begun = True

    def read(self, key: int) -> Found:
        """What `key` holds."""
        self.run(f"{self._select}{key:d}")
        row = self._cursor.fetchone()
        if row is None:
            return None
        found: Found = _elements(row[0]) if self._is_list else row[0]
        return found

    def write(self, key: int, value: int) -> None:
        """Overwrites a register."""
        self._change(f"{self._update}{value:d} WHERE k={key:d}")

    def append(self, key: int, value: int) -> None:
        """Appends to a list."""
        self._change(f"{self._update}CONCAT(v,',{value:d}') WHERE k={key:d}")

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        content = f"',{value:d}'" if self._is_list else f"{value:d}"
        self.run(f"{self._insert}({key:d},{content})")

    def delete(self, key: int) -> None:
        """Removes a row."""
        self._change(f"{self._delete}{key:d}")

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`."""
        self.run(f"{self._range}{low:d} AND {high:d} ORDER BY k")
        return list(self._cursor.fetchall())

    def commit(self) -> tuple[Timestamp, Timestamp] | None:
        """Commits; the server tells no timestamps."""
        try:
            self.run("COMMIT")
        except DatabaseError as error:
            # It may be committed nevertheless: only the log shows it.
            raise ConnectionLost(str(error)) from error
        self._is_begun = False
        return None

    def rollback(self) -> None:
        """Rolls back if there is something to roll back; a lost connection does so by itself."""
        if self._is_begun:
            self._is_begun = False
            with suppress(self._errors):
                self._cursor.execute("ROLLBACK")

    def close(self) -> None:
        """Closes the connection."""
        with suppress(self._errors):
            self._connection.close()

    def cut(self) -> None:
        """Cuts the connection, from any thread."""
        wire = getattr(self._connection, "_sock", None)
        if wire is not None:
            with suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)

    @property
    def is_open(self) -> bool:
        """Whether the connection is open."""
        return bool(self._connection.open)

    @property
    def number(self) -> int:
        """The number of the connection on the server."""
        return int(self._connection.thread_id())

    def run(self, statement: str) -> int:
        """Runs a statement and counts its rows; after `Aborted` the transaction is rolled back."""
        try:
            count: int = self._cursor.execute(statement)
        except self._errors as error:
            failed = failure(error)
            if isinstance(failed, Aborted):
                # A lock wait timeout undoes the statement alone, and the next BEGIN would commit the rest.
                self.rollback()
            raise failed from error
        return count

    def _change(self, statement: str) -> None:
        if not self.run(statement):
            # A snapshot may show a row that was deleted since: nothing was written.
            self.rollback()
            raise Aborted("no such row")


def _elements(text: str) -> tuple[int, ...]:
    return tuple(map(int, text[1:].split(","))) if text else ()
