"""DuckDB in this process: in memory, or in a given file.

Its only isolation is snapshot isolation, where the first transaction to write a row wins. Sessions are
cursors: each is a connection to the same database.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import duckdb

from isoscope.databases.database import Aborted, Database, Isolation, Leftover, leftovers_at_url
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.databases.database import Content, Found

__all__ = ["DATABASE", "DuckDB"]

_TYPES: Mapping[Content, str] = MappingProxyType({"register": "BIGINT", "list": "BIGINT[]"})
#: The table of a run: by its name and columns, since a table of the user may be called the same.
_LEFTOVERS = """
    SELECT table_name FROM information_schema.columns WHERE table_name = 'isoscope' GROUP BY table_name
    HAVING string_agg(column_name, ',' ORDER BY ordinal_position) = 'key,value'
"""
_HINT = "the folder must be there and writable, and no other program may have the file open"


class DuckDB(Database):
    """DuckDB in this process, one cursor for each session."""

    NAME: ClassVar[str] = "duckdb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "snapshot-isolation": Isolation(
                meaning="snapshots; the first to write a row wins",
                profile="duckdb/snapshot-isolation",
            )
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:  # noqa: ARG002 - there are none
        self.isolation = isolation
        self._path = None if url is None else _path(url)
        self._existed = False
        self._has_table = False
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._sessions: list[_Session] = []
        self._content: Content = "register"

    def open(self, content: Content) -> str:
        """Opens the file or a database in memory, and makes the table."""
        self._content = content
        self._existed, self._has_table = self._path is not None and self._path.exists(), False
        try:
            # Sessions run at the same time; more threads for one query would disturb them.
            self._connection = duckdb.connect(str(self._path or ":memory:"), config={"threads": 1})
            self._connection.execute(
                f"CREATE TABLE isoscope (key BIGINT PRIMARY KEY, value {_TYPES[content]} NOT NULL)"
            )
        except duckdb.CatalogException:
            raise DatabaseError(
                f"{self._path} already holds a table `isoscope`, which this run did not make\n\n"
                "hint: `isoscope clean` drops it if a killed run left it; or give another file"
            ) from None
        except duckdb.Error as error:
            raise DatabaseError(f"{_message(error)}\n\nhint: {_HINT}") from None
        self._has_table = True
        return f"DuckDB {duckdb.__version__}"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values."""
        initial: list[tuple[int, int | list[int]]]
        initial = [(key, [] if self._content == "list" else value) for key, value in rows]
        if not initial:
            return
        session = self._cursor()
        try:
            session.begin()
            session.insert_all(initial)
            session.commit()
        except Aborted as error:
            raise DatabaseError(f"rows cannot be inserted: {error}") from None
        finally:
            session.close()

    def session(self) -> _Session:
        """A new cursor."""
        session = self._cursor()
        self._sessions.append(session)
        return session

    def version_order(self) -> None:
        """DuckDB keeps no log of versions."""

    def close(self) -> None:
        """Drops the table, and the file if it is new."""
        for session in self._sessions:
            session.close()
        if self._connection is None:
            return
        with suppress(duckdb.Error):
            if self._has_table and self._existed:
                self._connection.execute("DROP TABLE isoscope")
        self._connection.close()
        self._connection = None
        if self._path is not None and not self._existed:
            for path in (self._path, self._path.with_name(self._path.name + ".wal")):
                with suppress(OSError):
                    path.unlink()

    def clean(self) -> list[Leftover]:
        """Drops the table of a killed run in the file."""
        path = leftovers_at_url(self.NAME, None if self._path is None else str(self._path))
        if not Path(path).exists():
            raise DatabaseError(f"{path}: there is no such file")
        try:
            with duckdb.connect(path) as connection:
                found = connection.execute(_LEFTOVERS).fetchall()
                for (name,) in found:
                    connection.execute(f"DROP TABLE {name}")
        except duckdb.Error as error:
            raise DatabaseError(f"{_message(error)}\n\nhint: {_HINT}") from None
        return [Leftover(f"table {name}") for (name,) in found]

    def _cursor(self) -> _Session:
        assert self._connection is not None, "opened first"
        return _Session(self._connection.cursor(), self._content)


DATABASE = DuckDB


class _Session:
    """One cursor."""

    __slots__ = ("_content", "_cursor", "_is_open")

    def __init__(self, cursor: duckdb.DuckDBPyConnection, content: Content) -> None:
        self._cursor = cursor
        self._content = content
        self._is_open = False

    def begin(self) -> None:
        self.rollback()
        self._execute("BEGIN")
        self._is_open = True

    def read(self, key: int) -> Found:
        rows = self._execute("SELECT value FROM isoscope WHERE key = ?", key)
        if not rows:
            return None
        value: int | list[int] = rows[0][0]
        return tuple(value) if isinstance(value, list) else value

    def write(self, key: int, value: int) -> None:
        self._execute("UPDATE isoscope SET value = ? WHERE key = ?", value, key)

    def append(self, key: int, value: int) -> None:
        self._execute("UPDATE isoscope SET value = list_append(value, ?) WHERE key = ?", value, key)

    def insert(self, key: int, value: int) -> None:
        self.insert_all([(key, [value] if self._content == "list" else value)])

    def delete(self, key: int) -> None:
        if self._execute("DELETE FROM isoscope WHERE key = ?", key) == [(0,)]:
            self.rollback()
            raise Aborted("the row is not there")

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        return self._execute(
            "SELECT key, value FROM isoscope WHERE key BETWEEN ? AND ? ORDER BY key", low, high
        )

    def commit(self) -> None:
        self._execute("COMMIT")
        self._is_open = False

    def rollback(self) -> None:
        if self._is_open:
            self._is_open = False
            with suppress(duckdb.Error):
                self._cursor.execute("ROLLBACK")

    def close(self) -> None:
        self.rollback()
        with suppress(duckdb.Error):
            self._cursor.close()

    def insert_all(self, rows: list[tuple[int, int | list[int]]]) -> None:
        """Adds these rows."""
        places = ", ".join(["(?, ?)"] * len(rows))
        self._execute(f"INSERT INTO isoscope VALUES {places}", *(value for row in rows for value in row))

    def _execute(self, statement: str, *parameters: int | list[int]) -> list[Any]:
        """All rows of a statement. A failure ends the transaction, because COMMIT would ignore it."""
        try:
            return self._cursor.execute(statement, parameters).fetchall()
        except (duckdb.TransactionException, duckdb.ConstraintException) as error:
            self.rollback()
            raise Aborted(re.sub(' ?"[^"]*"', "", _message(error))) from None
        except duckdb.Error as error:
            self.rollback()
            raise DatabaseError(_message(error)) from None


def _message(error: duckdb.Error) -> str:
    """The first line of a message, without the kind of error at its start."""
    line = str(error).partition("\n")[0]
    return line.partition(" Error: ")[2] or line


def _path(url: str) -> Path | None:
    """The file of `duckdb:PATH` or `duckdb:///PATH`; None is memory."""
    path = url.partition(":")[2].removeprefix("///")
    return None if path in {"", ":memory:"} else Path(path).absolute()
