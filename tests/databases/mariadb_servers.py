"""A MariaDB server that tests use as one at a URL."""

from __future__ import annotations

import shutil
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from isoscope import checkers
from isoscope.databases import connect
from isoscope.databases.mariadb import connection, server
from isoscope.databases.process import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.databases.database import Content, Database, Session
    from isoscope.levels import Level
    from isoscope.run import Run
    from isoscope.verdict import Outcome
    from isoscope.workloads.clients import Insert, Operations, Program

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


@pytest.fixture(scope="module")
def place() -> Iterator[connection.Place]:
    with started() as place:
        yield place


@pytest.fixture
def database(place: connection.Place, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Keys 1 and 2, both 0, with the isolation and settings of the parameter, by default none."""
    isolation, settings = getattr(request, "param", ("repeatable-read", {}))
    with opened(connect(url_of(place), isolation=isolation, settings=settings)) as database:
        database.insert([(1, 0), (2, 0)])
        yield database


def begun(database: Database) -> Session:
    session = database.session()
    session.begin()
    return session


def committed(database: Database, **written: int) -> None:
    """Commits a write of each key (`k1=5`)."""
    session = begun(database)
    for key, value in written.items():
        session.write(int(key[1:]), value)
    session.commit()
    session.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Short transactions of reads and writes on few keys."""

    content: Content = "register"
    sessions: int = 4
    keys: int = 4
    operations: int = 4
    seed: int = 1
    each: Callable[[], None] = lambda: None

    def rows(self) -> list[tuple[int, int]]:
        return [(key, 0) for key in range(self.keys)]

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        return [self._client(number) for number in range(self.sessions)]

    def _client(self, number: int) -> Iterator[Program]:
        random, values = Random(f"{self.seed} {number}"), count(1)

        def program(operations: Operations) -> None:
            self.each()
            for _ in range(self.operations):
                key = random.randrange(self.keys)
                if random.random() < 0.5:
                    operations.read(key)
                    continue
                value = next(values) * self.sessions + number
                (operations.append if self.content == "list" else operations.write)(key, value)

        while True:
            yield program


def outcomes(found: Run, *levels: Level) -> dict[Level, Outcome]:
    assert found.problem is None
    assert found.history is not None
    return {verdict.level: verdict.outcome for verdict in checkers.check(found.history, levels).verdicts}
