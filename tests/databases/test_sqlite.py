"""SQLite: what its locks, journals and cache let sessions see, and files that existed before."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.checkers import check
from isoscope.databases import connect, sqlite
from isoscope.databases.database import Aborted
from isoscope.databases.sqlite.session import Session as SQLiteSession
from isoscope.errors import DatabaseError, UsageError
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.conformance import Mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.databases.database import Database, Session

X, Y = 1, 2
#: Milliseconds after which a lock counts as not to be had.
SHORT = "50"


@contextmanager
def sessions(isolation: str = "serializable", **settings: str) -> Iterator[tuple[Session, Session]]:
    """Two, and the registers X and Y."""
    with closing(connect("sqlite", isolation=isolation, settings=settings)) as database:
        database.open("register")
        database.insert([(X, 0), (Y, 0)])
        yield database.session(), database.session()


def test_uncommitted_writes_are_read_where_that_is_asked_for() -> None:
    with sessions("read-uncommitted") as (one, other):
        one.begin()
        one.write(X, 1)
        other.begin()
        assert other.read(X) == 1
        one.rollback()
        assert other.read(X) == 0


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_uncommitted_writes_are_not_read_otherwise(journal: str) -> None:
    with sessions(journal_mode=journal) as (one, other):
        one.begin()
        one.write(X, 1)
        other.begin()
        assert other.read(X) == 0


def test_a_commit_that_meets_a_reader_is_aborted_for_sure() -> None:
    with sessions(busy_timeout=SHORT) as (writer, reader):
        reader.begin()
        reader.read(X)
        writer.begin()
        writer.write(X, 1)
        with pytest.raises(Aborted, match=r"^database is locked \(SQLITE_BUSY\)$"):
            writer.commit()
        assert reader.read(X) == 0
        reader.write(X, 2)
        reader.commit()
        writer.begin()
        assert writer.read(X) == 2


def test_only_one_of_two_readers_can_write() -> None:
    with sessions() as (one, other):
        for session in (one, other):
            session.begin()
            session.read(X)
        one.write(X, 1)
        with pytest.raises(Aborted, match="SQLITE_BUSY"):
            other.write(Y, 1)
        one.commit()


def test_a_reader_of_the_log_keeps_its_snapshot_but_cannot_write_on_it() -> None:
    with sessions(journal_mode="wal") as (one, other):
        one.begin()
        assert one.read(X) == 0
        other.begin()
        other.write(X, 1)
        other.write(Y, 1)
        other.commit()
        assert one.read(Y) == 0
        with pytest.raises(Aborted, match=r"^database is locked \(SQLITE_BUSY_SNAPSHOT\)$"):
            one.write(Y, 2)
        one.begin()
        assert (one.read(X), one.read(Y)) == (1, 1)


def test_an_immediate_transaction_holds_the_lock_before_it_writes() -> None:
    with sessions(begin="immediate", busy_timeout=SHORT) as (one, other):
        one.begin()
        with pytest.raises(Aborted, match="SQLITE_BUSY"):
            other.begin()


def test_with_a_shared_cache_writers_wait_for_each_other() -> None:
    with sessions("read-uncommitted") as (one, other):
        one.begin()
        one.write(X, 1)
        waiting = Thread(target=write_and_commit, args=(other, 2))
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()
        one.commit()
        waiting.join(10)
        one.begin()
        assert one.read(X) == 2


def write_and_commit(session: Session, value: int) -> None:
    session.begin()
    session.write(X, value)
    session.commit()


def test_with_a_shared_cache_nobody_waits_longer_than_told() -> None:
    with sessions("read-uncommitted", busy_timeout=SHORT) as (one, other):
        one.begin()
        one.write(X, 1)
        other.begin()
        with pytest.raises(Aborted, match=r"locked \(SQLITE_LOCKED_SHAREDCACHE\)$"):
            other.write(Y, 1)


def test_a_run_on_a_shared_cache_shows_what_was_rolled_back() -> None:
    workload = Mix(content="register", sessions=8, keys=4, length=8, rolled_back=0.3)
    done = run(connect("sqlite", isolation="read-uncommitted"), workload, Limits(transactions=500))
    assert done.history is not None
    [committed, written] = check(done.history, ["pl-2", "pl-1"]).verdicts
    assert committed.outcome is Outcome.VIOLATED
    assert "aborted-read" in dict(committed.anomaly_counts)
    assert written.outcome is Outcome.HOLDS


def test_without_a_log_there_is_no_order() -> None:
    with closing(connect("sqlite", settings={"log": "off"})) as database:
        database.open("register")
        assert database.version_order() is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"journal_mode": "wall"}, "unknown journal_mode of sqlite `wall`; did you mean `wal`?"),
        ({"begin": "later"}, "unknown begin of sqlite `later`"),
        ({"synchronous": "maybe"}, "unknown synchronous of sqlite `maybe`"),
        ({"busy_timeout": "-1"}, "busy_timeout of sqlite is `-1`, but must be milliseconds"),
        ({"latency": "low"}, "latency of sqlite is `low`, but must be microseconds, such as 100"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        connect("sqlite", settings=settings)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("url", ["sqlite:", "sqlite://", "sqlite:///", "sqlite::memory:", "sqlite://host/x"])
def test_a_url_without_a_file_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="hint: `sqlite"):
        connect(url)


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The name of a file that is not there yet, with everything that a URL could stumble over."""
    monkeypatch.chdir(tmp_path)
    return Path("a ?b#c%20.db")


