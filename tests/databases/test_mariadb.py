"""MariaDB: what its isolations show, what its log says, and how it ends."""

from __future__ import annotations

import os
import signal
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import checkers
from isoscope.databases import connect
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.databases.mariadb import MariaDB, _log_status, binlog, connection, server
from isoscope.databases.process import Server
from isoscope.errors import DatabaseError
from isoscope.history import Status
from isoscope.levels import Level
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.mariadb_servers import FAST, ask, on_a_server, opened, started, url_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoscope.databases.database import Content, Database, Session
    from isoscope.run import Run
    from isoscope.workloads.clients import Insert, Operations, Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Short transactions of reads and writes on few keys."""

    content: Content = "register"
    sessions: int = 4
    keys: int = 4
    operations: int = 4
    seed: int = 1
    each: Callable[[], None] = lambda: None

    def rows(self) -> list[tuple[int, int]]:
        return [(key, 0) for key in range(self.keys)]

    def clients(self, insert: Insert) -> list[Iterator[Program]]:
        return [self._client(number) for number in range(self.sessions)]

    def _client(self, number: int) -> Iterator[Program]:
        random, values = Random(f"{self.seed} {number}"), count(1)

        def program(operations: Operations) -> None:
            self.each()
            for _ in range(self.operations):
                key = random.randrange(self.keys)
                if random.random() < 0.5:
                    operations.read(key)
                    continue
                value = next(values) * self.sessions + number
                (operations.append if self.content == "list" else operations.write)(key, value)

        while True:
            yield program


@pytest.fixture(scope="module")
def place() -> Iterator[connection.Place]:
    with started() as place:
        yield place


@pytest.fixture
def database(place: connection.Place, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Keys 1 and 2, both 0, with the isolation and settings of the parameter, by default none."""
    isolation, settings = getattr(request, "param", ("repeatable-read", {}))
    with opened(connect(url_of(place), isolation=isolation, settings=settings)) as database:
        database.insert([(1, 0), (2, 0)])
        yield database


SNAPSHOTS = ("repeatable-read", {"innodb_snapshot_isolation": "ON"})
IMPATIENT = ("repeatable-read", {"innodb_lock_wait_timeout": "1"})


def begun(database: Database) -> Session:
    session = database.session()
    session.begin()
    return session


def committed(database: Database, **written: int) -> None:
    """Commits a write of each key (`k1=5`)."""
    session = begun(database)
    for key, value in written.items():
        session.write(int(key[1:]), value)
    session.commit()
    session.close()


def outcomes(found: Run, *levels: Level) -> dict[Level, Outcome]:
    assert found.problem is None
    assert found.history is not None
    return {verdict.level: verdict.outcome for verdict in checkers.check(found.history, levels).verdicts}


# What it promises, and what it shows.

LOOSE = ("repeatable-read", {"innodb_snapshot_isolation": "OFF"})
FINDINGS = [
    (LOOSE, "register", "prefix", "snapshot-isolation"),
    (LOOSE, "list", "pl-2", "read-committed"),
    (SNAPSHOTS, "register", "strong-snapshot-isolation", "serializable"),
    (SNAPSHOTS, "list", "strong-snapshot-isolation", "serializable"),
    (("serializable", {}), "register", "strict-serializable", None),
    (("serializable", {}), "list", "strict-serializable", None),
    (("read-committed", {}), "register", "read-committed", "cut-isolation"),
    (("read-committed", {}), "list", "read-committed", "cut-isolation"),
    (("read-uncommitted", {}), "register", "pl-1", "pl-2"),
]


@on_a_server
@pytest.mark.parametrize(("asked", "content", "kept", "broken"), FINDINGS)
def test_an_isolation_keeps_its_promise_and_breaks_a_stronger_level(
    place: connection.Place,
    asked: tuple[str, dict[str, str]],
    content: Content,
    kept: str,
    broken: str | None,
) -> None:
    database = connect(url_of(place), isolation=asked[0], settings=asked[1])
    found = run(database, Mix(content=content), Limits(seconds=2))
    assert database.promises == (Level(kept),)
    assert outcomes(found, Level(kept)) == {Level(kept): Outcome.HOLDS}
    if broken is not None:
        assert outcomes(found, Level(broken)) == {Level(broken): Outcome.VIOLATED}


@on_a_server
def test_repeatable_read_shows_lost_updates_and_read_skew() -> None:
    found = run(connect("mariadb", settings=FAST), Mix(), Limits(seconds=3))
    assert found.history is not None
    (verdict,) = checkers.check(found.history, [Level.SNAPSHOT_ISOLATION]).verdicts
    assert {"lost-update", "read-skew"} <= verdict.anomaly_counts.keys()


