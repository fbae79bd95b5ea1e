"""Databases that a workload can run on: those of `DATABASES`, and drivers of other packages."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from isoscope import plugins
from isoscope.databases.database import refuse_unknown, without_password
from isoscope.databases.guarded import GuardedDatabase
from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.databases.database import Database

__all__ = ["ALIASES", "DATABASES", "connect", "driver"]

#: Modules of drivers by name; imported when one is asked for, so that only its users need its library.
DATABASES: Mapping[str, str] = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "mariadb": "mariadb",
    "h2": "h2",
    "hsqldb": "hsqldb",
    "seekdb": "seekdb",
    "redis": "redis",
    "turso": "turso",
    "firebird": "firebird",
    "tidb": "mariadb.tidb",
    "dgraph": "dgraph",
    "cockroachdb": "postgresql.cockroachdb",
    "yugabytedb": "postgresql.yugabytedb",
    "arangodb": "arangodb",
    "etcd": "etcd",
    "galera": "mariadb.galera",
    "cassandra": "cassandra",
    "simulated": "sessions",
}
#: Other names, as they stand in URLs.
ALIASES: Mapping[str, str] = {"postgres": "postgresql", "mysql": "mariadb"}


def driver(name: str) -> type[Database]:
    """The class of the driver called `name`, or at `module:Class`; raises `UsageError` if there is none."""
    name = ALIASES.get(name, name)
    found: type[Database]
    if name in DATABASES:
        found = import_module(f"isoscope.databases.{DATABASES[name]}").DATABASE
        return found
    if not plugins.is_path(name):
        refuse_unknown("database", name, [*DATABASES, *plugins.names("driver")])
    found = plugins.load("driver", name)
    GuardedDatabase.refuse_incomplete(name, found)
    return found


def connect(  # noqa: PLR0913 - all but the first are seldom needed
    target: str,
    *,
    isolation: str | None = None,
    settings: Mapping[str, str] | None = None,
    driver_path: str | None = None,
    urls: Sequence[str] = (),
    nodes: int | None = None,
) -> Database:
    """The database that `target` names or, as a URL, locates; nothing is touched before it is opened.

    `driver_path` is `module:Class` of a driver that is no part of Isoscope; then `target` may be empty.
    `urls` are further nodes of the database that `target` locates, `nodes` is how many are started.
    Raises `UsageError` if there is no such database, isolation or setting.
    """
    name, colon, _ = target.partition(":")
    if driver_path is not None and not plugins.is_path(driver_path):
        raise UsageError(f"`{driver_path}` names no driver: expected module:Class, as my_driver:MyDatabase")
    found = driver(driver_path or name)
    isolation = next(iter(found.ISOLATIONS)) if isolation is None else isolation
    refuse_unknown(f"isolation of {found.NAME}", isolation, found.ISOLATIONS)
    for setting in settings or {}:
        refuse_unknown(f"setting of {found.NAME}", setting, found.SETTINGS)
    url = target if colon else None
    if driver_path is None and ALIASES.get(name, name) in DATABASES:
        database = found(isolation, url=url, settings=settings or {})
    else:
        database = GuardedDatabase(found, isolation, url=url, settings=settings or {})
    if driver_path is None:
        _refuse_other_databases(name, urls)
    _use_nodes(database, url, urls, nodes)
    return database


def _refuse_other_databases(name: str, urls: Sequence[str]) -> None:
    for url in urls:
        other, colon, _ = url.partition(":")
        if not colon or ALIASES.get(other, other) != ALIASES.get(name, name):
            raise UsageError(
                f"expected the URL of another node of {name}, found `{without_password(url)}`\n\n"
                f"hint: a run is of one database: {name}://HOST1 {name}://HOST2"
            )


def _use_nodes(database: Database, url: str | None, urls: Sequence[str], nodes: int | None) -> None:
    if urls:
        if url is None:
            raise UsageError("several nodes are several URLs\n\nhint: --nodes starts nodes for this run")
        database.use_urls(urls)
    if nodes is not None:
        if url is not None:
            raise UsageError("--nodes starts nodes, and a URL locates one\n\nhint: give the URL of each node")
        database.use_nodes(nodes)
