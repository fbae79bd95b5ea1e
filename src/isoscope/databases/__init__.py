"""Databases that a workload can run on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from isoscope.databases.database import refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.database import Database

__all__ = ["DATABASES", "connect", "driver"]

#: Modules of drivers by name; imported when one is asked for, so that only its users need its library.
DATABASES: Mapping[str, str] = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "mariadb": "mariadb",
    "simulated": "sessions",
}
#: Other names, as they stand in URLs.
_ALIASES = {"postgres": "postgresql", "mysql": "mariadb"}


def driver(name: str) -> type[Database]:
    """The class of the driver called `name`; raises `UsageError` if there is none."""
    name = _ALIASES.get(name, name)
    refuse_unknown("database", name, DATABASES)
    found: type[Database] = import_module(f"isoscope.databases.{DATABASES[name]}").DATABASE
    return found


def connect(
    target: str, *, isolation: str | None = None, settings: Mapping[str, str] | None = None
) -> Database:
    """The database that `target` names or, as a URL, locates; nothing is touched before it is opened.

    Raises `UsageError` if there is no such database, isolation or setting.
    """
    name, colon, _ = target.partition(":")
    found = driver(name)
    isolation = next(iter(found.ISOLATIONS)) if isolation is None else isolation
    refuse_unknown(f"isolation of {found.NAME}", isolation, found.ISOLATIONS)
    for setting in settings or {}:
        refuse_unknown(f"setting of {found.NAME}", setting, found.SETTINGS)
    return found(isolation, url=target if colon else None, settings=settings or {})
