"""Connections to a server: its address, and the meaning of its errors for a transaction."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from isoscope.databases.database import Aborted, ConnectionLost
from isoscope.errors import DatabaseError, UsageError

__all__ = ["PATIENCE", "URL", "Place", "connect", "errors", "failure", "library", "options", "parse"]

URL = "mariadb://USER:PASSWORD@HOST:PORT/DATABASE"
#: Seconds that a server has to accept a connection.
PATIENCE = 5
_PORT = 3306
#: Errors of the server that end a transaction.
_REFUSED = {
    1020: "record has changed since the snapshot",
    1062: "duplicate key",
    1205: "lock wait timeout",
    1213: "deadlock",
    1317: "query interrupted",
    1412: "table definition has changed",
    1969: "statement timeout",
    3024: "statement timeout",
    # Of TiDB.
    8002: "write conflict of a locking read",
    8005: "write conflict",
    8022: "commit failed, to be tried again",
    8028: "schema has changed",
    9007: "write conflict",
}
#: Errors of the server or the driver for a lost connection.
_LOST = {
    0: "connection is closed",
    # A node of Galera that has lost the others; its transaction goes on unless the connection ends.
    1047: "the node is not in the primary component",
    1053: "server shutdown in progress",
    1180: "error during the commit",
    1927: "connection was killed",
    2006: "server has gone away",
    2013: "lost connection to the server",
    2014: "lost connection to the server",
    3169: "connection was killed",
    4031: "connection was closed by the server",
}
_UNREACHABLE = 2003
#: Errors for too many connections, of the server or of the user.
_TOO_MANY = (1040, 1203, 1226)
_FULL = (1021, 1114)
#: Flag of the protocol: an UPDATE counts the rows that it finds, not those that it changes.
_FOUND_ROWS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The address of a server, user and password; without a database, a new one will be made."""

    host: str
    port: int
    user: str | None
    password: str = field(repr=False)
    database: str = ""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse(url: str) -> Place:
    """The place that a URL names; raises `UsageError`, which never shows the URL: it may hold a password."""
    parts = _split(url)
    return Place(
        host=parts.hostname or "",
        port=parts.port or _PORT,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password or ""),
        database=unquote(parts.path[1:]),
    )


def _split(url: str) -> SplitResult:
    # Python's message may quote a part of the URL.
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.port != 0 and parts.hostname and not parts.query and "/" not in parts.path[1:]:
            return parts
    raise UsageError(
        "the URL of the server makes no sense\n\n"
        f"hint: {URL}, where special characters of a password are written as %XX"
    )


def library(module: str) -> Any:
    """A module of the driver, imported when it is used."""
    try:
        return import_module(module)
    except ImportError as error:
        name = {"pymysql": "PyMySQL"}.get(module.partition(".")[0], "mysql-replication")
        raise DatabaseError(
            f"mariadb needs the driver {name}\n\nhint: pip install 'isoscope[mariadb]'"
        ) from error


def errors() -> type[Exception]:
    """The exceptions of the driver."""
    found: type[Exception] = library("pymysql").err.Error
    return found


def options(place: Place) -> dict[str, Any]:
    """The arguments of the driver for a place."""
    return {
        "host": place.host,
        "port": place.port,
        "user": place.user,
        "password": place.password,
        "connect_timeout": PATIENCE,
    }


def connect(place: Place, *, patience: float | None = None) -> Any:
    """A connection where every statement outside of a transaction is one; raises `DatabaseError`.

    It is taken for lost if a statement is not answered within so many seconds.
    """
    driver = library("pymysql")
    told = options(place) | {"read_timeout": patience, "client_flag": _FOUND_ROWS, "autocommit": True}
    try:
        return driver.connect(**told)
    except (driver.err.Error, RuntimeError, UnicodeError) as error:
        raise DatabaseError(_refusal(place, error)) from error


def _refusal(place: Place, error: Exception) -> str:
    """The error for a connection that failed."""
    code, text = _message(error)
    if code == _UNREACHABLE:
        cause = getattr(error, "original_exception", None)
        why = getattr(cause, "strerror", None) or cause or text
        return f"no server answers at {place}: {why}\n\nhint: without a URL, isoscope starts a server"
    hint = "fewer --sessions need fewer connections" if code in _TOO_MANY else URL
    return f"the server at {place} refuses the connection: {text}\n\nhint: {hint}"


def failure(error: Exception) -> Exception:
    """The meaning of an error of a statement for its transaction."""
    code, text = _message(error)
    if code in _REFUSED:
        return Aborted(_REFUSED[code])
    if code in _LOST:
        return ConnectionLost(_LOST[code])
    full = "there is no space left for the database: " if code in _FULL else ""
    return DatabaseError(f"{full}{text} (error {code})")


def _message(error: Exception) -> tuple[int, str]:
    match error.args:
        case (int(code), text):
            return code, str(text)
    return -1, str(error)
