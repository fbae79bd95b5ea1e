"""Programs on CockroachDB and YugabyteDB, with servers modelled after their documentation.

Neither was ever run here: the models answer what the documentation and CockroachDB's own logic tests
(`system_columns`, `show_commit_timestamp`) show.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import psycopg
import psycopg2
import pytest

import isoscope
from isoscope.record import record
from tests.record.modelled_server import Answer, modelled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from isoscope.history import History
    from tests.record.modelled_server import ModelledServer, Table

COCKROACH = "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27, go1.19.10)"
YUGABYTE = "PostgreSQL 11.2-YB-2024.2.2.4-b0 on aarch64-unknown-linux-gnu, compiled by clang, 64-bit"
CONTENT = 'json_build_object(\'id\', "counters"."id"::text, \'value\', "counters"."value"::text'
HIDDEN = 'AS isoscope_0, "counters"."id"::text AS isoscope_1'
STAMP = ", '@', \"counters\".crdb_internal_mvcc_timestamp::text"
READ = f"SELECT value , {CONTENT}{STAMP})::text {HIDDEN} FROM counters WHERE id = 1"
PLAIN_READ = f"SELECT value , {CONTENT})::text {HIDDEN} FROM counters WHERE id = 1"
WRITE = f"UPDATE counters SET value = 1 WHERE id = 1 RETURNING {CONTENT})::text {HIDDEN}"
EARLIER, FIRST, SECOND = "1700000000.0000000000", "1700000001.0000000001", "1700000002.0000000000"


def seen(value: int, stamp: str | None = None, **more: Any) -> Answer:
    cells = (
        f'{{"@": "{stamp}", "id": "1", "value": "{value}"}}'
        if stamp
        else f'{{"id": "1", "value": "{value}"}}'
    )
    return Answer(("value", "isoscope_0", "isoscope_1"), ((value, cells, "1"),), **more)


def written(value: int) -> Answer:
    return Answer(
        ("isoscope_0", "isoscope_1"), ((f'{{"id": "1", "value": "{value}"}}', "1"),), tag="UPDATE 1"
    )


def one(column: str, *values: str) -> list[Answer]:
    return [Answer((column,), ((value,),)) for value in values]


def server(version: str, more: Table) -> Table:
    columns = ("column_name", "udt_name", "ordinal_position")
    catalogue = [
        Answer(columns, (("id", "int8", 1), ("value", "int8", None), ("crdb_internal_x", "int8", None)))
    ]
    return {
        "SELECT version()": one("version", version),
        "SHOW default_transaction_isolation": one("default_transaction_isolation", "serializable"),
        "SHOW default_transaction_use_follower_reads": one("default_transaction_use_follower_reads", "off"),
        "SELECT c.column_name, ...": catalogue,
        **more,
    }


@contextmanager
def on_cockroach(answers: Table, **named: Any) -> Iterator[tuple[ModelledServer, Any, Any]]:
    """The server, the recording and a connection that is recorded."""
    with (
        modelled(server(COCKROACH, answers)) as model,
        record() as recorded,
        psycopg.connect(model.url, **named) as connection,
    ):
        yield model, recorded, connection


def history(recorded: Any, folder: Path) -> History:
    return isoscope.load(recorded.save(folder / "recorded.program"))


def accesses(found: History, number: int) -> list[tuple[str, Any]]:
    return [(str(one.kind), one.value) for one in found[number].operations]


def read(connection: Any) -> int:
    found: tuple[int] = connection.execute("SELECT value FROM counters WHERE id = 1").fetchone()
    return found[0]


def lost_update(model: ModelledServer) -> None:
    """Two transactions that read 0 and write 1, one after the other."""
    with psycopg.connect(model.url) as first, psycopg.connect(model.url) as second:
        assert read(first) == read(second) == 0
        first.execute("UPDATE counters SET value = 1 WHERE id = 1")
        first.commit()
        assert second.execute("UPDATE counters SET value = 1 WHERE id = 1").rowcount == 1
        second.commit()
        assert read(second) == 1


def test_a_read_names_its_writer_by_the_time_of_the_commit_although_contents_repeat(tmp_path: Path) -> None:
    answers = {
        READ: [seen(0, EARLIER), seen(0, EARLIER), seen(1, SECOND)],
        WRITE: [written(1)],
        "SHOW COMMIT TIMESTAMP": one("commit_timestamp", FIRST, SECOND),
    }
    with modelled(server(COCKROACH, answers)) as model, record() as recorded:
        lost_update(model)
    found = history(recorded, tmp_path)
    assert accesses(found, 1) == [("read", "id=1, value=0"), ("write", "id=1, value=1")]
    assert accesses(found, 2) == [("read", "id=1, value=0"), ("write", "id=1, value=1 (T2)")]
    assert accesses(found, 3) == [("read", "id=1, value=1 (T2)")]
    report = isoscope.check(found, ["read-committed", "snapshot-isolation", "serializable"])
    assert report.holds("read-committed")
    assert not report.holds("snapshot-isolation")
    assert not report.holds("serializable")
    assert "lost-update" in str(report)


def test_the_statements_that_are_sent(tmp_path: Path) -> None:
    answers = {
        READ: [seen(0, EARLIER), seen(0, EARLIER), seen(1, SECOND)],
        WRITE: [written(1)],
        "SHOW COMMIT TIMESTAMP": one("commit_timestamp", FIRST, SECOND),
    }
    with modelled(server(COCKROACH, answers)) as model, record() as recorded:
        lost_update(model)
    assert recorded.count == 3
    assert model.sent[0] == ["BEGIN", READ, WRITE, "COMMIT", "SHOW COMMIT TIMESTAMP"]
    side = model.sent[2]
    assert side[0] == "SELECT version()"
    assert [text for text in side if text.startswith("PREPARE")] == [
        f"PREPARE isoscope_plan AS {READ}",
        f"PREPARE isoscope_plan AS {WRITE}",
    ]
    assert not any("xmin" in text or "pg_" in text for texts in model.sent.values() for text in texts)


def test_a_transaction_that_reads_its_own_write_sees_a_time_that_is_not_yet_that_of_the_commit(
    tmp_path: Path,
) -> None:
    provisional = "1700000001.0000000000"
    answers = {
        READ: [seen(0, EARLIER), seen(1, provisional), seen(1, FIRST)],
        WRITE: [written(1)],
        "SHOW COMMIT TIMESTAMP": one("commit_timestamp", FIRST),
    }
    with on_cockroach(answers) as (_model, recorded, connection):
        read(connection)
        connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        read(connection)
        connection.commit()
        read(connection)
    found = history(recorded, tmp_path)
    assert accesses(found, 1)[1:] == [("write", "id=1, value=1 (T1)"), ("read", "id=1, value=1 (T1)")]
    assert accesses(found, 2) == [("read", "id=1, value=1 (T1)")]
    assert isoscope.check(found, "serializable").holds("serializable")


def test_a_time_that_no_read_confirms_names_nothing(tmp_path: Path) -> None:
    """A pool may send SHOW COMMIT TIMESTAMP to another connection of the server."""
    answers = {
        READ: [seen(0, EARLIER), seen(1, FIRST)],
        WRITE: [written(1)],
        "SHOW COMMIT TIMESTAMP": one("commit_timestamp", "1600000000.0000000000"),
    }
    with on_cockroach(answers) as (_model, recorded, connection):
        read(connection)
        connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        connection.commit()
        read(connection)
    found = history(recorded, tmp_path)
    assert accesses(found, 2) == [("read", "id=1, value=1")]
    assert isoscope.check(found, "serializable").holds("serializable")


@pytest.mark.parametrize(
    "command",
    ["BEGIN ISOLATION LEVEL READ COMMITTED", "SET default_transaction_isolation = 'read committed'"],
)
def test_below_serializable_no_time_is_asked_for(tmp_path: Path, command: str) -> None:
    answers = {READ: [seen(0, EARLIER)], WRITE: [written(1)]}
    with on_cockroach(answers, autocommit=True) as (model, recorded, connection):
        connection.execute(command)
        with connection.transaction() if command.startswith("SET") else nullcontext():
            read(connection)
            connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        connection.commit()
    assert "SHOW COMMIT TIMESTAMP" not in model.sent[0]
    assert accesses(history(recorded, tmp_path), 1)[1] == ("write", "id=1, value=1")


def test_an_older_server_that_does_not_know_the_time_disturbs_nothing(tmp_path: Path) -> None:
    answers = {READ: [seen(0, EARLIER), seen(1, FIRST)], WRITE: [written(1)]}
    with on_cockroach(answers) as (_model, recorded, connection):
        read(connection)
        connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        connection.commit()
        assert read(connection) == 1
    assert accesses(history(recorded, tmp_path), 2) == [("read", "id=1, value=1")]


def test_a_retry_error_aborts_and_the_next_attempt_is_a_transaction_of_its_own(tmp_path: Path) -> None:
    answers = {
        READ: [seen(0, EARLIER), seen(5, EARLIER)],
        WRITE: [Answer(error="40001"), written(1)],
        "SHOW COMMIT TIMESTAMP": one("commit_timestamp", SECOND),
    }
    with on_cockroach(answers) as (_model, recorded, connection):
        read(connection)
        with pytest.raises(psycopg.errors.SerializationFailure):
            connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        connection.rollback()
        read(connection)
        connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        connection.commit()
    found = history(recorded, tmp_path)
    assert [str(one.status) for one in found] == ["aborted", "committed"]
    assert accesses(found, 1) == []
    assert accesses(found, 2)[0] == ("read", "id=1, value=5")


def test_a_rollback_to_the_retry_savepoint_makes_void_what_was_read(tmp_path: Path) -> None:
    """The second attempt reads another state: no transaction saw both."""
    answers = {
        READ: [seen(0, EARLIER), seen(5, FIRST)],
        WRITE: [Answer(error="40001"), written(1)],
        "SHOW COMMIT TIMESTAMP": one("commit_timestamp", SECOND),
    }
    with on_cockroach(answers) as (_model, recorded, connection):
        connection.execute("SAVEPOINT cockroach_restart")
        read(connection)
        with pytest.raises(psycopg.errors.SerializationFailure):
            connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        connection.execute("ROLLBACK TO SAVEPOINT cockroach_restart")
        read(connection)
        connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        connection.execute("RELEASE SAVEPOINT cockroach_restart")
        connection.commit()
    assert accesses(history(recorded, tmp_path), 1) == [
        ("read", "id=1, value=5"),
        ("write", "id=1, value=1"),
    ]


@pytest.mark.parametrize("driver", [psycopg, psycopg2])
def test_a_commit_whose_result_is_ambiguous_is_indeterminate(tmp_path: Path, driver: Any) -> None:
    answers = {
        READ: [seen(0, EARLIER)],
        WRITE: [written(1)],
        "COMMIT": [Answer(error="40003")],
    }
    with modelled(server(COCKROACH, answers)) as model, record() as recorded:
        connection = driver.connect(model.url)
        cursor = connection.cursor()
        cursor.execute("UPDATE counters SET value = 1 WHERE id = 1")
        with pytest.raises(driver.Error):
            connection.commit()
        connection.close()
    found = history(recorded, tmp_path)
    assert str(found[1].status) == "indeterminate"
    assert "SHOW COMMIT TIMESTAMP" not in model.sent[0]


def test_a_release_whose_result_is_ambiguous_is_indeterminate_whatever_follows(tmp_path: Path) -> None:
    answers = {WRITE: [written(1)], "RELEASE SAVEPOINT cockroach_restart": [Answer(error="40003")]}
    with on_cockroach(answers) as (_model, recorded, connection):
        connection.execute("SAVEPOINT cockroach_restart")
        connection.execute("UPDATE counters SET value = 1 WHERE id = 1")
        with pytest.raises(psycopg.errors.StatementCompletionUnknown):
            connection.execute("RELEASE SAVEPOINT cockroach_restart")
        connection.rollback()
    assert str(history(recorded, tmp_path)[1].status) == "indeterminate"


def test_psycopg2_knows_rows_by_their_content(tmp_path: Path) -> None:
    """It begins a transaction with each statement, so that the time of the last one cannot be asked for."""
    answers = {READ: [seen(0, EARLIER), seen(1, FIRST)], WRITE: [written(1)]}
    with modelled(server(COCKROACH, answers)) as model, record() as recorded:
        connection = psycopg2.connect(model.url)
        cursor = connection.cursor()
        cursor.execute("SELECT value FROM counters WHERE id = 1")
        assert cursor.fetchall() == [(0,)]
        cursor.execute("UPDATE counters SET value = 1 WHERE id = 1")
        assert (cursor.rowcount, cursor.description) == (1, None)
        connection.commit()
        cursor.execute("SELECT value FROM counters WHERE id = 1")
        assert cursor.fetchone() == (1,)
        connection.commit()
        connection.close()
    assert model.sent[0] == ["BEGIN", READ, WRITE, "COMMIT", "BEGIN", READ, "COMMIT"]
    found = history(recorded, tmp_path)
    assert accesses(found, 1) == [("read", "id=1, value=0"), ("write", "id=1, value=1")]
    assert accesses(found, 2) == [("read", "id=1, value=1")]


def test_a_server_that_refuses_the_columns_gets_the_statement_of_the_program(tmp_path: Path) -> None:
    plain = "SELECT value FROM counters WHERE id = 1"
    answers = {
        f"PREPARE isoscope_plan AS {READ}": [Answer(error="42883")],
        plain: [Answer(("value",), ((7,),))],
    }
    with on_cockroach(answers) as (model, recorded, connection):
        assert read(connection) == 7
    assert model.sent[0][:2] == ["BEGIN", plain]
    report = isoscope.check(history(recorded, tmp_path), "serializable")
    assert "does not take the columns" in str(report)


def test_a_server_that_answers_no_question_disturbs_nothing(tmp_path: Path) -> None:
    plain = "SELECT value FROM counters WHERE id = 1"
    answers = {"SELECT version()": one("version", COCKROACH), plain: [Answer(("value",), ((7,),))]}
    with modelled(answers) as model, record() as recorded, psycopg.connect(model.url) as connection:
        assert read(connection) == 7
    assert "counters is no table of the database" in str(isoscope.check(history(recorded, tmp_path)))


@pytest.mark.parametrize(
    "command",
    ["SET default_transaction_use_follower_reads = on", "SET TRANSACTION AS OF SYSTEM TIME '-10s'"],
)
def test_reads_of_the_past_are_not_judged(tmp_path: Path, command: str) -> None:
    with on_cockroach({READ: [seen(0, EARLIER)]}) as (_model, recorded, connection):
        connection.execute(command)
        assert read(connection) == 0
    assert "lets reads see old versions" in str(isoscope.check(history(recorded, tmp_path), "serializable"))


def test_a_select_as_of_system_time_is_sent_unchanged(tmp_path: Path) -> None:
    past = "SELECT value FROM counters AS OF SYSTEM TIME '-10s' WHERE id = 1"
    answers = {past: [Answer(("value",), ((7,),))]}
    with on_cockroach(answers) as (model, recorded, connection):
        assert connection.execute(past).fetchone() == (7,)
    assert past in model.sent[0]
    assert "cannot be parsed" in str(isoscope.check(history(recorded, tmp_path), "serializable"))


def test_yugabytedb_knows_rows_by_their_content_alone(tmp_path: Path) -> None:
    answers = {
        "SHOW yb_read_from_followers": one("yb_read_from_followers", "off"),
        PLAIN_READ: [seen(0), seen(0), seen(1)],
        WRITE: [written(1)],
    }
    with modelled(server(YUGABYTE, answers)) as model, record() as recorded:
        lost_update(model)
    assert model.sent[0] == ["BEGIN", PLAIN_READ, WRITE, "COMMIT"]
    found = history(recorded, tmp_path)
    assert accesses(found, 3) == [("read", "id=1, value=1")]
    report = isoscope.check(found, ["read-committed", "snapshot-isolation"])
    assert report.holds("read-committed")
    assert not report.holds("snapshot-isolation")


def test_the_command_says_that_it_was_never_run_on_this_database(tmp_path: Path) -> None:
    answers = {READ: [seen(0, EARLIER)]}
    script = tmp_path / "app.py"
    with modelled(server(COCKROACH, answers)) as model:
        script.write_text(
            f"import psycopg\nwith psycopg.connect({model.url!r}) as connection:\n"
            "    print(connection.execute('SELECT value FROM counters WHERE id = 1').fetchone())\n"
        )
        command = [sys.executable, "-m", "isoscope", "record", "-o", str(tmp_path / "a.program"), "--"]
        done = subprocess.run(
            [*command, sys.executable, str(script)], capture_output=True, text=True, check=False
        )
    assert done.stdout.startswith("(0,)\nrecorded 1 transaction")
    assert "note: cockroachdb is recorded by its documentation" in done.stderr
