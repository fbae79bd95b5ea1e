"""Connections to PostgreSQL; an error is one clear message that never shows the password."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from isoscope.databases.database import ConnectionLost
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psycopg import Connection

__all__ = ["connect", "driver", "driver_errors", "parse", "said"]

#: Seconds that a server may take to answer.
_PATIENCE = 10
_HINTS = {
    "password": "the password stands in the URL, postgresql://user:password@host/database, or in PGPASSWORD",
    'database "': "the name of the database is the end of the URL: postgresql://user@host/database",
    "refused": "is it running there, and does it listen on that port?",
    "No such file": "the URL names no host, and no server of this machine has its socket in the usual place",
    "too many": "fewer --sessions need fewer connections",
    "connection slots": "fewer --sessions need fewer connections",
    "permission denied for database": "the user needs the privilege CREATE: a schema is made, then dropped",
}


def driver() -> Any:
    """The module psycopg; raises `DatabaseError` if it is not installed."""
    try:
        return import_module("psycopg")
    except ImportError:
        raise DatabaseError(
            "PostgreSQL needs the driver psycopg\n\nhint: pip install 'isoscope[postgresql]'"
        ) from None


def parse(url: str) -> dict[str, Any]:
    """The parameters of a connection that a URL holds; raises `UsageError` if the URL is bad."""
    psycopg = driver()
    try:
        found: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        # The message of libpq would show a part of the URL, perhaps of the password.
        raise UsageError(
            "the URL of PostgreSQL is not understood\n\n"
            "hint: it looks like postgresql://user:password@host:port/database; @ is written %40 in a "
            "password, and / is %2F"
        ) from None
    return found


def connect(where: Mapping[str, Any], *, name: str, settings: Mapping[str, str]) -> Connection[Any]:
    """A connection that calls itself `name`; raises `DatabaseError` if the server refuses it."""
    psycopg = driver()
    options = [f"-c {setting}={_escaped(value)}" for setting, value in settings.items()]
    more = {
        "application_name": name,
        "autocommit": True,
        "connect_timeout": _PATIENCE,
        "options": " ".join([where.get("options", ""), *options]).strip(),
    }
    try:
        connection: Connection[Any] = psycopg.connect(**{**where, **more})
    except psycopg.Error as error:
        problem = _why(str(error))
        raise _problem(f"{_shown(where)} cannot be reached: {problem}", problem) from None
    return connection


@contextmanager
def driver_errors() -> Iterator[None]:
    """Turns exceptions of psycopg into those of a database."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        lost = isinstance(error, psycopg.OperationalError) and (error.sqlstate or "08")[:2] in {"08", "57"}
        if lost:
            raise ConnectionLost(said(error)) from None
        raise _problem(f"PostgreSQL says: {said(error)}", said(error)) from None


def said(error: Any) -> str:
    """The message of an error of psycopg, without details."""
    return error.diag.message_primary or str(error).partition("\n")[0]


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


def _why(text: str) -> str:
    """The reason among the lines that libpq writes about each address that it tried."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for mark in ("FATAL:", "failed:", "error:"):
        for line in lines:
            if mark in line:
                return line.rpartition(mark)[2].strip()
    return lines[0] if lines else "it does not say why"


def _shown(where: Mapping[str, Any]) -> str:
    """The URL without the password."""
    user = f"{where['user']}@" if "user" in where else ""
    port = f":{where['port']}" if "port" in where else ""
    return f"postgresql://{user}{where.get('host', '')}{port}/{where.get('dbname', '')}"


def _problem(text: str, reason: str) -> DatabaseError:
    hint = next((f"\n\nhint: {hint}" for mark, hint in _HINTS.items() if mark in reason), "")
    return DatabaseError(text + hint)