def test_promises_depend_on_settings_before_anything_is_started() -> None:
    assert connect("mariadb").promises == (Level.PL_2,)
    settings = {"innodb_snapshot_isolation": "on"}
    assert connect("mariadb", settings=settings).promises == (Level.STRONG_SNAPSHOT_ISOLATION,)
    assert connect("mariadb", isolation="read-committed", settings=settings).promises == (
        Level.READ_COMMITTED,
    )


# Aborts: nothing is left of the transaction.


@on_a_server
@pytest.mark.parametrize("database", [IMPATIENT], indirect=True)
def test_a_lock_wait_timeout_rolls_back_the_whole_transaction(database: Database) -> None:
    holder, waiter = begun(database), begun(database)
    holder.write(1, 5)
    waiter.write(2, 6)
    with pytest.raises(Aborted, match=r"^lock wait timeout$"):
        waiter.write(1, 7)
    waiter.begin()
    assert waiter.read(2) == 0


@on_a_server
@pytest.mark.parametrize("database", [SNAPSHOTS], indirect=True)
def test_snapshot_isolation_refuses_to_overwrite_what_the_snapshot_does_not_show(database: Database) -> None:
    session = begun(database)
    session.write(2, 6)
    assert session.read(1) == 0
    committed(database, k1=5)
    with pytest.raises(Aborted, match=r"^record has changed since the snapshot$"):
        session.write(1, 7)
    session.begin()
    assert (session.read(1), session.read(2)) == (5, 0)


@on_a_server
def test_a_deadlock_aborts_one_of_two(database: Database) -> None:
    one, two = begun(database), begun(database)
    one.write(1, 5)
    two.write(2, 6)
    reasons = [str(error) for error in crossed(lambda: one.write(2, 7), lambda: two.write(1, 8))]
    assert reasons == ["deadlock"]


def crossed(*statements: Callable[[], None]) -> list[Aborted]:
    """Errors of statements that wait for each other."""
    with ThreadPoolExecutor(len(statements)) as pool:
        waiting = [pool.submit(statement) for statement in statements]
    return [error for error in (future.exception() for future in waiting) if isinstance(error, Aborted)]


@on_a_server
def test_a_write_of_a_row_that_is_gone_is_no_write(database: Database) -> None:
    session = begun(database)
    assert session.read(1) == 0
    other = begun(database)
    other.delete(1)
    other.commit()
    with pytest.raises(Aborted, match=r"^no such row$"):
        session.write(1, 7)


@on_a_server
def test_a_connection_that_is_killed_is_lost(database: Database, place: connection.Place) -> None:
    session = begun(database)
    ask(place, f"KILL {session.number}")  # type: ignore[attr-defined]
    with pytest.raises(ConnectionLost):
        session.read(1)
    session.rollback()
    session.close()


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        ((1213, "Deadlock found"), Aborted("deadlock")),
        ((1020, "Record has changed"), Aborted("record has changed since the snapshot")),
        ((2013, "Lost connection ([Errno 104])"), ConnectionLost("lost connection to the server")),
        ((1053, "Server shutdown"), ConnectionLost("server shutdown in progress")),
        ((0, ""), ConnectionLost("connection is closed")),
        ((1114, "Full"), DatabaseError("there is no space left for the database: Full (error 1114)")),
        ((1064, "Syntax"), DatabaseError("Syntax (error 1064)")),
        (("odd",), DatabaseError("odd (error -1)")),
    ],
)  # fmt: skip
def test_an_error_says_what_became_of_the_transaction(error: tuple[Any, ...], meaning: Exception) -> None:
    found = connection.failure(Exception(*error))
    assert (type(found), str(found)) == (type(meaning), str(meaning))


# The order of versions.


@on_a_server
def test_the_log_has_the_last_row_of_each_key_and_transaction(database: Database) -> None:
    session = begun(database)
    for value in (5, 6):
        session.write(1, value)
    session.commit()
    session.begin()
    session.write(1, 7)
    session.rollback()
    session.begin()
    session.insert(3, 8)
    session.commit()
    committed(database, k2=9, k1=10)
    assert sorted(database.version_order() or ()) == [(1, 6), (1, 10), (2, 9), (3, 8)]
    assert [value for key, value in database.version_order() or () if key == 1] == [6, 10]


@on_a_server
def test_the_log_proves_a_commit_whose_answer_was_lost(place: connection.Place) -> None:
    database = Unanswered(url_of(place))
    found = run(database, Mix(sessions=1, operations=9), Limits(transactions=3))
    assert found.progress.indeterminate == 1
    assert outcomes(found, Level.STRICT_SERIALIZABLE) == {Level.STRICT_SERIALIZABLE: Outcome.HOLDS}
    assert found.history is not None
    (order,) = found.history.version_orders
    lost = next(iter(found.history))
    assert lost.status is Status.INDETERMINATE
    written = {operation.key: operation.value for operation in lost.operations if operation.kind == "write"}
    assert {key: versions[0] for key, versions in order.versions.items() if key in written} == written


