"""Programs that use psycopg behave as before, and each read names its writer."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import class_row, dict_row, namedtuple_row

import isoscope
from isoscope.api.stressing import stress
from isoscope.explain import Remedy
from isoscope.record import record
from tests.databases.postgresql_servers import Running, server

if TYPE_CHECKING:
    from isoscope.history import History

EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEMA = """
DROP TABLE IF EXISTS counters, lines;
CREATE TABLE counters (id integer PRIMARY KEY, value integer);
CREATE TABLE lines (number integer, place integer, counter integer, PRIMARY KEY (number, place));
"""


class Counter:
    def __init__(self, **columns: Any) -> None:
        self.columns = columns


def work(url: str) -> list[Any]:
    """The same calls with and without a recording give the same results."""
    seen: list[Any] = []
    with psycopg.connect(url) as connection:
        connection.execute(SCHEMA)
        connection.commit()
        cursor = connection.execute("INSERT INTO counters VALUES (1, 10), (2, %s)", [20])
        seen += [cursor.rowcount, cursor.description, cursor.statusmessage]
        with pytest.raises(psycopg.ProgrammingError, match="didn't produce"):
            cursor.fetchone()
        seen += connection.execute("INSERT INTO lines VALUES (1, 1, 1) RETURNING place, number").fetchall()
        for factory in (dict_row, namedtuple_row):
            made: Any = connection.cursor(row_factory=factory)
            seen += [
                made.execute("SELECT value, id FROM counters ORDER BY id").fetchall(),
                len(made.description),
            ]
        made = connection.cursor(row_factory=class_row(Counter))
        seen += [one.columns for one in made.execute("SELECT * FROM counters ORDER BY id")]
        joined = "SELECT c.id, l.place FROM counters c LEFT JOIN lines l ON l.counter = c.id ORDER BY 1"
        seen += connection.execute(joined).fetchall()
        seen += connection.execute("SELECT count(*), max(value) FROM counters WHERE value > 5").fetchall()
        cursor.executemany("UPDATE counters SET value = value + 1 WHERE id = %s", [(1,), (2,)])
        seen += [cursor.rowcount]
        with suppress(ZeroDivisionError), connection.transaction():
            connection.execute("DELETE FROM counters WHERE id = %(id)s", {"id": 2})
            raise ZeroDivisionError
        seen += connection.execute("SELECT DISTINCT value FROM counters ORDER BY 1").fetchall()
    return seen


@server
def test_a_recorded_program_sees_what_it_saw_before(running: Running) -> None:
    plain = work(running.url())
    with record() as recorded:
        assert work(running.url()) == plain
    assert recorded.count == 1


def history(recorded: Any, folder: Path) -> History:
    return isoscope.load(recorded.save(folder / "all.program"))


@server
def test_reads_name_their_writers_and_undone_writes_are_none(running: Running, tmp_path: Path) -> None:
    with record() as recorded:
        work(running.url())
        with psycopg.connect(running.url(), autocommit=True) as connection:
            connection.execute("SELECT value FROM counters WHERE id = 2")
            connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
            connection.execute("UPDATE counters SET value = 0 WHERE id = 2")
            connection.execute("ROLLBACK")
    found = history(recorded, tmp_path)
    assert [str(one.status) for one in found] == ["committed", "committed", "aborted"]
    assert [(str(one.key), one.value) for one in found[2].operations] == [("counters/2", "T1")]
    assert not [one for one in found[1].operations if str(one.value).endswith("_deleted")]


@server
def test_statements_whose_rows_are_not_known_are_named(running: Running, tmp_path: Path) -> None:
    running.ask("DROP TABLE IF EXISTS numbers")
    running.ask("CREATE TABLE numbers (n integer PRIMARY KEY)")
    with record() as recorded, psycopg.connect(running.url()) as connection:
        with connection.cursor().copy("COPY numbers FROM STDIN") as copy:
            copy.write_row((1,))
        with connection.pipeline():
            connection.execute("INSERT INTO numbers VALUES (2)")
        with connection.cursor("some") as cursor:
            assert cursor.execute("SELECT n FROM numbers ORDER BY n").fetchall() == [(1,), (2,)]
    report = isoscope.check(history(recorded, tmp_path), "serializable")
    assert str(report.verdicts[0].outcome) == "unknown"
    text = " ".join(str(report).split())
    assert "COPY does not show which rows it read or wrote: COPY numbers FROM STDIN" in text
    assert "it is sent in a pipeline, and its rows come later: INSERT INTO numbers VALUES (2)" in text
    assert "a server-side cursor does not show which rows it read" in text


@server
def test_sqlalchemy_records_the_engine_that_is_given(running: Running, tmp_path: Path) -> None:
    from sqlalchemy import create_engine, text  # noqa: PLC0415 - only here

    running.ask("CREATE TABLE IF NOT EXISTS pairs (a integer PRIMARY KEY, b integer)")
    engine = create_engine(running.url().replace("postgresql:", "postgresql+psycopg:"))
    with isoscope.record(engine) as recorded:
        with engine.begin() as connection:
            connection.execute(
                text("INSERT INTO pairs VALUES (:a, :b)"), [{"a": 1, "b": 2}, {"a": 2, "b": 3}]
            )
        running.ask("UPDATE pairs SET b = 5 WHERE a = 1")
        with engine.connect() as connection:
            assert connection.execute(text("SELECT a, b FROM pairs ORDER BY a")).all() == [(1, 5), (2, 3)]
    engine.dispose()
    found = history(recorded, tmp_path)
    keys = [str(one.key) for one in found[1].operations]
    assert keys == ["pairs/1", "pairs/2"]
    values = [str(one.value).partition("_")[0] for one in found[2].operations]
    assert values == ["outside", "T1"]


@server
def test_threads_that_lose_an_update_are_found_with_their_lines(running: Running, tmp_path: Path) -> None:
    running.ask("DROP TABLE IF EXISTS counters")
    running.ask("CREATE TABLE counters (id integer PRIMARY KEY, value integer)")
    running.ask("INSERT INTO counters VALUES (1, 0)")
    barrier = threading.Barrier(2, timeout=20)

    def increment() -> None:
        with psycopg.connect(running.url()) as connection:
            (value,) = connection.execute("SELECT value FROM counters WHERE id = 1").fetchone() or (0,)
            barrier.wait()
            connection.execute("UPDATE counters SET value = %s WHERE id = 1", [value + 1])

    with record() as recorded:
        threads = [threading.Thread(target=increment) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    report = isoscope.check(history(recorded, tmp_path), "snapshot-isolation")
    assert dict(report.verdicts[0].anomaly_counts) == {"lost-update": 1}
    assert "tests/record/test_postgresql.py" in str(report)


SILENT = """
DROP TABLE IF EXISTS counters, lines;
CREATE TABLE counters (id integer PRIMARY KEY, value integer);
CREATE TABLE lines (number integer, place integer, counter integer, PRIMARY KEY (number, place));
CREATE OR REPLACE FUNCTION kept() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER kept BEFORE INSERT ON lines FOR EACH ROW EXECUTE FUNCTION kept();
"""


@server
def test_changes_that_tell_their_row_are_recorded_as_they_are(running: Running, tmp_path: Path) -> None:
    running.ask(SILENT)
    add, set_ = "INSERT INTO counters VALUES (%s, %s)", "UPDATE counters SET value = %s WHERE id = %s"
    with record() as recorded, psycopg.connect(running.url()) as connection:
        connection.execute(add, (1, 10))
        connection.execute(add, (2, 20))
        connection.execute(set_, (11, 1))
        connection.execute(set_, (0, 9))
        connection.execute("INSERT INTO lines VALUES (%s, 1, 2)", (5,))
        with connection.transaction():
            connection.execute(add, (3, 30))
        connection.commit()
        connection.execute("SELECT id FROM counters WHERE value > %s", (5,)).fetchall()
        connection.execute(set_, (12, 1))
        connection.execute("UPDATE counters SET value = value + 1 WHERE id = %s", (2,))
    first, second = recorded.transactions
    assert [one.is_told for one in first.statements] == [False, True, True, True, False, False]
    assert not any(one.is_told for one in second.statements), "the condition needs the value"
    found = history(recorded, tmp_path)
    writes = [f"counters/{number}" for number in (1, 2, 1)] + ["lines/5/1", "counters/3"]
    assert [str(one.key) for one in found[1].operations if str(one.kind) == "write"] == writes
    reads = [(str(one.key), one.value) for one in found[2].operations if str(one.kind) == "read"]
    assert sorted(reads) == [(f"counters/{number}", "T1") for number in (1, 2, 3)]
    assert isoscope.check(found, "serializable").holds("serializable")


EXPECTED = {
    "likes_flask/stress_likes": ("lost-update", Remedy.LOCK, "likes.py:32"),
    "bookings_django/stress_bookings": ("write-skew", Remedy.LOCK, "bookings.py:57"),
    "register_psycopg/stress_registration": ("write-skew", Remedy.SERIALIZABLE, "registration.py:23"),
}


#: Seconds in which a bug must be found on a machine that does nothing else.
SECONDS = 30


def allowed_seconds() -> float:
    """More on a loaded machine: a process that shares its core with n others gets a share of its time."""
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return SECONDS * max(1.0, waiting)


def stressed(running: Running, name: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "isoscope", "stress", str(EXAMPLES / f"{name}.py")]
    environment = {**os.environ, "DATABASE_URL": running.url(), "COLUMNS": "200"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


@server
@pytest.mark.parametrize("name", EXPECTED)
def test_the_bug_of_an_example_is_found_explained_and_gone_with_the_fix(running: Running, name: str) -> None:
    anomaly, remedy, place = EXPECTED[name]
    assert running.ask("SHOW default_transaction_isolation") == [("read committed",)]
    started = monotonic()
    broken = stressed(running, name)
    assert broken.returncode == 1, broken.stderr
    assert broken.stdout.startswith("No. ")
    assert monotonic() - started < allowed_seconds()
    assert f"{anomaly}: 1 found" in broken.stdout
    assert place in broken.stdout
    advice = (
        "add FOR UPDATE to the SELECT at"
        if remedy is Remedy.LOCK
        else "run these transactions at SERIALIZABLE"
    )
    said = " ".join(broken.stdout.split())
    assert f"Tried out: {advice}" in said
    assert "With this change the same interleaving satisfies the level." in said
    fixed = stressed(running, f"{name}_fixed")
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    assert fixed.stdout.startswith("Yes. All interleavings satisfied serializability (")


@server
def test_an_atomic_update_survives_stress(running: Running) -> None:
    def setup() -> None:
        running.ask("DROP TABLE IF EXISTS counters")
        running.ask("CREATE TABLE counters (id integer PRIMARY KEY, value integer)")
        running.ask("INSERT INTO counters VALUES (1, 0)")

    def increment() -> None:
        with psycopg.connect(running.url()) as connection:
            connection.execute("SELECT value FROM counters WHERE id = 2")
            connection.execute("UPDATE counters SET value = value + 1 WHERE id = 1")

    result = stress([increment], setup=setup)
    assert (str(result.outcome), result.rounds, result.findings) == ("holds", 2, [])


@server
@pytest.mark.parametrize("first", ["SELECT 1", "SELECT 1 / 0"])
def test_the_first_statement_takes_the_snapshot_whatever_it_does(
    running: Running, tmp_path: Path, first: str
) -> None:
    running.ask(SCHEMA + "INSERT INTO counters VALUES (1, 10)")
    with record() as recorded, psycopg.connect(running.url()) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with reader.transaction():
            with suppress(psycopg.errors.DivisionByZero), reader.transaction():
                reader.execute(first)
            with psycopg.connect(running.url()) as writer:
                writer.execute("UPDATE counters SET value = 11 WHERE id = 1")
                writer.execute("INSERT INTO counters VALUES (2, 20)")
                writer.commit()
                writer.execute("DELETE FROM counters WHERE id = 2")
            assert reader.execute("SELECT value FROM counters WHERE id = 1").fetchall() == [(10,)]
            assert reader.execute("SELECT value FROM counters WHERE id = 2").fetchall() == []
    assert isoscope.check(history(recorded, tmp_path), "serializable").holds("serializable")
