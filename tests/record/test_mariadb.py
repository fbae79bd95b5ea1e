"""Programs that use PyMySQL behave as before, and reads and writes are found by the content of rows."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.record import record
from tests.databases.mariadb_servers import on_a_server, started

pymysql = pytest.importorskip("pymysql")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope.databases.mariadb.connection import Place

SCHEMA = (
    "CREATE OR REPLACE TABLE Counters (id INTEGER AUTO_INCREMENT PRIMARY KEY, value INTEGER, raw BLOB)",
    "CREATE OR REPLACE TABLE notes (place INTEGER, name VARCHAR(9), PRIMARY KEY (place, name))",
)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with started() as found:
        yield found


def connected(place: Place, **named: Any) -> Any:
    where = {"host": place.host, "port": place.port, "user": place.user, "password": place.password}
    connection = pymysql.connect(**where, **named)
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS app")
    connection.select_db("app")
    connection.close()
    return pymysql.connect(**where, database="app", **named)


def work(place: Place) -> list[Any]:
    """The same calls with and without a recording give the same results."""
    seen: list[Any] = []
    connection = connected(place)
    cursor = connection.cursor()
    for statement in SCHEMA:
        cursor.execute(statement)
    changed = cursor.execute("INSERT INTO Counters (value, raw) VALUES (10, %s), (20, 'x')", [b"\x00"])
    seen += [changed, cursor.lastrowid, cursor.description, cursor.rowcount, cursor.fetchall()]
    seen += [cursor.executemany("INSERT INTO notes VALUES (%s, %s)", [(1, "a"), (1, "b")])]
    seen += [cursor.execute("UPDATE Counters SET value = value + 5 WHERE value = 10"), cursor.rowcount]
    seen += [cursor.execute("UPDATE Counters c SET c.value = %(v)s WHERE c.id = %(id)s", {"id": 2, "v": 7})]
    cursor.execute("SELECT id, value FROM Counters ORDER BY id")
    seen += [cursor.fetchall(), len(cursor.description)]
    named = connection.cursor(pymysql.cursors.DictCursor)
    named.execute("SELECT c.*, n.name FROM Counters AS c JOIN notes n ON n.place = c.id ORDER BY n.name")
    seen += list(named)
    cursor.execute("SELECT count(*), max(value) FROM Counters WHERE value > 5")
    seen += cursor.fetchall()
    seen += [cursor.execute("DELETE FROM notes WHERE place = 1 AND name = 'b'"), cursor.fetchall()]
    connection.commit()
    connection.close()
    return seen


@on_a_server
def test_a_recorded_program_sees_what_it_saw_before(place: Place, tmp_path: Path) -> None:
    plain = work(place)
    with record() as recorded:
        assert work(place) == plain
    found = isoscope.load(recorded.save(tmp_path / "all.program"))
    writes = [str(one.value) for one in found[recorded.count].operations if str(one.kind) == "write"]
    assert writes == [
        "id=1, value=10, raw=00",
        "id=2, value=20, raw=78",
        "place=1, name=a",
        "place=1, name=b",
        "id=1, value=15, raw=00",
        "id=2, value=7, raw=78",
        f"T{recorded.count}_deleted",
    ]
    assert not [note for note, _ in found.source.notes if "not covered" in note]


@on_a_server
@pytest.mark.parametrize("is_repeated", [False, True])
def test_threads_that_lose_an_update_are_found(place: Place, tmp_path: Path, *, is_repeated: bool) -> None:
    connection = connected(place, autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute(SCHEMA[0])
        cursor.execute("INSERT INTO Counters VALUES (1, 0, NULL)")
    connection.close()
    barrier = threading.Barrier(2, timeout=20)

    def increment(by: int) -> None:
        connection = connected(place)
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION innodb_snapshot_isolation = OFF")
            cursor.execute("SELECT value FROM Counters WHERE id = 1")
            (value,) = cursor.fetchone()
            barrier.wait()
            cursor.execute("UPDATE Counters SET value = %s WHERE id = 1", [value + by])
        connection.commit()
        connection.close()

    with record() as recorded:
        threads = [threading.Thread(target=increment, args=(1 if is_repeated else by,)) for by in (1, 2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    found = isoscope.load(recorded.save(tmp_path / "all.program"))
    report = isoscope.check(found, "serializable")
    assert str(report.verdicts[0].outcome) == "violated"
    assert "tests/record/test_mariadb.py" in str(report)