class Unanswered(MariaDB):
    """Loses the connection after the first commit, which took place."""

    def __init__(self, url: str) -> None:
        super().__init__("repeatable-read", url=url, settings={})
        self._is_lost = False

    def session(self) -> Any:
        session = super().session()
        commit = session.commit

        def commit_and_lose() -> None:
            commit()
            if not self._is_lost:
                self._is_lost = True
                raise ConnectionLost("lost")

        session.commit = commit_and_lose  # type: ignore[method-assign]
        return session


@on_a_server
def test_a_server_that_logs_statements_is_told_to_log_rows(place: connection.Place) -> None:
    ask(place, "SET GLOBAL binlog_format=STATEMENT, binlog_row_image=MINIMAL")
    try:
        with opened(connect(url_of(place))) as database:
            database.insert([(1, 0)])
            committed(database, k1=5)
            assert database.version_order() == [(1, 5)]
    finally:
        ask(place, "SET GLOBAL binlog_format=ROW, binlog_row_image=FULL")


@on_a_server
def test_who_may_not_read_the_log_has_no_order_of_versions(place: connection.Place) -> None:
    ask(place, "CREATE DATABASE guests")
    ask(place, "GRANT ALL ON guests.* TO guest@'127.0.0.1' IDENTIFIED BY 'guest'")
    database = connect(f"mysql://guest:guest@{place}/guests")
    try:
        assert ", no order of versions: Access denied" in database.open("register")
        database.insert([(1, 0)])
        committed(database, k1=5)
        assert database.version_order() is None
    finally:
        database.close()


@on_a_server
def test_without_a_log_there_is_no_order_of_versions() -> None:
    database = connect("mariadb", settings={"log_bin": "OFF"})
    try:
        assert database.open("register").endswith(", no order of versions: log_bin is OFF")
        assert database.version_order() is None
    finally:
        database.close()


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("MariaDB 10.11.19", "SHOW MASTER STATUS"),
        ("MySQL 8.0.40", "SHOW MASTER STATUS"),
        ("MySQL 8.4.0", "SHOW BINARY LOG STATUS"),
    ],
)
def test_the_end_of_the_log_is_asked_for_in_the_words_of_the_server(name: str, asked: str) -> None:
    assert _log_status(name) == asked


WriteRowsEvent = namedtuple("WriteRowsEvent", "rows")
UpdateRowsEvent = namedtuple("UpdateRowsEvent", "rows")
DeleteRowsEvent = namedtuple("DeleteRowsEvent", "rows")
XidEvent = namedtuple("XidEvent", "")


def test_events_of_one_transaction_are_taken_together() -> None:
    events = [
        WriteRowsEvent([{"values": {"k": 1, "v": 0}}, {"values": {"k": 2, "v": 3}}]),
        UpdateRowsEvent([{"after_values": {"k": 1, "v": 4}}]),
        XidEvent(),
        UpdateRowsEvent([{"after_values": {"k": 1, "v": 5}}]),
        DeleteRowsEvent([{"values": {"k": 1, "v": 5}}]),
        XidEvent(),
        UpdateRowsEvent([{"after_values": {"k": 2, "v": 6}}]),
    ]
    assert list(binlog.versions(events, {1: 0})) == [(2, 3), (1, 4)]


# The end of a server.


@on_a_server
def test_a_server_that_dies_ends_the_run_with_one_problem_and_keeps_the_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("isoscope.run.sessions._PATIENCE", 0.5)
    database, started = connect("mariadb", settings=FAST), count()

    def kill() -> None:
        if next(started) == 100:
            os.kill(pid_of(database), signal.SIGKILL)

    found = run(database, Mix(each=kill), Limits(seconds=60))
    assert found.problem is not None
    assert found.problem.startswith("MariaDB has stopped")
    assert found.progress.committed > 50
    assert found.history is not None
    assert len(found.history) >= found.progress.committed
    assert not folder_of(database).exists()


@on_a_server
def test_a_server_of_somebody_else_that_stops_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoscope.run.sessions._PATIENCE", 0.5)
    process, begun = Server("mariadb", users=("mysql", "nobody")), count()
    try:
        place = server.start(process, FAST)
        found = run(
            connect(url_of(place)),
            Mix(each=lambda: process.stop() if next(begun) == 100 else None),
            Limits(seconds=60),
        )
    finally:
        process.stop()
    assert found.problem is not None
    assert found.problem.startswith(f"no server answers at {place}: Connection refused")
    assert found.progress.committed > 50


@on_a_server
def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LEAST", 1 << 60)
    found = run(connect("mariadb", settings=FAST), Mix(), Limits(transactions=10))
    assert found.problem is not None
    assert "there is no space left for the files of MariaDB" in found.problem
    assert found.progress.committed > 0


def pid_of(database: Any) -> int:
    return int(database._server._process.pid)


def folder_of(database: Any) -> Path:
    return Path(database._server.folder)