@pytest.mark.parametrize("url", ["sqlite:{}", "sqlite:///{}"])
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_new_file_is_where_it_was_asked_for_and_gone_afterwards(
    given: Path, url: str, journal: str
) -> None:
    with closing(connect(url.format(given), settings={"journal_mode": journal})) as database:
        database.open("register")
        write_and_commit(database.session(), 1)
        assert given.exists()
    assert [*Path().iterdir()] == []


def ask(path: Path, *statements: str) -> list[Any]:
    """All rows of all statements."""
    with closing(sqlite3.connect(path)) as connection:
        rows = [row for statement in statements for row in connection.execute(statement)]
        connection.commit()
        return rows


@pytest.mark.parametrize("asked", ["delete", "wal"])
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_file_that_was_there_is_left_as_it_was(given: Path, journal: str, asked: str) -> None:
    ask(given, f"PRAGMA journal_mode = {journal}", "CREATE TABLE theirs AS SELECT 7 AS seven")
    with closing(connect(f"sqlite:{given}", settings={"journal_mode": asked})) as database:
        database.open("register")
        database.insert([(X, 0)])
        write_and_commit(database.session(), 1)
        assert ask(given, "PRAGMA journal_mode") == [(asked,)]
    assert ask(given, "PRAGMA journal_mode", "SELECT * FROM theirs") == [(journal,), (7,)]
    assert ask(given, "SELECT name FROM sqlite_master") == [("theirs",)]
    assert [*Path().iterdir()] == [given]


@pytest.mark.parametrize("table", ["isoscope", "isoscope_log"])
def test_a_table_that_is_there_is_not_touched(given: Path, table: str) -> None:
    database = connect(f"sqlite:{given}")
    for _ in range(2):
        ask(given, f"CREATE TABLE IF NOT EXISTS {table} AS SELECT 7 AS seven")
        with closing(database), pytest.raises(DatabaseError, match="already holds a table `isoscope`"):
            database.open("register")
        assert ask(given, f"SELECT * FROM {table}") == [(7,)]
        given.unlink()
        # The next refusal must not remember that there was a table of our own.
        with closing(database):
            database.open("register")


def test_a_file_that_is_something_else_is_refused_and_kept(given: Path) -> None:
    given.write_text("Dear diary, " * 100)
    refused(given, "file is not a database", "the file is something else, or encrypted")
    assert given.read_text().startswith("Dear diary")


def test_a_folder_is_refused(given: Path) -> None:
    given.mkdir()
    refused(given, "unable to open database file", "the folder must be there and writable")


def test_a_file_that_others_hold_is_refused(given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.05)
    with closing(sqlite3.connect(given, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        refused(given, "database is locked", "another program is using the file")


def refused(path: Path, problem: str, hint: str) -> None:
    with closing(connect(f"sqlite:{path}")) as database, pytest.raises(DatabaseError) as error:
        database.open("register")
    said, told = str(error.value).split("\n\nhint: ")
    assert said == f"{path}: {problem}"
    assert told.startswith(hint)


class Limited(sqlite.SQLite):
    """As if the machine had a limit; it is set on every connection of a session."""

    limit = ""

    def session(self) -> Any:
        session = super().session()
        session.execute(f"PRAGMA {self.limit}")
        return session


@pytest.mark.parametrize(
    ("limit", "problem"),
    [
        ("max_page_count = 4", "database or disk is full\n\nhint: free space on the disk"),
        ("query_only = 1", "attempt to write a readonly database\n\nhint: the file and its folder"),
    ],
)
def test_an_error_of_the_disk_ends_the_run_with_one_message(
    given: Path, monkeypatch: pytest.MonkeyPatch, limit: str, problem: str
) -> None:
    monkeypatch.setattr(Limited, "limit", limit)
    database: Database = Limited("serializable", url=f"sqlite:{given}", settings={})
    done = run(database, Mix(content="list", sessions=2), Limits(seconds=20))
    assert done.problem is not None
    assert done.problem.startswith(f"{given}: {problem}")
    assert done.progress.aborted + done.progress.indeterminate > 0, (
        "transactions that met it are in the history"
    )
    assert [*Path().iterdir()] == []


def test_a_commit_that_fails_may_have_taken_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    def commit(session: SQLiteSession) -> None:
        session.execute("COMMIT")
        raise DatabaseError("disk I/O error")

    monkeypatch.setattr(SQLiteSession, "commit", commit)
    done = run(connect("sqlite"), Mix(content="register", sessions=1), Limits(seconds=20))
    assert done.problem == "disk I/O error"
    assert (done.progress.committed, done.progress.indeterminate) == (0, 1)


def test_rows_wait_for_a_transaction_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.05)
    with closing(connect("sqlite")) as database:
        database.open("register")
        database.insert([(X, 0)])
        session = database.session()
        session.begin()
        session.write(X, 1)
        with pytest.raises(DatabaseError, match="database is locked"):
            database.insert([(Y, 0)])
        session.commit()
        database.insert([(Y, 0)])


def test_a_closed_session_cannot_be_used() -> None:
    with sessions() as (one, _):
        one.begin()
    with pytest.raises(DatabaseError, match="closed database"):
        one.read(X)
