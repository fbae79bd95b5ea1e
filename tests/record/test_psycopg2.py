"""Programs that use psycopg2 behave as before, and each read names its writer."""

from __future__ import annotations

import io
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg2
import pytest
from psycopg2 import extras, sql

import isoscope
from isoscope.api.stressing import stress
from isoscope.record import record
from tests.databases.postgresql_servers import Running, server

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

SCHEMA = """
DROP TABLE IF EXISTS counters, lines;
CREATE TABLE counters (id integer PRIMARY KEY, value integer);
CREATE TABLE lines (number integer, place integer, counter integer, PRIMARY KEY (number, place));
"""


def work(url: str) -> list[Any]:
    """The same calls with and without a recording give the same results."""
    seen: list[Any] = []
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute(SCHEMA)
    with connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO counters VALUES (1, 10), (2, %s)", [20])
        seen += [cursor.rowcount, cursor.description, cursor.statusmessage]
        with pytest.raises(psycopg2.ProgrammingError, match="no results to fetch"):
            cursor.fetchone()
        cursor.execute("INSERT INTO lines VALUES (1, 1, 1) RETURNING place, number")
        seen += [cursor.fetchone(), cursor.fetchone(), len(cursor.description)]
        extras.execute_values(cursor, "INSERT INTO lines VALUES %s", [(2, 1, 1), (2, 2, 1)])
        cursor.execute(sql.SQL("SELECT {}, id FROM counters ORDER BY id").format(sql.Identifier("value")))
        seen += [cursor.fetchmany(1), cursor.rownumber, list(cursor)]
        cursor.scroll(0, mode="absolute")
        seen += [next(cursor), cursor.fetchall()]
        for factory in (extras.DictCursor, extras.RealDictCursor, extras.NamedTupleCursor):
            with connection.cursor(cursor_factory=factory) as made:
                made.execute("SELECT value, id FROM counters ORDER BY id")
                seen += [made.fetchone().__class__.__name__, *map(_shown, made.fetchall())]
        joined = "SELECT c.id, l.place FROM counters c LEFT JOIN lines l ON l.counter = c.id ORDER BY 1, 2"
        cursor.execute(joined)
        seen += cursor.fetchall()
        cursor.execute("SELECT count(*), max(value) FROM counters WHERE value > %(low)s", {"low": 5})
        seen += cursor.fetchall()
        cursor.executemany("UPDATE counters SET value = value + 1 WHERE id = %s", [(1,), (2,)])
        seen += [cursor.rowcount]
        cursor.execute("SAVEPOINT before")
        cursor.execute("DELETE FROM counters WHERE id = 2")
        cursor.execute("ROLLBACK TO SAVEPOINT before")
        cursor.execute("SELECT DISTINCT value FROM counters ORDER BY 1")
        seen += cursor.fetchall()
    connection.close()
    return seen


def _shown(row: Any) -> Any:
    return dict(row) if hasattr(row, "keys") else row._asdict()


def history(recorded: Any, folder: Path) -> History:
    return isoscope.load(recorded.save(folder / "all.program"))


@server
def test_a_recorded_program_sees_what_it_saw_before(running: Running, tmp_path: Path) -> None:
    plain = work(running.url())
    with record() as recorded:
        assert work(running.url()) == plain
    found = history(recorded, tmp_path)
    assert recorded.count == 1
    written = {str(one.key) for one in found[1].operations if str(one.kind) == "write"}
    assert written == {"counters/1", "counters/2", "lines/1/1", "lines/2/1", "lines/2/2"}
    assert not [one for one in found[1].operations if str(one.value).endswith("_deleted")]


