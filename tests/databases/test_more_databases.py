"""Databases that are fetched, or come with a library: each conforms, and breaks what its name suggests."""

from __future__ import annotations

import tempfile
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isoscope.databases import DATABASES, driver, firebird, h2, hsqldb, redis
from isoscope.databases.catalogue import CATALOGUE, Trial
from isoscope.databases.dgraph.server import find_program as find_dgraph
from isoscope.databases.mariadb import server as mariadb_server
from isoscope.databases.mariadb import tidb_server
from isoscope.databases.postgresql import server as postgresql_server
from isoscope.databases.process import Server
from isoscope.errors import DatabaseError
from tests.databases.asked_in_child import ask_in_child
from tests.databases.conformance import IN_SUITE
from tests.databases.postgresql_servers import server as on_postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.databases.downloads import Download
    from tests.databases.postgresql_servers import Running


@pytest.fixture
def folder() -> Iterator[Path]:
    """For temporary files, also of another user: below /tmp itself, as folders of pytest are closed."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as found:
        Path(found).chmod(0o777)
        yield Path(found)


def needs(module: str, download: Download | None = None, *, fetched: bool = False) -> None:
    """Skips without a library or a download; `fetched`: it is too large to be fetched by a test."""
    if find_spec(module) is None:
        pytest.skip(f"no module {module}")
    if download is None:
        return
    if fetched and not download.place.is_dir():
        pytest.skip(f"{download.title} is not fetched, and is large")
    try:
        download.folder()
    except DatabaseError as error:
        pytest.skip(str(error).partition("\n")[0])


@pytest.mark.server
def test_h2_conforms(folder: Path) -> None:
    needs("jpype", h2.JAR)
    assert ask_in_child("h2", folder) == []


@pytest.mark.server
@pytest.mark.parametrize("model", ["locks", "mvcc"])
def test_hsqldb_conforms_with_each_concurrency_model(folder: Path, model: str) -> None:
    needs("jpype", hsqldb.JAR)
    isolations = ["read-committed", "serializable"]
    assert (
        ask_in_child("hsqldb", folder, isolations=isolations, settings={"transaction_control": model}) == []
    )


@pytest.mark.server
def test_seekdb_conforms(folder: Path) -> None:
    needs("pylibseekdb")
    assert ask_in_child("seekdb", folder, isolations=["serializable"]) == []


@pytest.mark.server
def test_redis_conforms(folder: Path) -> None:
    needs("redis", redis.WHEEL)
    assert ask_in_child("redis", folder) == []


@pytest.mark.server
def test_what_a_killed_run_left_in_redis_is_removed() -> None:
    needs("redis", redis.WHEEL)
    database = redis.Redis("watch", settings={})
    try:
        database.open("register")
        url = database._place
        killed, alive = redis.Redis("watch", url=url, settings={}), redis.Redis("watch", url=url, settings={})
        for one in (killed, alive):
            one.open("register")
            one.insert([(1, 1)])
        killed._admin.close()
        found = redis.Redis("watch", url=url, settings={}).clean()
        assert sorted((one.what, one.is_in_use) for one in found) == sorted(
            [(f"keys {killed._prefix}:*", False), (f"keys {alive._prefix}:*", True)]
        )
        with closing(alive.session()) as session:
            assert session.read(1) == 1
        alive.close()
        assert database._admin.dbsize() == 0
    finally:
        database.close()


@pytest.mark.server
def test_turso_conforms(folder: Path) -> None:
    needs("turso")
    assert ask_in_child("turso", folder) == []


@pytest.mark.server
def test_firebird_conforms(folder: Path) -> None:
    needs("firebird", firebird.FILES)
    assert ask_in_child("firebird", folder, isolations=["snapshot", "read-committed"]) == []


@pytest.mark.server
def test_postgresql_from_pypi_conforms(folder: Path) -> None:
    needs("psycopg", postgresql_server.WHEEL)
    settings = {"server": "fetched"}
    assert ask_in_child("postgresql", folder, isolations=["serializable"], settings=settings) == []


@pytest.mark.server
@pytest.mark.parametrize("which", ["mysql-5.6", "mariadb-11.4"])
def test_mariadb_and_mysql_from_registries_conform(folder: Path, which: str) -> None:
    files = mariadb_server.MYSQL if which == "mysql-5.6" else mariadb_server.MARIADB
    needs("pymysql", files, fetched=True)
    with started_mariadb(which) as url:
        assert ask_in_child("mariadb", folder, isolations=["repeatable-read"], url=url) == []


@contextmanager
def started_mariadb(which: str) -> Iterator[str]:
    """The URL of a server that is started once: that takes longer than all questions."""
    process = Server("mariadb", users=("mysql", "nobody"))
    try:
        place = mariadb_server.start(process, {}, programs=which)
        yield f"mariadb://{place.user}:{place.password}@{place.host}:{place.port}/"
    finally:
        process.stop()


@on_postgresql
@pytest.mark.parametrize("name", ["cockroachdb", "yugabytedb"])
def test_statements_of_compatible_databases_are_understood_by_postgresql(
    folder: Path, running: Running, name: str
) -> None:
    url = running.url().replace("postgresql:", f"{name}:")
    assert ask_in_child(name, folder, isolations=["serializable"], url=url) == []
    assert running.ask("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'isoscope%'") == []


@pytest.mark.server
def test_tidb_conforms(folder: Path) -> None:
    needs("pymysql")
    with started_tidb() as url:
        assert ask_in_child("tidb", folder, url=url) == []


@contextmanager
def started_tidb() -> Iterator[str]:
    """The URL of a server that is started once; skips if there is no program."""
    process = Server("tidb")
    try:
        place = tidb_server.start(process)
        yield f"tidb://{place.user}@{place.host}:{place.port}/"
    except DatabaseError as error:
        if "there is no tidb-server" not in str(error):
            raise
        pytest.skip(str(error).partition("\n")[0])
    finally:
        process.stop()


@pytest.mark.server
@pytest.mark.parametrize("nodes", [1, 3])
def test_dgraph_conforms(folder: Path, nodes: int) -> None:
    try:
        find_dgraph("")
    except DatabaseError as error:
        pytest.skip(str(error).partition("\n")[0])
    assert ask_in_child("dgraph", folder, nodes=nodes) == []


def test_every_database_is_in_the_catalogue() -> None:
    assert sorted(CATALOGUE) == sorted(DATABASES)


def test_the_catalogue_says_which_databases_the_suite_runs() -> None:
    here = {"h2", "hsqldb", "seekdb", "redis", "turso", "firebird", "galera"}
    claimed = {name for name, entry in CATALOGUE.items() if entry.tested is Trial.SUITE}
    assert claimed == {*IN_SUITE} | here


@pytest.mark.parametrize("name", ["cockroachdb", "yugabytedb", "arangodb"])
def test_a_database_that_is_not_started_asks_for_a_url(name: str) -> None:
    with pytest.raises(DatabaseError, match=f"is not started by isoscope\n\nhint: give its URL: {name}://"):
        driver(name)(next(iter(driver(name).ISOLATIONS)), settings={}).open("register")
