"""PostgreSQL as a stand-in for YugabyteDB, whose SQL layer it is, and for CockroachDB.

For the second, `pg_xact_commit_timestamp` of a row's `xmin` stands for the time of the commit: it is NULL for
the rows that the transaction itself wrote, and the order of commits for two versions of one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from benchmarks.applications.servers import PostgreSQL

import isoscope
from isoscope.api.stressing import stress
from isoscope.databases.postgresql.server import start
from isoscope.record import postgresql_catalog, record
from isoscope.record.sql import _Statement
from tests.databases.postgresql_servers import Running, server
from tests.record import test_postgresql, test_psycopg2
from tests.record.test_applications import is_decided

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope.history import History

KINDS = ("yugabytedb", "cockroachdb")


def taken_for(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql_catalog, "_SERVERS", ((kind, "PostgreSQL"),))


def history(recorded: Any, folder: Path) -> History:
    return isoscope.load(recorded.save(folder / "all.program"))


@server
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("driver", [test_postgresql, test_psycopg2])
def test_a_recorded_program_sees_what_it_saw_before(
    running: Running, monkeypatch: pytest.MonkeyPatch, kind: str, driver: Any
) -> None:
    plain = driver.work(running.url())
    taken_for(kind, monkeypatch)
    with record() as recorded:
        assert driver.work(running.url()) == plain
    assert recorded.count


@server
def test_rows_are_known_by_their_content(
    running: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken_for("yugabytedb", monkeypatch)
    running.ask(
        "DROP TABLE IF EXISTS things; CREATE TABLE things (id integer PRIMARY KEY, name text, price numeric,"
        " made timestamptz, is_new boolean, data jsonb, place point)"
    )
    values = (
        "(1, 'a', 1.50, '2026-01-01 12:00+00', true, '{}', '(1,2)'), (2, NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    with record() as recorded, psycopg.connect(running.url()) as connection:
        connection.execute(f"INSERT INTO things VALUES {values}")
        connection.commit()
        connection.execute("SET TIME ZONE 'America/New_York'")
        assert len(connection.execute("SELECT * FROM things").fetchall()) == 2
        assert connection.execute("SELECT count(*) FROM things WHERE price > 1").fetchone() == (1,)
    found = history(recorded, tmp_path)
    wrote, read = found[1].operations, found[2].operations
    assert [one.value for one in wrote] == [
        "id=1, name=a, price=1.50, made=2026-01-01T12:00:00+00:00, is_new=True",
        "id=2, name=None, price=None, made=None, is_new=None",
    ]
    assert [one.value for one in read][:2] == [one.value for one in wrote]
    report = isoscope.check(found, "serializable")
    assert report.holds("serializable"), str(report)


@server
def test_the_columns_that_the_server_does_not_have_are_never_sent_in_a_transaction(
    running: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken_for("cockroachdb", monkeypatch)
    running.ask(
        "DROP TABLE IF EXISTS counters; CREATE TABLE counters (id integer PRIMARY KEY, value integer)"
    )
    running.ask("INSERT INTO counters VALUES (1, 0)")
    with record() as recorded, psycopg.connect(running.url()) as connection:
        assert connection.execute("SELECT value FROM counters WHERE id = %s", [1]).fetchone() == (0,)
        assert connection.execute("UPDATE counters SET value = 1 WHERE id = %s", [1]).rowcount == 1
    found = history(recorded, tmp_path)
    assert [(str(one.kind), one.value) for one in found[1].operations][-1:] == [("write", "id=1, value=1")]
    assert "does not take the columns" in str(isoscope.check(found, "serializable"))


@server
@pytest.mark.parametrize(("level", "holds"), [("read-committed", False), ("serializable", True)])
def test_stress_finds_a_lost_update_where_the_level_lets_it_happen(
    running: Running, monkeypatch: pytest.MonkeyPatch, level: str, holds: bool
) -> None:
    taken_for("yugabytedb", monkeypatch)

    def setup() -> None:
        running.ask("DROP TABLE IF EXISTS counters; CREATE TABLE counters (id int PRIMARY KEY, value int)")
        running.ask("INSERT INTO counters VALUES (1, 0)")

    def increment() -> None:
        with psycopg.connect(running.url()) as connection:
            connection.isolation_level = psycopg.IsolationLevel[level.upper().replace("-", "_")]
            row = connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
            assert row is not None
            connection.execute("UPDATE counters SET value = %s WHERE id = 1", [row[0] + 1])

    result = stress([increment], setup=setup)
    assert (str(result.outcome) == "holds") is holds


@pytest.fixture
def with_commit_times(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A server that tells when transactions committed, taken for CockroachDB."""
    cell, command = _Statement._cell, psycopg.Connection._exec_command

    def column(self: Any, expression: str, kind: str) -> str:
        alias, _, name = expression.rpartition(".")
        if name != "crdb_internal_mvcc_timestamp":
            return cell(self, expression, kind)
        return f"extract(epoch FROM pg_xact_commit_timestamp({alias}.xmin))::text"

    def asked(self: Any, text: Any, *given: Any, **named: Any) -> Any:
        found: Any
        if text == b"COMMIT":
            found = yield from command(self, b"SELECT pg_current_xact_id_if_assigned()::text")
            self.xid = found.get_value(0, 0)
        if text == b"SHOW COMMIT TIMESTAMP":
            of = b"pg_xact_commit_timestamp('%b'::xid)" % (self.xid or b"2")
            text = b"SELECT extract(epoch FROM %b)::text" % of
        return (yield from command(self, text, *given, **named))

    monkeypatch.setattr(_Statement, "_cell", column)
    monkeypatch.setattr(psycopg.Connection, "_exec_command", asked)
    taken_for("cockroachdb", monkeypatch)
    process, where = start({"track_commit_timestamp": "on", "fsync": "off"})
    yield Running(where)
    process.stop()


@server
@pytest.mark.parametrize(("level", "outcome"), [("serializable", "holds"), ("read-committed", "violated")])
def test_times_of_commits_decide_where_contents_repeat(
    with_commit_times: Running, tmp_path: Path, level: str, outcome: str
) -> None:
    target = PostgreSQL(with_commit_times.where)
    is_decided(target, tmp_path, "smallbank", level=level, outcome=outcome)
