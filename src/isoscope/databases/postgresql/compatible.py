"""Databases that speak the protocol and the SQL of PostgreSQL, at a URL.

They have neither its log nor its view of other sessions; what is left is a schema, a table and sessions.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases.database import ConnectionLost, Database
from isoscope.databases.postgresql import PostgreSQL
from isoscope.databases.postgresql.connection import connect, driver, driver_errors, parse
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from psycopg import Connection

    from isoscope.databases.database import Content, Leftover, Session
    from isoscope.databases.nodes import Nodes

__all__ = ["Compatible"]

#: Rows that one statement inserts.
_BATCH = 500


class Compatible(PostgreSQL):
    """A database at a URL; a subclass names it and its isolations."""

    SETTINGS: ClassVar[Mapping[str, str]] = {}
    #: How its version is asked for.
    VERSION: ClassVar[str] = "SELECT version()"

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        super().__init__(isolation, settings=settings)
        self._url = url
        self._opened: list[Session] = []

    def open(self, content: Content) -> str:
        """Connects, and makes a schema with an empty table."""
        driver()
        if self._url is None:
            raise DatabaseError(
                f"{self.NAME} is not started by isoscope\n\n"
                f"hint: give its URL: {self.NAME}://USER:PASSWORD@HOST:PORT/DATABASE"
            )
        self._content = content
        self._where = parse(f"postgresql:{self._url.partition(':')[2]}")
        column = "bigint" if content == "register" else "bigint[]"
        try:
            admin = self._connected()
            with driver_errors():
                admin.execute(f"CREATE SCHEMA {self._name}")
                admin.execute(f"CREATE TABLE {self._table} (key bigint PRIMARY KEY, value {column} NOT NULL)")
                (version,) = admin.execute(self.VERSION).fetchone() or ("of unknown version",)
        except ConnectionLost as error:
            raise DatabaseError(f"{self.NAME} is gone: {error}") from None
        return " ".join(str(version).split()[:3])

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values, some at a time."""
        given = [(key, "'{}'" if self._content == "list" else f"{value:d}") for key, value in rows]
        with self._lock, driver_errors():
            admin = self._connected()
            for first in range(0, len(given), _BATCH):
                values = ", ".join(f"({key:d}, {value})" for key, value in given[first : first + _BATCH])
                admin.execute(f"INSERT INTO {self._table} VALUES {values}")

    def session(self) -> Session:
        """A new connection."""
        self._opened.append(super().session())
        return self._opened[-1]

    def close(self) -> None:
        """Drops the schema."""
        # An open transaction would hold up the statement.
        for session in self._opened:
            session.close()
        self._opened = []
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()
            with suppress(DatabaseError, ConnectionLost), driver_errors(), self._connect() as admin:
                admin.execute(f"DROP SCHEMA IF EXISTS {self._name} CASCADE")

    def clean(self) -> list[Leftover]:
        """Nothing tells which schemas are in use."""
        raise UsageError(
            f"{self.NAME} does not say which schemas are in use\n\n"
            "hint: those of killed runs are called isoscope_ and eight digits: DROP SCHEMA ... CASCADE"
        )

    def use_nodes(self, count: int) -> None:
        """Nothing is started here. Raises `UsageError`."""
        Database.use_nodes(self, count)

    def use_urls(self, urls: Sequence[str]) -> None:
        """Sessions have one URL. Raises `UsageError`."""
        Database.use_urls(self, urls)

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """Nothing is started here. Raises `UsageError`."""
        raise UsageError(f"{self.NAME} takes no faults such as {', '.join(kinds)}: it is not started here")

    def _connect(self, where: dict[str, Any] | None = None) -> Connection[Any]:
        try:
            return connect(where or self._where, name=self._name, settings={})
        except DatabaseError as error:
            raise DatabaseError(str(error).replace("postgresql://", f"{self.NAME}://", 1)) from None
