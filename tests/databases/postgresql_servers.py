"""A PostgreSQL server that tests use as one at a URL."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from isoscope.databases import connect
from isoscope.databases.postgresql.server import find_programs, start
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.databases.database import Content, Database

try:
    find_programs()
except DatabaseError as error:
    MISSING = str(error).partition("\n")[0]
else:
    MISSING = ""
needs_server = pytest.mark.skipif(bool(MISSING), reason=MISSING or "it is there")
SECRET = "s3cret-Word"


def server(test: Any) -> Any:
    return pytest.mark.server(needs_server(test))


class Running:
    """A server that the tests of a module share."""

    def __init__(self, where: dict[str, Any]) -> None:
        self.where = where

    def url(self, **other: Any) -> str:
        at = {**self.where, **other}
        return f"postgresql://{at['user']}:{at['password']}@{at['host']}:{at['port']}/{at['dbname']}"

    def ask(self, statement: str) -> list[Any]:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return list(cursor) if cursor.description else []

    def user(self, name: str, privileges: str = "") -> str:
        """The URL of a new user."""
        self.ask(f"CREATE USER {name} PASSWORD '{SECRET}' {privileges}")
        return self.url(user=name, password=SECRET)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    process, where = start({"wal_level": "logical", "fsync": "off", "deadlock_timeout": "10ms"})
    yield Running(where)
    process.stop()


@contextmanager
def opened(
    target: str,
    isolation: str = "repeatable-read",
    content: Content = "register",
    settings: Mapping[str, str] | None = None,
) -> Iterator[Database]:
    """An open database with the keys 1 and 2."""
    database = connect(target, isolation=isolation, settings=settings)
    try:
        database.open(content)
        database.insert([(1, 0), (2, 0)])
        yield database
    finally:
        database.close()


def refused(target: str, **settings: str) -> str:
    with pytest.raises(DatabaseError) as caught, opened(target, settings=settings):
        pass
    assert SECRET not in str(caught.value)
    return str(caught.value)
