"""For tests of all databases: the cases, how to open a database, and a workload."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import pytest

from isoscope.conformance import Opened
from isoscope.databases import connect, driver
from isoscope.databases.programs import cache_folder
from isoscope.workloads.clients import RolledBack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content, Database, Session
    from isoscope.workloads.clients import Insert, Operations, Program

#: Seconds: longer than any call of a driver may take, also on a busy machine.
SOON = 60.0
#: Programs of a server, and where Debian puts them.
SERVERS = {
    "postgresql": ("postgres", "/usr/lib/postgresql/*/bin/postgres"),
    "mariadb": ("mariadbd", "/usr/sbin/mariadbd"),
    "etcd": ("etcd", f"{cache_folder()}/etcd-server/usr/bin/etcd"),
    "galera": ("libgalera_smm.so", "/usr/lib/galera/libgalera_smm.so"),
}
#: Databases that take long to start: `test_galera.py` asks all questions of one that is started once.
SLOW = ("galera", "cassandra")
#: Databases of the whole suite; `test_more_databases.py` asks the others in processes of their own.
IN_SUITE = ("sqlite", "duckdb", *(name for name in SERVERS if name not in SLOW), "simulated")
#: Databases with a log of versions.
WITH_LOG = {"sqlite", "postgresql", "mariadb", "etcd", "galera", "simulated"}
#: URLs without a database.
UNREACHABLE = {
    "sqlite": "sqlite:/nowhere/isoscope.db",
    "duckdb": "duckdb:/nowhere/isoscope.db",
    "postgresql": "postgresql://isoscope:secret@127.0.0.1:1/isoscope",
    "mariadb": "mariadb://isoscope:secret@127.0.0.1:1/isoscope",
    "tidb": "tidb://isoscope:secret@127.0.0.1:1/isoscope",
    "cockroachdb": "cockroachdb://isoscope:secret@127.0.0.1:1/isoscope",
    "yugabytedb": "yugabytedb://isoscope:secret@127.0.0.1:1/isoscope",
    "arangodb": "arangodb://isoscope:secret@127.0.0.1:1/isoscope",
    "redis": "redis://isoscope:secret@127.0.0.1:1/0",
    "dgraph": "dgraph://127.0.0.1:1",
    "etcd": "etcd://127.0.0.1:1",
    "cassandra": "cassandra://127.0.0.1:1",
    "galera": "galera://isoscope:secret@127.0.0.1:1/isoscope",
}
#: Settings that change how a database keeps its promise.
_VARIANTS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "sqlite": ({}, {"journal_mode": "wal"}, {"begin": "immediate"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A database, one of its isolations, and settings."""

    name: str
    isolation: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        return "-".join([self.name, self.isolation, *settings])

    def connect(self) -> Database:
        return connect(self.name, isolation=self.isolation, settings=self.settings)


@contextmanager
def opened(case: Case, content: Content) -> Iterator[Opened]:
    database = case.connect()
    try:
        database.open(content)
        yield Opened(database=database)
    finally:
        database.close()


def close_all(database: Opened) -> None:
    while database.sessions:
        database.sessions.pop().close()


def write(session: Session, key: int, value: int) -> None:
    """One transaction."""
    session.begin()
    session.write(key, value)
    session.commit()


def of_names(names: Iterable[str], *, is_started: bool = True) -> list[Any]:
    """A parameter for each of these databases."""
    return [
        pytest.param(name, marks=_marks(name, is_started=is_started))
        for name in names
        if not is_started or name not in SLOW
    ]


def cases() -> list[Any]:
    """A parameter for each isolation of each database."""
    return [
        pytest.param(case, marks=_marks(case.name, is_started=True), id=str(case))
        for name in IN_SUITE
        for case in _cases_of(name)
    ]


def _cases_of(name: str) -> Iterator[Case]:
    if (missing := _missing_module(name)) is not None:
        yield Case(name=name, isolation=missing)
        return
    for isolation in driver(name).ISOLATIONS:
        for settings in _VARIANTS.get(name, ({},)):
            yield Case(name=name, isolation=isolation, settings=settings)


def _marks(name: str, *, is_started: bool) -> list[pytest.MarkDecorator]:
    missing = _missing_module(name)
    marks = [] if missing is None else [pytest.mark.skip(reason=f"{name}: {missing}")]
    if name in SERVERS and is_started:
        program, pattern = SERVERS[name]
        is_there = shutil.which(program) or [*Path("/").glob(pattern.lstrip("/"))]
        marks += [pytest.mark.server, pytest.mark.skipif(not is_there, reason=f"{program} is not installed")]
    return marks


def server_marks(name: str) -> list[pytest.MarkDecorator]:
    """The marks of tests that start a database."""
    return _marks(name, is_started=True)


def _missing_module(name: str) -> str | None:
    """The module that a driver needs and that is not installed."""
    try:
        driver(name)
    except ModuleNotFoundError as error:
        return f"no module {error.name}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Reads and writes of random keys, or appends; a share of transactions is rolled back."""

    content: Literal["register", "list"]
    sessions: int = 4
    keys: int = 8
    length: int = 4
    reads: float = 0.5
    rolled_back: float = 0.0
    seed: int = 0

    def rows(self) -> Iterable[tuple[int, int]]:
        return [(key, 0) for key in range(self.keys)]

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        return [self._client(session) for session in range(self.sessions)]

    def _client(self, session: int) -> Iterator[Program]:
        random = Random(f"{self.seed}/{session}")
        values = count(1 + session, self.sessions)

        def program(operations: Operations) -> None:
            for _ in range(self.length):
                key = random.randrange(self.keys)
                if random.random() < self.reads:
                    operations.read(key)
                elif self.content == "list":
                    operations.append(key, next(values))
                else:
                    operations.write(key, next(values))
            if random.random() < self.rolled_back:
                raise RolledBack

        while True:
            yield program
