"""Where MariaDB is: servers at URLs, what is left behind there, and what cannot be used at all."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from isoscope.databases import connect
from isoscope.databases.mariadb import MariaDB, connection
from isoscope.errors import DatabaseError, UsageError
from tests.databases.conformance import SOON
from tests.databases.mariadb_servers import ask, on_a_server, opened, started, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made, open to all users as it is elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def place() -> Iterator[connection.Place]:
    with started() as place:
        yield place


@on_a_server
def test_a_database_at_a_url_is_left_as_it_was(place: connection.Place) -> None:
    ask(place, "CREATE DATABASE `odd``name`")
    before = ask(place, "SHOW DATABASES")
    for name in ("", "odd%60name"):
        with opened(connect(url_of(place, name)), "list") as database:
            database.insert([(1, 0)])
            session = database.session()
            session.begin()
            session.append(1, 5)
            assert session.read(1) == (5,)
    assert ask(place, "SHOW DATABASES") == before
    assert ask(place, "SHOW TABLES IN `odd``name`") == ()


@on_a_server
def test_a_session_that_hangs_does_not_keep_the_table(place: connection.Place) -> None:
    before, started = ask(place, "SHOW DATABASES"), monotonic()
    with opened(connect(url_of(place))) as database:
        database.insert([(1, 0)])
        session = database.session()
        session.begin()
        session.write(1, 5)
    assert ask(place, "SHOW DATABASES") == before
    assert monotonic() - started < SOON


@on_a_server
def test_a_user_without_a_connection_left_leaves_nothing(place: connection.Place) -> None:
    ask(place, "CREATE DATABASE crowded")
    ask(place, "GRANT ALL ON crowded.* TO few@'127.0.0.1' IDENTIFIED BY 'few' WITH MAX_USER_CONNECTIONS 3")
    database = connect(f"mariadb://few:few@{place}/crowded")
    try:
        database.open("list")
        sessions = [database.session() for _ in range(2)]
        with pytest.raises(DatabaseError, match="hint: fewer --sessions need fewer connections"):
            database.session()
        assert all(session.read(1) is None for session in sessions)
    finally:
        database.close()
    assert ask(place, "SHOW TABLES IN crowded") == ()


@on_a_server
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"password": "wrong"}, "refuses the connection: Access denied for user 'isoscope'@'127.0.0.1'"),
        ({"database": "missing"}, "Unknown database 'missing'"),
    ],
)
def test_a_place_that_refuses_us_says_why(place: connection.Place, change: dict[str, str], said: str) -> None:
    with pytest.raises(DatabaseError, match="hint: ") as caught, opened(connect(url_of(place, **change))):
        pass
    assert said in str(caught.value)
    assert (change.get("password") or place.password) not in str(caught.value)


@pytest.mark.parametrize("where", ["127.0.0.1:1", "nowhere.invalid", "a" * 70])
def test_a_place_without_a_server_is_named_without_the_password(where: str) -> None:
    with pytest.raises(DatabaseError) as caught, opened(connect(f"mariadb://me:secret@{where}/db")):
        pass
    assert where in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["mariadb:", "mariadb://", "mariadb://me:secret@/db", "mariadb://me:secret@host:port", "mysql://me:secret@h/a/b"],
)  # fmt: skip
def test_a_url_that_makes_no_sense_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(UsageError, match="hint: mariadb://USER") as caught:
        connect(url)
    assert "secret" not in str(caught.value)


def test_a_url_has_special_characters_of_names_and_passwords() -> None:
    place = connection.parse("mysql://a%40b:c%2Fd@host/e%20f")
    assert (place.user, place.password, place.database, str(place)) == ("a@b", "c/d", "e f", "host:3306")
    assert "c/d" not in repr(place)


@pytest.mark.parametrize(
    ("target", "settings", "said"),
    [
        ("mariadb", {"innodb_snapshot_isolation": "maybe"}, "innodb_snapshot_isolation=maybe makes no sense"),
        ("mariadb", {"sync_binlog": "1; DROP"}, "makes no sense"),
        ("mariadb://host", {"sync_binlog": "1"}, "sync_binlog can only be set when a server starts"),
        ("mariadb", {"sync_binlgo": "1"}, "did you mean `sync_binlog`?"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(target: str, settings: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match="hint: ") as caught:
        connect(target, settings=settings)
    assert said in str(caught.value)


def test_every_setting_says_what_it_means() -> None:
    for name in MariaDB.SETTINGS:
        with pytest.raises(UsageError, match=f"{name}=no sense makes no sense"):
            connect("mariadb", settings={name: "no sense"})


@on_a_server
def test_a_setting_that_the_server_does_not_know_is_named(place: connection.Place) -> None:
    database = connect(url_of(place), settings={"innodb_lock_wait_timeout": "1"})
    database._settings = {"innodb_lock_wait_timeout": "'soon'"}  # type: ignore[attr-defined]
    with (
        pytest.raises(DatabaseError, match="does not take the setting innodb_lock_wait_timeout"),
        opened(database),
    ):
        pass


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(DatabaseError, match=r"PyMySQL\n\nhint: pip install 'isoscope\[mariadb\]'"):
        connect("mariadb").open("register")


def test_a_missing_server_is_named_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setenv("ISOSCOPE_CACHE", str(temporary / "cache"))
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with (
        pytest.raises(DatabaseError, match=r"no mariadbd on this machine\nMariaDB 11\.4\.5 is fetched"),
        opened(connect("mariadb")),
    ):
        pass
    assert [*temporary.iterdir()] == []


def test_a_disk_that_is_too_small_is_said_before_a_server_is_started(
    monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: "mariadbd")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5 << 20))
    with pytest.raises(DatabaseError, match="hint: TMPDIR") as caught, opened(connect("mariadb")):
        pass
    assert "no space left for the files of MariaDB: 5 MiB" in str(caught.value)
    assert [*temporary.iterdir()] == []
