"""DuckDB: snapshots that allow write skew and nothing worse, and files that existed before."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from isoscope.checkers import check
from isoscope.databases import connect
from isoscope.databases.database import Aborted
from isoscope.errors import DatabaseError
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.conformance import Mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.databases.database import Session

X, Y = 1, 2


@contextmanager
def sessions() -> Iterator[tuple[Session, Session]]:
    """Two, and the registers X and Y."""
    with closing(connect("duckdb")) as database:
        database.open("register")
        database.insert([(X, 0), (Y, 0)])
        yield database.session(), database.session()


def test_two_who_read_both_and_write_one_each_both_commit() -> None:
    with sessions() as (one, other):
        for session in (one, other):
            session.begin()
            assert (session.read(X), session.read(Y)) == (0, 0)
        one.write(X, 1)
        other.write(Y, 1)
        one.commit()
        other.commit()


def test_a_snapshot_stays_and_nobody_writes_over_what_it_does_not_show() -> None:
    with sessions() as (one, other):
        one.begin()
        assert one.read(X) == 0
        write(other, X, 1)
        assert one.read(X) == 0
        with pytest.raises(Aborted, match=r"^Conflict on update!$"):
            one.write(X, 2)


def test_a_conflict_takes_the_whole_transaction_along() -> None:
    with sessions() as (one, other):
        one.begin()
        one.write(Y, 2)
        other.begin()
        other.write(X, 1)
        with pytest.raises(Aborted):
            one.write(X, 2)
        # DuckDB itself lets a failed transaction be committed, and says nothing.
        with pytest.raises(Aborted):
            one.commit()
        other.commit()
        one.begin()
        assert (one.read(X), one.read(Y)) == (1, 0)


def test_reasons_have_no_values() -> None:
    with sessions() as (one, other):
        for session in (one, other):
            session.begin()
            session.insert(3, 0)
        one.commit()
        with pytest.raises(Aborted) as late:
            other.commit()
        other.begin()
        with pytest.raises(Aborted) as early:
            other.insert(3, 0)
    assert str(late.value) == "Failed to commit: PRIMARY KEY or UNIQUE constraint violation: duplicate key"
    assert str(early.value) == "Duplicate key violates primary key constraint."


def test_a_run_shows_write_skew_and_nothing_worse() -> None:
    workload = Mix(content="list", sessions=6, keys=6, length=4)
    done = run(connect("duckdb"), workload, Limits(transactions=400, seconds=30))
    assert done.history is not None
    [promised, serializable] = check(done.history, ["strong-snapshot-isolation", "serializable"]).verdicts
    assert promised.outcome is Outcome.HOLDS
    assert serializable.outcome is Outcome.VIOLATED
    assert dict(serializable.anomaly_counts).keys() == {"write-skew"}


def write(session: Session, key: int, value: int) -> None:
    session.begin()
    session.write(key, value)
    session.commit()


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The name of a file that is not there yet."""
    monkeypatch.chdir(tmp_path)
    return Path("a b.db")


def ask(path: Path, statement: str) -> list[Any]:
    with closing(duckdb.connect(str(path))) as connection:
        return connection.execute(statement).fetchall()


@pytest.mark.parametrize("url", ["duckdb:{}", "duckdb:///{}"])
def test_a_new_file_is_where_it_was_asked_for_and_gone_afterwards(given: Path, url: str) -> None:
    with closing(connect(url.format(given))) as database:
        database.open("register")
        database.insert([(X, 0)])
        write(database.session(), X, 1)
        assert given.exists()
    assert [*Path().iterdir()] == []


@pytest.mark.parametrize("url", ["duckdb:", "duckdb::memory:"])
def test_without_a_file_it_is_in_memory(given: Path, url: str) -> None:
    with closing(connect(url)) as database:
        database.open("register")
        assert [*Path().iterdir()] == []


def test_a_file_that_was_there_is_left_as_it_was(given: Path) -> None:
    ask(given, "CREATE TABLE theirs AS SELECT 7 AS seven")
    with closing(connect(f"duckdb:{given}")) as database:
        database.open("list")
        database.insert([(X, 0)])
        database.session().begin()
    assert ask(given, "SELECT name FROM (SHOW TABLES)") == [("theirs",)]
    assert ask(given, "FROM theirs") == [(7,)]
    assert [*Path().iterdir()] == [given]


def test_a_table_that_is_there_is_not_touched(given: Path) -> None:
    database = connect(f"duckdb:{given}")
    for _ in range(2):
        ask(given, "CREATE TABLE isoscope AS SELECT 7 AS seven")
        with closing(database), pytest.raises(DatabaseError, match="already holds a table `isoscope`"):
            database.open("register")
        assert ask(given, "FROM isoscope") == [(7,)]
        given.unlink()
        # The next refusal must not remember that there was a table of our own.
        with closing(database):
            database.open("register")


def test_a_file_that_is_something_else_is_refused_and_kept(given: Path) -> None:
    given.write_text("Dear diary, " * 1000)
    with closing(connect(f"duckdb:{given}")) as database, pytest.raises(DatabaseError) as refused:
        database.open("register")
    assert "is not a valid DuckDB database file" in str(refused.value)
    assert given.read_text().startswith("Dear diary")


def test_a_file_that_others_hold_is_refused(given: Path) -> None:
    held = f"import duckdb; c = duckdb.connect({str(given)!r}); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with closing(connect(f"duckdb:{given}")) as database, pytest.raises(DatabaseError) as refused:
            database.open("register")
        other.communicate(b"\n")
    assert "no other program may have the file open" in str(refused.value)
    assert given.exists()


def test_a_closed_session_cannot_be_used() -> None:
    with sessions() as (one, _):
        one.begin()
    with pytest.raises(DatabaseError, match="already closed"):
        one.read(X)
