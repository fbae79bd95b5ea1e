"""Turso, the rewrite of SQLite in Rust, in this process and in a temporary folder.

`BEGIN CONCURRENT` is multiversion concurrency control: snapshot isolation, where the second writer of a row
fails at once. Without it there is one writer at a time, as in SQLite.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases.database import Aborted, Isolation
from isoscope.databases.process import Server
from isoscope.databases.sql import LOG_SETTING, SQLDatabase
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.database import Content

__all__ = ["DATABASE", "Turso"]

#: The statement that begins a transaction, and the journal that it needs.
_BEGIN = {"snapshot-isolation": ("BEGIN CONCURRENT", "mvcc"), "serializable": ("BEGIN", "wal")}
#: Parts of messages of errors that end a transaction: there are no codes.
_REFUSED = {
    "write-write conflict": "write-write conflict",
    "unique constraint": "duplicate key",
    "snapshot is stale": "snapshot is stale",
    "locked": "database is locked",
    "busy": "database is busy",
    "conflict": "conflict",
}


class Turso(SQLDatabase):
    """Turso in a new file, one connection for each session."""

    NAME: ClassVar[str] = "turso"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "snapshot-isolation": Isolation(
                meaning="BEGIN CONCURRENT: reads show one snapshot; the first to write a row wins",
                profile="turso/snapshot-isolation",
            ),
            "serializable": Isolation(
                meaning="BEGIN: one writer at a time; a transaction must not write after an old read",
                profile="turso/serializable",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "busy_timeout": "milliseconds to wait for a lock (default 1000)",
            **LOG_SETTING,
        }
    )
    CREATE: ClassVar[Mapping[str, str]] = {
        "register": "CREATE TABLE {table} (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)",
        "list": "CREATE TABLE {table} (id INTEGER PRIMARY KEY, value TEXT NOT NULL)",
    }
    CREATE_LOG: ClassVar[str] = (
        "CREATE TABLE {log} (place INTEGER PRIMARY KEY AUTOINCREMENT, txn INTEGER, id INTEGER, value INTEGER)"
    )
    COUNTS_FOUND: ClassVar[bool] = True

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if url is not None:
            raise UsageError("Turso runs for one run alone; it has no URL\n\nhint: isoscope run turso")
        super().__init__(isolation, settings=settings)
        self._timeout = settings.get("busy_timeout", "1000")
        if not self._timeout.isdecimal():
            raise UsageError(f"`busy_timeout` is a number of milliseconds, not `{self._timeout}`")
        self._begin, self._journal = _BEGIN[isolation]
        self._files: Server | None = None

    def open(self, content: Content) -> str:
        """Makes a new file."""
        _library()
        # No process is started; its guard removes the folder, however this process ends.
        self._files = Server("turso")
        return super().open(content)

    def connect(self) -> Any:
        """A new connection."""
        assert self._files is not None, "opened first"
        connection = _library().connect(str(self._files.folder / "isoscope.db"), isolation_level=None)
        cursor = connection.cursor()
        for pragma in (f"journal_mode='{self._journal}'", "synchronous=off", f"busy_timeout={self._timeout}"):
            cursor.execute(f"PRAGMA {pragma}")
            cursor.fetchall()
        return connection

    def begin(self, cursor: Any) -> None:
        """Starts a transaction."""
        cursor.execute(self._begin)

    def failure(self, error: Exception) -> Exception:
        """What an error of Turso means."""
        text = str(error).lower()
        for part, reason in _REFUSED.items():
            if part in text:
                return Aborted(reason)
        return DatabaseError(f"Turso: {error}")

    def version(self, cursor: Any) -> str:  # noqa: ARG002 - the library knows it
        """As `Turso 0.8.3`."""
        return f"Turso {version('pyturso')}"

    def close(self) -> None:
        """Removes the file."""
        super().close()
        if self._files is not None:
            self._files.stop()
            self._files = None


DATABASE = Turso


def _library() -> Any:
    try:
        return import_module("turso")
    except ImportError:
        raise DatabaseError(
            "Turso needs the library pyturso\n\nhint: pip install 'isoscope[turso]'"
        ) from None
