"""Programs that use DuckDB behave as before, and their commits have an order."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow
import pytest

import isoscope
from isoscope.api.stressing import stress
from isoscope.record import record

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History

SCHEMA = "CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER, raw BLOB)"


def work(connection: Any) -> list[Any]:
    """The same calls with and without a recording give the same results."""
    connection.execute(SCHEMA)
    seen: list[Any] = []
    made = connection.execute("INSERT INTO counters VALUES (1, 10, NULL), ($2, $1, 'x')", [20, 2])
    seen += [made.fetchall(), str(made.description), made.rowcount]
    seen += [connection.execute("SELECT value, id FROM counters WHERE id = $id", {"id": 2}).fetchone()]
    seen += [[one[0] for one in connection.description]]
    seen += [connection.execute("SELECT DISTINCT value FROM counters ORDER BY 1").fetchmany(1)]
    seen += [connection.execute("SELECT count(*), max(value) FROM counters WHERE value > ?", [5]).fetchall()]
    connection.begin()
    seen += [connection.execute("UPDATE counters SET value = value + 1").rowcount]
    connection.rollback()
    connection.begin()
    with pytest.raises(duckdb.ConstraintException):
        connection.execute("INSERT INTO counters VALUES (1, 0, NULL)")
    connection.rollback()
    other = connection.cursor()
    other.execute("BEGIN")
    other.executemany("UPDATE counters SET value = ? WHERE id = ?", [[11, 1], [21, 2]])
    other.execute("DELETE FROM counters WHERE id = 2")
    other.execute("COMMIT")
    numbers = pyarrow.table({"n": [7]})
    seen += [connection.execute("SELECT n FROM numbers").fetchall(), len(numbers)]
    seen += [connection.execute("SELECT id, value FROM counters").fetchall()]
    seen += [isinstance(connection, duckdb.DuckDBPyConnection)]
    connection.close()
    return seen


def history(recorded: Any, folder: Path) -> History:
    return isoscope.load(recorded.save(folder / "all.program"))


def test_a_recorded_program_sees_what_it_saw_before(tmp_path: Path) -> None:
    plain = work(duckdb.connect())
    with record() as recorded:
        assert work(duckdb.connect()) == plain
    assert work(duckdb.connect()) == plain, "the recording is over"
    found = history(recorded, tmp_path)
    written = [
        [str(one.value) for one in transaction.operations if str(one.kind) == "write"]
        for transaction in found
        if str(transaction.status) == "committed"
    ]
    assert [one for one in written if one] == [
        ["id=1, value=10, raw=None", "id=2, value=20, raw=78"],
        ["id=1, value=11, raw=None", "id=2, value=21, raw=78", "T6_deleted"],
    ]
    assert [note for note, _ in found.source.notes if "not covered" in note] == [
        "not covered, numbers is no table of the database: SELECT n FROM numbers"
    ]


RETURNING = (
    "INSERT INTO counters VALUES (1, 1, 'x'), (2, ?, NULL) RETURNING id, value / 2 AS half, raw, [id] AS ids",
    "UPDATE counters SET value = value + ? WHERE id = 2 RETURNING *",
    "UPDATE counters SET value = ? WHERE id = 9 RETURNING id",
    'DELETE FROM counters WHERE id = ? RETURNING CAST(value AS DECIMAL(9, 2)) AS "the value"',
)


def returned(connection: Any) -> list[Any]:
    connection.execute(SCHEMA)
    seen: list[Any] = []
    for sql in RETURNING:
        found = connection.execute(sql, [2])
        seen += [str(found.description), found.fetchall(), found.rowcount]
    connection.close()
    return seen


def test_rows_of_returning_are_those_that_the_program_asked_for(tmp_path: Path) -> None:
    plain = returned(duckdb.connect())
    with record() as recorded:
        assert returned(duckdb.connect()) == plain
    found = history(recorded, tmp_path)
    assert not found.source.notes
    writes = [
        (str(one.key), str(one.value)) for t in found for one in t.operations if str(one.kind) == "write"
    ]
    assert writes == [
        ("counters/1", "id=1, value=1, raw=78"),
        ("counters/2", "id=2, value=2, raw=None"),
        ("counters/2", "id=2, value=4, raw=None"),
        ("counters/2", "T4_deleted"),
    ]


def test_each_operation_has_its_line_of_the_program(tmp_path: Path) -> None:
    with record() as recorded:
        work(duckdb.connect())
    found = history(recorded, tmp_path)
    places = [found.source.place(one.line) for t in found for one in t.operations]
    assert all(one.rpartition(":")[0].endswith("tests/record/test_duckdb.py") for one in places)


def test_a_commit_of_a_transaction_with_an_error_wrote_nothing(tmp_path: Path) -> None:
    with record() as recorded, duckdb.connect() as connection:
        connection.execute(SCHEMA)
        connection.begin()
        connection.execute("INSERT INTO counters VALUES (1, 1, NULL)")
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO counters VALUES (1, 2, NULL)")
        connection.commit()
        assert connection.execute("SELECT value FROM counters").fetchall() == []
    assert [str(one.status) for one in history(recorded, tmp_path)] == ["aborted", "committed"]


def test_statements_of_threads_have_an_order_although_they_overlap(tmp_path: Path) -> None:
    with record() as recorded, duckdb.connect() as connection:
        connection.execute(SCHEMA)
        connection.execute("INSERT INTO counters VALUES (1, 0, NULL)")
        recorded.restart()
        cursors = [connection.cursor() for _ in range(4)]

        def increment(cursor: Any) -> None:
            for _ in range(10):
                try:
                    cursor.execute("UPDATE counters SET value = value + 1 WHERE id = 1")
                except duckdb.TransactionException:
                    continue  # Another one was first.

        threads = [threading.Thread(target=increment, args=(one,)) for one in cursors]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    transactions = [one for one in recorded.transactions if one.status == "committed"]
    ends = sorted(one.end for one in transactions)
    assert all(before[1] <= after[0] for before, after in pairwise(ends))
    found = history(recorded, tmp_path)
    assert isoscope.check(found, "serializable").holds("serializable")
    (rows,) = [line for line in (tmp_path / "all.program").read_text().splitlines() if "versions" in line]
    assert rows.count("id=1, value=") == len(transactions) > 1


def test_a_relation_leaves_levels_unknown(tmp_path: Path) -> None:
    with record() as recorded, duckdb.connect() as connection:
        connection.execute(SCHEMA)
        connection.sql("SELECT * FROM counters").fetchall()
        connection.execute("INSERT INTO counters VALUES (1, 1, NULL)")
    report = isoscope.check(history(recorded, tmp_path), "serializable")
    assert str(report.verdicts[0].outcome) == "unknown"
    assert "it does not show which rows it read or wrote: sql" in str(report)


def test_write_skew_of_snapshot_isolation_is_found(tmp_path: Path) -> None:
    def withdraw(number: int) -> None:
        with duckdb.connect(tmp_path / "bank.db") as connection:
            connection.begin()
            rows = connection.execute("SELECT sum(value) FROM counters").fetchall()
            if rows[0][0] > 1:
                connection.execute("UPDATE counters SET value = 0 WHERE id = ?", [number])
            connection.commit()

    def prepare() -> None:
        with duckdb.connect(tmp_path / "bank.db") as connection:
            connection.execute(SCHEMA.replace("TABLE", "TABLE IF NOT EXISTS"))
            connection.execute("INSERT OR REPLACE INTO counters VALUES (1, 1, NULL), (2, 1, NULL)")

    def first() -> None:
        withdraw(1)

    def second() -> None:
        withdraw(2)

    result = stress([first, second], setup=prepare)
    assert str(result.outcome) == "violated"
    assert str(result.findings[0].anomaly.name) == "write-skew"