@server
def test_a_transaction_ends_as_the_driver_says(running: Running, tmp_path: Path) -> None:
    work(running.url())
    with record() as recorded:
        connection = psycopg2.connect(running.url())
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute("UPDATE counters SET value = 5 WHERE id = 2")
        cursor.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
        cursor.execute("UPDATE counters SET value = 6 WHERE id = 2")
        cursor.execute("ROLLBACK")
        connection.autocommit = False
        connection.set_session(isolation_level="REPEATABLE READ")
        cursor.execute("SELECT value FROM counters WHERE id = 2")
        assert cursor.fetchall() == [(5,)]
        cursor.execute("UPDATE counters SET value = 7 WHERE id = 2")
        with suppress(psycopg2.errors.DivisionByZero):
            cursor.execute("SELECT 1 / 0")
        connection.commit()  # The server rolls back.
        cursor.execute("SELECT value FROM counters WHERE id = 2")
        connection.close()
    assert [(one.status, one.isolation) for one in recorded.transactions] == [
        ("committed", "read-committed"),
        ("aborted", "serializable"),
        ("aborted", "repeatable-read"),
        ("committed", "repeatable-read"),
    ]
    found = history(recorded, tmp_path)
    assert [(str(one.key), one.value) for one in found[4].operations] == [("counters/2", "T1")]


@server
def test_statements_whose_rows_are_not_known_are_named(running: Running, tmp_path: Path) -> None:
    work(running.url())
    with record() as recorded:
        connection = psycopg2.connect(running.url())
        cursor = connection.cursor()
        cursor.copy_expert("COPY counters FROM STDIN", io.StringIO("7\t7\n"))
        cursor.callproc("pg_backend_pid")
        with connection.cursor("some") as named:
            named.execute("SELECT id FROM counters ORDER BY id")
            assert named.fetchall() == [(1,), (2,), (7,)]
        connection.commit()
        connection.close()
    report = isoscope.check(history(recorded, tmp_path), "serializable")
    assert str(report.verdicts[0].outcome) == "unknown"
    text = " ".join(str(report).split())
    assert "COPY does not show which rows it read or wrote: COPY counters FROM STDIN" in text
    assert "a function does not show which rows it read or wrote: CALL pg_backend_pid" in text
    assert "a server-side cursor does not show which rows it read" in text


@server
def test_threads_that_lose_an_update_are_found_with_their_lines(running: Running, tmp_path: Path) -> None:
    work(running.url())
    barrier = threading.Barrier(2, timeout=20)

    def increment() -> None:
        connection = psycopg2.connect(running.url())
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT value FROM counters WHERE id = 1")
            (value,) = cursor.fetchone()
            barrier.wait()
            cursor.execute("UPDATE counters SET value = %s WHERE id = 1", [value + 1])
        connection.close()

    with record() as recorded:
        threads = [threading.Thread(target=increment) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    report = isoscope.check(history(recorded, tmp_path), "snapshot-isolation")
    assert dict(report.verdicts[0].anomaly_counts) == {"lost-update": 1}
    assert "tests/record/test_psycopg2.py" in str(report)


@server
def test_stress_raises_the_level_of_a_phantom(running: Running) -> None:
    def setup() -> None:
        running.ask("DROP TABLE IF EXISTS users")
        running.ask("CREATE TABLE users (id serial PRIMARY KEY, name text)")

    def register() -> None:
        connection = psycopg2.connect(running.url())
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM users WHERE name = %s", ["ada"])
                if cursor.fetchone() == (0,):
                    cursor.execute("INSERT INTO users (name) VALUES (%s)", ["ada"])
        finally:
            connection.close()

    (finding,) = stress([register], setup=setup).findings
    assert str(finding.anomaly.name) == "write-skew"
    assert finding.suggestion is not None
    assert finding.suggestion.remedy is isoscope.explain.Remedy.SERIALIZABLE


@server
def test_sqlalchemy_records_the_engine_that_is_given(running: Running, tmp_path: Path) -> None:
    from sqlalchemy import create_engine, text  # noqa: PLC0415 - only here

    work(running.url())
    engine = create_engine(running.url().replace("postgresql:", "postgresql+psycopg2:"))
    with isoscope.record(engine) as recorded, engine.begin() as connection:
        connection.execute(text("INSERT INTO lines VALUES (:a, :b, 1)"), [{"a": 8, "b": 2}, {"a": 9, "b": 3}])
        assert connection.execute(text("SELECT number FROM lines WHERE number > 7")).all() == [(8,), (9,)]
    engine.dispose()
    # The engine itself asks the server for some facts first.
    keys = [str(one.key) for one in [*history(recorded, tmp_path)][-1].operations]
    assert keys == ["lines/8/2", "lines/9/3", "lines/8/2", "lines/9/3"]
