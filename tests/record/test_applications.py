"""Applications of the literature through the recorder, on SQLite, PostgreSQL and MariaDB."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.applications import rubis, smallbank, twitter, ycsb
from benchmarks.applications.servers import MariaDB, PostgreSQL, Simulated, Target

import isoscope
from isoscope.record import record
from tests.databases.mariadb_servers import on_a_server, started
from tests.databases.postgresql_servers import Running, server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from isoscope.databases.mariadb.connection import Place

APPLICATIONS: dict[str, Any] = {
    "rubis": (rubis.SCHEMA, rubis.load, rubis.Rubis),
    "smallbank": (smallbank.SCHEMA, smallbank.load, smallbank.SmallBank),
    "twitter": (twitter.SCHEMA, twitter.load, twitter.Twitter),
    "ycsb-a": (ycsb.SCHEMA, ycsb.load_all, ycsb.WorkloadA),
    "ycsb-ranges": (ycsb.SCHEMA, ycsb.load, ycsb.Ranges),
}
#: So few that sessions meet.
ROWS = 6


def prepare(connection: Any, name: str, *, is_qmark: bool = False) -> None:
    schema, load, _ = APPLICATIONS[name]
    cursor = connection.cursor()
    for statement in schema:
        cursor.execute(statement)
    load(lambda sql, rows: cursor.executemany(sql.replace("%s", "?") if is_qmark else sql, rows), ROWS)
    connection.commit()
    connection.close()


def transact(
    connect: Callable[[], Any], name: str, seed: str, is_refused: Callable[[Exception], bool]
) -> None:
    with closing(connect()) as connection:
        terminal = APPLICATIONS[name][2](connection.cursor(), ROWS, seed)
        for _ in range(40):
            try:
                terminal.choose()()
                connection.commit()
            except Exception as error:
                if not is_refused(error):
                    raise
                connection.rollback()


def verdict(recorded: Any, folder: Path, *, is_whole: bool = True) -> Any:
    found = isoscope.load(recorded.save(folder / "all.program"))
    assert not is_whole or not found.source.notes
    return isoscope.check(found, "serializable").verdicts[0]


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_on_sqlite_is_serializable(tmp_path: Path, name: str) -> None:
    def connect() -> Any:
        return sqlite3.connect(tmp_path / "app.db")

    prepare(connect(), name, is_qmark=True)
    with record() as recorded:
        transact(connect, name, "1", lambda _: False)
    assert str(verdict(recorded, tmp_path).outcome) == "holds"


@pytest.mark.parametrize(("level", "outcome"), [("serializable", "holds"), ("read-committed", "violated")])
@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_on_the_simulated_database_is_decided(
    tmp_path: Path, name: str, level: str, outcome: str
) -> None:
    is_decided(Simulated(level), tmp_path, name, level=level, outcome=outcome)


@server
@pytest.mark.parametrize(("level", "outcome"), [("serializable", "holds"), ("read-committed", "violated")])
@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_on_postgresql_is_decided(
    running: Running, tmp_path: Path, name: str, level: str, outcome: str
) -> None:
    is_decided(PostgreSQL(running.where), tmp_path, name, level=level, outcome=outcome)


@on_a_server
@pytest.mark.parametrize(("level", "outcome"), [("serializable", "holds"), ("read-committed", "violated")])
@pytest.mark.parametrize("name", ["rubis", "twitter", "ycsb-a"])
def test_an_application_on_mariadb_is_decided(
    place: Place, tmp_path: Path, name: str, level: str, outcome: str
) -> None:
    where = {"host": place.host, "port": place.port, "user": place.user, "password": place.password}
    is_decided(MariaDB(where), tmp_path, name, level=level, outcome=outcome)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with started() as found:
        yield found


def is_decided(target: Target, folder: Path, name: str, *, level: str, outcome: str) -> None:
    def verdicts() -> Iterator[Any]:
        for attempt in range(20):
            target.clear()
            prepare(target.connect(""), name)
            with record() as recorded:
                in_threads(target, name, level, str(attempt))
            # At a weak level, a statement may have had several versions to see.
            yield verdict(recorded, folder, is_whole=level == "serializable")

    # Sessions of a weak level may happen not to meet.
    tried = list(up_to(outcome, verdicts())) if outcome == "violated" else [next(verdicts())]
    assert str(tried[-1].outcome) == outcome, f"{tried[-1].reason} in {folder}"


def up_to(outcome: str, verdicts: Iterator[Any]) -> Iterator[Any]:
    """The verdicts up to the first with this outcome."""
    for one in verdicts:
        yield one
        if str(one.outcome) == outcome:
            return


def in_threads(target: Target, name: str, level: str, seed: str) -> None:
    threads = [
        threading.Thread(
            target=transact,
            args=(lambda: target.connect(level), name, f"{seed}-{number}", target.is_refused),
        )
        for number in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
