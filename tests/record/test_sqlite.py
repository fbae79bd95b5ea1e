"""Programs that use sqlite3 behave as before, and are recorded."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import isoscope
from isoscope.history import Term
from isoscope.record import record, started

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

SCHEMA = "CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER, picture BLOB)"


def work(connection: sqlite3.Connection) -> list[Any]:
    """The same calls with and without a recording give the same results."""
    connection.row_factory = sqlite3.Row
    connection.execute(SCHEMA)
    seen: list[Any] = []
    with connection:
        cursor = connection.execute("INSERT INTO counters (value, picture) VALUES (?, ?)", (1, b"\x00\xff"))
        seen += [cursor.lastrowid, cursor.rowcount, cursor.description, cursor.fetchall()]
    row = connection.execute("SELECT value, id FROM counters WHERE id = :id", {"id": 1}).fetchone()
    seen += [dict(row), row.keys()]
    connection.executemany("INSERT INTO counters (value) VALUES (?)", [(2,), (3,)])
    cursor = connection.execute("UPDATE counters SET value = value + 1 WHERE value > ?", (1,))
    seen += [cursor.rowcount, connection.in_transaction]
    connection.rollback()
    seen += [tuple(one) for one in connection.execute("SELECT DISTINCT value FROM counters ORDER BY 1")]
    seen += [connection.execute("DELETE FROM counters WHERE id = 9").rowcount]
    connection.commit()
    connection.executescript("CREATE TABLE other (a); DROP TABLE other")
    connection.close()
    return seen


def test_a_recorded_program_sees_what_it_saw_before() -> None:
    plain = work(sqlite3.connect(":memory:"))
    with record():
        recorded = work(sqlite3.connect(":memory:"))
    assert recorded == plain
    assert work(sqlite3.connect(":memory:")) == plain, "the recording is over"


RETURNING = (
    "INSERT INTO counters (value, picture) VALUES (1, x'00ff'), (2, NULL)"
    " RETURNING id, value * 2 AS twice, picture",
    "INSERT INTO counters VALUES (2, 5, NULL) ON CONFLICT (id) DO UPDATE SET value = 7 RETURNING *",
    'UPDATE counters SET value = value + 1 WHERE value > 1 RETURNING value AS "the value"',
    "UPDATE counters SET value = 0 WHERE id = 9 RETURNING id",
    "DELETE FROM counters WHERE id = 1 RETURNING id, picture",
)


def returned(connection: sqlite3.Connection) -> list[Any]:
    connection.execute(SCHEMA)
    seen: list[Any] = []
    for factory in (None, sqlite3.Row):
        connection.row_factory = factory
        for sql in RETURNING:
            cursor = connection.execute(sql)
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
            seen.append((names, [tuple(row) for row in rows], cursor.lastrowid))
            seen.append([row.keys() for row in rows if isinstance(row, sqlite3.Row)])
        connection.rollback()
    connection.close()
    return seen


def test_rows_of_returning_are_those_that_the_program_asked_for(tmp_path: Path) -> None:
    plain = returned(sqlite3.connect(":memory:"))
    with record() as recorded:
        assert returned(sqlite3.connect(":memory:")) == plain
    found = isoscope.load(recorded.save(tmp_path / "returned.program"))
    assert not found.source.notes
    writes = [(str(one.key), str(one.value)) for one in found[1].operations if str(one.kind) == "write"]
    assert writes == [
        ("counters/1", "id=1, value=1, picture=00FF"),
        ("counters/2", "id=2, value=2, picture=None"),
        ("counters/2", "id=2, value=7, picture=None"),
        ("counters/2", "id=2, value=8, picture=None"),
        ("counters/1", "T1_deleted"),
    ]


def recorded_history(tmp_path: Path) -> History:
    with record() as recorded:
        work(sqlite3.connect(":memory:"))
    return isoscope.load(recorded.save(tmp_path / "work.program"))


def test_transactions_are_those_of_the_driver(tmp_path: Path) -> None:
    history = recorded_history(tmp_path)
    assert [str(one.status) for one in history] == [
        "committed",
        "committed",
        "aborted",
        "committed",
        "committed",
    ]
    read = history[2].operations[0]
    assert (read.key, read.value) == (Term("counters/1"), "id=1, value=1, picture=00FF")


def test_each_operation_has_its_line_of_the_program(tmp_path: Path) -> None:
    history = recorded_history(tmp_path)
    lines = [history.source.place(one.line) for t in history for one in t.operations]
    assert all(one.rpartition(":")[0].endswith("tests/record/test_sqlite.py") for one in lines)
    sql = history.source.sql(history[2].operations[0].line)
    assert sql == 'SELECT value, id FROM counters WHERE id = :id  {"id": 1}'


def test_a_recorded_history_of_sqlite_is_serializable(tmp_path: Path) -> None:
    assert isoscope.check(recorded_history(tmp_path), "strict-serializable").holds("strict-serializable")


def test_a_statement_that_is_not_understood_leaves_levels_unknown(tmp_path: Path) -> None:
    with record() as recorded:
        connection = sqlite3.connect(":memory:")
        connection.execute(SCHEMA)
        connection.execute("WITH RECURSIVE a AS (SELECT value FROM counters) SELECT * FROM a").fetchall()
        connection.execute("INSERT INTO counters (value) VALUES (1)")
        connection.commit()
        connection.close()
    report = isoscope.check(isoscope.load(recorded.save(tmp_path / "a.program")), "serializable")
    assert str(report.verdicts[0].outcome) == "unknown"
    assert "not covered, it has a recursive common table expression" in str(report)


def test_two_databases_have_rows_of_their_own(tmp_path: Path) -> None:
    with record() as recorded:
        for value in (1, 2):
            connection = sqlite3.connect(":memory:")
            connection.execute(SCHEMA)
            with connection:
                connection.execute("INSERT INTO counters (value) VALUES (?)", (value,))
            connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
            connection.close()
    found = isoscope.load(recorded.save(tmp_path / "a.program"))
    assert sorted(map(str, found.keys)) == ["db1.counters/1", "db2.counters/1"]
    assert isoscope.check(found, "serializable").holds("serializable")


def test_what_another_program_writes_is_no_thin_air(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute(SCHEMA)
    other.execute("INSERT INTO counters (value) VALUES (1)")
    with record() as recorded:
        connection = sqlite3.connect(tmp_path / "a.db")
        for value in (2, 3):
            connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
            other.execute("UPDATE counters SET value = ?", (value,))
        connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
        connection.close()
    other.close()
    found = isoscope.load(recorded.save(tmp_path / "a.program"))
    assert [one.label for one in found if one.session_id is None] == ["outside_1", "outside_2"]
    assert isoscope.check(found, "read-committed").holds("read-committed")


PROGRAM = """
import sqlite3, sys, threading
def count(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    (value,) = connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
    connection.execute("UPDATE counters SET value = ? WHERE id = 1", (value + 1,))
    connection.execute("COMMIT")
    connection.close()
setup = sqlite3.connect(sys.argv[1])
setup.execute("CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER)")
setup.execute("INSERT INTO counters VALUES (1, 0)")
setup.commit()
threads = [threading.Thread(target=count, args=(sys.argv[1],)) for _ in range(3)]
[one.start() for one in threads]
[one.join() for one in threads]
print(setup.execute("SELECT value FROM counters").fetchone()[0])
"""


def test_a_program_that_is_not_changed_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "count.py").write_text(PROGRAM)
    command = [sys.executable, "count.py", "count.db"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "isoscope",
            "record",
            "-o",
            "count.program",
            "--level",
            "serializable",
            "--",
            *command,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3\nYes. count.program kept serializability (5 transactions)")
    history = isoscope.load(tmp_path / "count.program")
    assert history.counts["sessions"] == 4
    assert {history.source.place(one.line) for t in history for one in t.operations} >= {"count.py:7"}


@pytest.mark.slow
def test_a_program_runs_although_it_cannot_be_recorded(tmp_path: Path) -> None:
    (tmp_path / "sqlglot.py").write_text("raise ImportError\n")
    command = [sys.executable, "-c", "print('it ran')"]
    environment = {**os.environ, **started.environment(tmp_path)}
    environment["PYTHONPATH"] += f"{os.pathsep}{tmp_path}"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "it ran\n")
    assert done.stderr == (
        "isoscope: this program is not recorded: recording a program needs the SQL parser sqlglot\n"
    )


@pytest.mark.slow
def test_a_command_that_records_nothing_is_a_mistake(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "isoscope", "record", "--", sys.executable, "-c", "exit(3)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "ended with status 3, and no transaction was recorded" in done.stderr


@pytest.mark.parametrize(
    "line", ["{}", "[]", "x", '{"transaction": 1}', '{"read": "a"}', '{"versions": 1, "order": 2}']
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with record() as recorded:
        work(sqlite3.connect(":memory:"))
    path = recorded.save(tmp_path / "a.program")
    path.write_text(f"{path.read_text()}{line}\n{line}\n")
    with pytest.raises(isoscope.FormatError) as caught:
        isoscope.load(path)
    assert str(caught.value).startswith(f"{path}:")


def old_row(folder: Path, *transactions: list[str]) -> History:
    """Transactions on a row that was there before the recording."""
    path = folder / "old.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER)")
        connection.execute("INSERT INTO counters VALUES (1, 0)")
    connection.close()
    with record() as recorded:
        connection = sqlite3.connect(path, isolation_level=None)
        for statements in transactions:
            for statement in ("BEGIN", *statements, "COMMIT"):
                connection.execute(statement).fetchall()
        connection.close()
    return isoscope.load(recorded.save(folder / "old.program"))


READ = "SELECT value FROM counters WHERE id = 1"


def test_a_content_of_before_that_is_written_again_is_not_yet_that_of_the_writer(tmp_path: Path) -> None:
    write = "UPDATE counters SET value = {} WHERE id = 1"
    found = old_row(tmp_path, [READ, write.format(1)], [READ, write.format(0)], [READ])
    assert isoscope.check(found, "serializable").holds("serializable")


def test_the_state_of_before_has_one_name_whether_it_was_shown_or_not(tmp_path: Path) -> None:
    hidden = "SELECT value FROM counters WHERE value = 5"
    found = old_row(tmp_path, [hidden], [READ], ["UPDATE counters SET value = 5 WHERE id = 1"], [READ])
    assert isoscope.check(found, "serializable").holds("serializable")
