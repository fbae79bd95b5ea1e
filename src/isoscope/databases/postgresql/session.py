"""A session on PostgreSQL: prepared statements, one round trip each.

They go to libpq directly: it waits for the answer while other threads run, and an integer is an integer
whatever its size. Every error ends the transaction; its code says whether the connection, too.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from psycopg import Connection

    from isoscope.databases.database import Content, Found

__all__ = ["PostgreSQLSession"]

_STATEMENTS = {
    "register": {
        b"read": "SELECT value FROM {} WHERE key = $1",
        b"write": "UPDATE {} SET value = $2 WHERE key = $1",
        b"insert": "INSERT INTO {} VALUES ($1, $2)",
        b"delete": "DELETE FROM {} WHERE key = $1",
        b"range_read": "SELECT key, value FROM {} WHERE key BETWEEN $1 AND $2 ORDER BY key",
    },
    "list": {
        b"read": "SELECT value FROM {} WHERE key = $1",
        b"append": "UPDATE {} SET value = value || $2::bigint WHERE key = $1",
        b"insert": "INSERT INTO {} VALUES ($1, ARRAY[$2::bigint])",
        b"delete": "DELETE FROM {} WHERE key = $1",
    },
}
#: Codes, or how they begin (PostgreSQL documentation, appendix A), after which a transaction can be tried
#: again: conflict or deadlock, constraint, an error before, a cancelled statement, a lock that is not free.
_AGAIN = ("40", "23", "25P02", "57014", "55P03")
#: What a standby answers to a write.
_READ_ONLY = "25006"
#: The connection is lost, or the server closed it, or it does not know whether the statement took effect.
_LOST = ("08", "57P", "40003")


class PostgreSQLSession:
    """A connection with an isolation; `begin` is its statement.

    A standby refuses to write, and a row that it does not show may only not have arrived yet: both abort.
    """

    def __init__(
        self,
        connection: Connection[Any],
        begin: bytes,
        content: Content,
        table: str,
        *,
        is_standby: bool = False,
    ) -> None:
        self._is_standby = is_standby
        self._connection = connection
        self._libpq = connection.pgconn
        self._begin = begin
        self._is_list = content == "list"
        pq = import_module("psycopg.pq")
        self._error = import_module("psycopg").Error
        self._good = {int(pq.ExecStatus.TUPLES_OK), int(pq.ExecStatus.COMMAND_OK)}
        self._idle = int(pq.TransactionStatus.IDLE)
        self._code, self._message = pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY
        for name, text in _STATEMENTS[content].items():
            self._checked(self._libpq.prepare(name, text.format(table).encode()))

    def begin(self) -> None:
        """Starts a transaction; its snapshot is that of its first statement."""
        if self._libpq.transaction_status != self._idle:
            self.rollback()
        self._send(self._begin)

    def read(self, key: int) -> Found:
        """What `key` holds."""
        result = self._execute(b"read", key)
        if not result.ntuples:
            if self._is_standby:
                raise Aborted("the row has not arrived at the standby")
            return None
        value = result.get_value(0, 0)
        return _elements(value) if self._is_list else int(value)

    def write(self, key: int, value: int) -> None:
        """Overwrites the register `key`."""
        self._change(b"write", key, value)

    def append(self, key: int, value: int) -> None:
        """Appends to the list `key`."""
        self._change(b"append", key, value)

    def insert(self, key: int, value: int) -> None:
        """Adds a row."""
        self._execute(b"insert", key, value)

    def delete(self, key: int) -> None:
        """Removes a row."""
        self._change(b"delete", key)

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        """Registers from `low` to `high`."""
        result = self._execute(b"range_read", low, high)
        value = result.get_value
        return [(int(value(row, 0)), int(value(row, 1))) for row in range(result.ntuples)]

    def commit(self) -> None:
        """Commits; PostgreSQL reports success although it rolls back a failed transaction."""
        if self._send(b"COMMIT").command_status == b"ROLLBACK":
            raise Aborted("the transaction had failed before")

    def rollback(self) -> None:
        """Rolls back."""
        try:
            if self._libpq.transaction_status != self._idle:
                self._libpq.exec_(b"ROLLBACK")
        except self._error:
            pass

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def cut(self) -> None:
        """Cuts the connection, from any thread."""
        with suppress(OSError, self._error), socket.socket(fileno=os.dup(self._libpq.socket)) as wire:
            wire.shutdown(socket.SHUT_RDWR)

    def _change(self, statement: bytes, *parameters: int) -> None:
        """Raises Aborted if the row does not exist: then the statement changed nothing."""
        if self._execute(statement, *parameters).command_tuples == 0:
            raise Aborted("the row is not there")

    def _execute(self, statement: bytes, *parameters: int) -> Any:
        try:
            result = self._libpq.exec_prepared(statement, [b"%d" % parameter for parameter in parameters])
        except self._error as error:
            raise ConnectionLost(_first_line(str(error))) from None
        return result if result.status in self._good else self._checked(result)

    def _send(self, statement: bytes) -> Any:
        try:
            return self._checked(self._libpq.exec_(statement))
        except self._error as error:
            raise ConnectionLost(_first_line(str(error))) from None

    def _checked(self, result: Any) -> Any:
        """The result; raises if it is an error."""
        if result.status in self._good:
            return result
        code = (result.error_field(self._code) or b"").decode()
        message = (result.error_field(self._message) or result.error_message).decode(errors="replace")
        message = _first_line(message)
        if not code or code.startswith(_LOST):
            raise ConnectionLost(message)
        if code.startswith(_AGAIN) or (self._is_standby and code == _READ_ONLY):
            raise Aborted(message)
        raise DatabaseError(f"PostgreSQL cannot go on: {message}")


def _elements(text: bytes) -> tuple[int, ...]:
    """A list of integers, as PostgreSQL writes it: `{1,2}`."""
    return tuple(map(int, text[1:-1].split(b","))) if len(text) > 2 else ()


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
