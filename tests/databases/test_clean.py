"""`isoscope clean`: what killed runs left is removed, and nothing else."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import duckdb
import pytest

from isoscope import databases
from isoscope.errors import DatabaseError, UsageError
from tests.cli.running import COMMAND, run
from tests.interrupts import wait_until

from .mariadb_servers import ask, on_a_server, url_of
from .postgresql_servers import Running, server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from isoscope.databases.mariadb.connection import Place


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kill_a_run(url: str, folder: Path) -> None:
    """A run that is killed when it has recorded transactions."""
    line = [*COMMAND, "run", url, "--seconds", "60", "--sessions", "3"]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def has_frames() -> bool:
        assert process.poll() is None
        return any(path.stat().st_size > 5000 for path in folder.glob("*.recording"))

    try:
        wait_until(has_frames)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def names(running: Running) -> list[str]:
    return [
        name
        for (name,) in running.ask(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isoscope%'"
            " UNION ALL SELECT pubname FROM pg_publication"
            " UNION ALL SELECT slot_name FROM pg_replication_slots"
        )
    ]


@server
def test_what_a_killed_run_left_on_postgresql_is_removed(running: Running, folder: Path) -> None:
    running.ask("CREATE SCHEMA isoscope_mine")
    kill_a_run(running.url(), folder)
    # A slot that is not temporary, as an older version or another tool may have left it.
    running.ask("SELECT pg_create_logical_replication_slot('isoscope_0123abcd', 'pgoutput')")
    assert len(names(running)) >= 4
    backends = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'isoscope_%'"
    wait_until(lambda: not running.ask(backends))
    done = run("clean", running.url())
    assert done.status == 0
    assert "removed: slot isoscope_0123abcd\n" in done.out
    assert done.out.count("removed: schema isoscope_") == 1
    assert done.out.count("removed: publication isoscope_") == 1
    assert names(running) == ["isoscope_mine"]
    assert run("clean", running.url()).out == "nothing was left behind\n"
    [path] = folder.glob("*.recording")
    # At read committed, reads may differ within a transaction: nothing more is promised.
    assert run("check", path, "--level", "pl-2").status == 0


@server
def test_a_run_that_is_alive_keeps_its_objects(running: Running) -> None:
    database = databases.connect(running.url())
    try:
        database.open("register")
        database.insert([(1, 1)])
        done = run("clean", running.url())
        assert "in use, kept: schema isoscope_" in done.out
        assert "removed" not in done.out
        with closing(database.session()) as session:
            assert session.read(1) == 1
    finally:
        database.close()


@server
def test_a_server_that_cannot_be_reached_is_one_message(running: Running) -> None:
    done = run("clean", running.url(port=1))
    assert (done.status, "cannot be reached" in done.err) == (2, True)


@on_a_server
@pytest.mark.parametrize("given", ["", "test_clean"])
def test_what_a_killed_run_left_on_mariadb_is_removed(place: Place, folder: Path, given: str) -> None:
    if given:
        ask(place, f"CREATE DATABASE {given}")
    ask(place, "CREATE DATABASE IF NOT EXISTS isoscope_mine")
    kill_a_run(url_of(place, given), folder)
    alive = databases.connect(url_of(place, given))
    try:
        alive.open("list")
        kind = "table" if given else "database"

        def removed() -> bool:
            # The server notices a moment later that a client is gone.
            done = run("clean", url_of(place, given))
            assert done.out.count(f"in use, kept: {kind} isoscope_") >= 1
            return f"removed: {kind} isoscope_" in done.out

        wait_until(removed)
        alive.insert([(1, 0)])
    finally:
        alive.close()
    wait_until(lambda: run("clean", url_of(place, given)).out == "nothing was left behind\n")
    assert ask(place, "SHOW DATABASES LIKE 'isoscope_mine'")
    ask(place, "DROP DATABASE isoscope_mine")


def sqlite_table(path: Path, columns: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE isoscope ({columns})")
        database.execute("CREATE TABLE mine (x)")


def duckdb_table(path: Path, columns: str) -> None:
    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE TABLE isoscope ({columns})")
        database.execute("CREATE TABLE mine (x BIGINT)")


@pytest.mark.parametrize(("name", "make"), [("sqlite", sqlite_table), ("duckdb", duckdb_table)])
def test_the_table_of_a_killed_run_in_a_file_is_dropped(
    folder: Path, name: str, make: Callable[[Path, str], None]
) -> None:
    path = folder / "x.db"
    make(path, "key BIGINT PRIMARY KEY, value BIGINT NOT NULL")
    assert run("run", f"{name}:{path}", "--transactions", 10).status == 2
    assert run("clean", f"{name}:{path}").out == "removed: table isoscope\n"
    assert run("clean", f"{name}:{path}").out == "nothing was left behind\n"
    assert run("run", f"{name}:{path}", "--transactions", 10).status == 0


@pytest.mark.parametrize(("name", "make"), [("sqlite", sqlite_table), ("duckdb", duckdb_table)])
def test_a_table_of_the_user_with_the_same_name_stays(
    folder: Path, name: str, make: Callable[[Path, str], None]
) -> None:
    path = folder / "x.db"
    make(path, "key BIGINT, other BIGINT")
    assert run("clean", f"{name}:{path}").out == "nothing was left behind\n"


def test_a_killed_run_on_sqlite_leaves_tables_that_can_be_removed(folder: Path) -> None:
    path = folder / "x.db"
    sqlite3.connect(path).close()
    path.touch()
    kill_a_run(f"sqlite:{path}", folder)
    done = run("clean", f"sqlite:{path}")
    assert done.out == "removed: table isoscope\nremoved: table isoscope_log\n"


@pytest.mark.parametrize("target", ["postgresql", "sqlite", "nonsense", "simulated:x", "duckdb:", "mysql"])
def test_a_target_without_leftovers_is_a_mistake(target: str) -> None:
    assert run("clean", target).status == 2


@pytest.mark.parametrize("name", ["sqlite", "duckdb"])
def test_a_missing_file_is_not_made(folder: Path, name: str) -> None:
    with pytest.raises(DatabaseError, match="there is no such file"):
        databases.connect(f"{name}:{folder / 'missing.db'}").clean()
    assert not [*folder.iterdir()]


@pytest.mark.parametrize("name", ["postgresql", "mariadb", "sqlite", "duckdb", "simulated"])
def test_a_database_without_a_url_has_nothing_to_clean(name: str) -> None:
    with pytest.raises(UsageError):
        databases.connect(name).clean()
