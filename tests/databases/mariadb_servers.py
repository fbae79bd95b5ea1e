"""A MariaDB server of somebody else, for tests."""

from __future__ import annotations

import shutil
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from isoscope.databases.mariadb import connection, server
from isoscope.databases.process import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.databases.database import Content, Database

Test = TypeVar("Test", bound="Callable[..., None]")
IS_INSTALLED = shutil.which("mariadbd") or Path("/usr/sbin/mariadbd").exists()
#: A server of a test need not survive a power cut.
FAST = {"innodb_flush_log_at_trx_commit": "0"}


def on_a_server(test: Test) -> Test:
    """Marks a test that needs a server."""
    is_missing = pytest.mark.skipif(not IS_INSTALLED, reason="mariadbd is not installed")
    marked: Test = pytest.mark.server(is_missing(test))
    return marked


@contextmanager
def started() -> Iterator[connection.Place]:
    process = Server("mariadb", users=("mysql", "nobody"))
    try:
        yield server.start(process, FAST)
    finally:
        process.stop()


def url_of(place: connection.Place, database: str = "", *, password: str | None = None) -> str:
    return f"mariadb://{place.user}:{password or place.password}@{place}/{database}"


def ask(place: connection.Place, statement: str) -> Any:
    with closing(connection.connect(place)) as connected, connected.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


@contextmanager
def opened(database: Database, content: Content = "register") -> Iterator[Database]:
    try:
        database.open(content)
        yield database
    finally:
        database.close()
