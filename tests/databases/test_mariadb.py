"""MariaDB: what its isolations show, and how a run on it ends."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import checkers
from isoscope.databases import connect
from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.databases.mariadb import connection, server
from isoscope.databases.process import Server
from isoscope.errors import DatabaseError
from isoscope.levels import Level
from isoscope.run import Limits, run
from isoscope.verdict import Outcome
from tests.databases.mariadb_servers import (
    FAST,
    Mix,
    ask,
    begun,
    committed,
    on_a_server,
    outcomes,
    url_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoscope.databases.database import Content, Database


SNAPSHOTS = ("repeatable-read", {"innodb_snapshot_isolation": "ON"})
IMPATIENT = ("repeatable-read", {"innodb_lock_wait_timeout": "1"})


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
    found = run(database, Mix(content=content), Limits(transactions=2000))
    assert database.promises == (Level(kept),)
    assert outcomes(found, Level(kept)) == {Level(kept): Outcome.HOLDS}
    if broken is not None:
        assert outcomes(found, Level(broken)) == {Level(broken): Outcome.VIOLATED}


@on_a_server
def test_repeatable_read_shows_lost_updates_and_read_skew() -> None:
    found = run(connect("mariadb", settings=FAST), Mix(), Limits(transactions=3000))
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
def test_an_error_says_how_the_transaction_ended(error: tuple[Any, ...], meaning: Exception) -> None:
    found = connection.failure(Exception(*error))
    assert (type(found), str(found)) == (type(meaning), str(meaning))


# The end of a server.


@on_a_server
def test_a_server_that_dies_ends_the_run_with_one_problem_and_keeps_the_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("isoscope.run.connections._PATIENCE", 0.5)
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
def test_a_server_at_a_url_that_stops_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isoscope.run.connections._PATIENCE", 0.5)
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
def test_a_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LEAST", 1 << 60)
    found = run(connect("mariadb", settings=FAST), Mix(), Limits(transactions=10))
    assert found.problem is not None
    assert "there is no space left for the files of MariaDB" in found.problem
    assert found.progress.committed > 0


def pid_of(database: Any) -> int:
    return int(database._server._process.pid)


def folder_of(database: Any) -> Path:
    return Path(database._server.folder)
