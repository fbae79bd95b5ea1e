"""SQLite, from Python's standard library: a temporary file, or a given one.

Serializable means one writer at a time, with every journal. Read uncommitted uses a cache that all sessions
share: there a reader takes no lock, and sees what others have not committed.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from isoscope.databases.database import (
    Aborted,
    Database,
    Isolation,
    Leftover,
    leftovers_at_url,
    refuse_unknown,
)
from isoscope.databases.sqlite.session import IN_USE, Session, sentence
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content

__all__ = ["DATABASE", "SQLite"]

_CHOICES = MappingProxyType(
    {
        "journal_mode": ("delete", "wal"),
        "begin": ("deferred", "immediate"),
        "synchronous": ("off", "normal", "full"),
        "log": ("on", "off"),
    }
)
_BUSY_TIMEOUT = 5000
#: Without latency, a thread keeps the interpreter for dozens of transactions, and almost none are concurrent.
_LATENCY = 100
#: Seconds for which the connection of the database itself waits for locks.
_PATIENCE = 10.0
#: Tables of a run: by their names and columns, since a table of the user may be called the same.
_LEFTOVERS = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND (name, (
        SELECT group_concat(name) FROM pragma_table_info(sqlite_master.name)
    )) IN (VALUES ('isoscope', 'key,value'), ('isoscope_log', 'position,key,value')) ORDER BY name
"""


class SQLite(Database):
    """SQLite in this process, one connection for each session."""

    NAME: ClassVar[str] = "sqlite"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "serializable": Isolation(
                meaning="one writer at a time; a transaction must not write after reading an old version",
                profile="sqlite/serializable",
            ),
            "read-uncommitted": Isolation(
                meaning="a shared cache, where reads see what others have not committed",
                profile="sqlite/read-uncommitted",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "journal_mode": "`delete` (a rollback journal) or `wal`; unless told, what the file has",
            "busy_timeout": f"milliseconds to wait for a lock; {_BUSY_TIMEOUT} unless told",
            "latency": f"microseconds before each statement, as on a network; {_LATENCY} unless told",
            "begin": "`deferred` (locks when they are needed) or `immediate`; `deferred` unless told",
            "synchronous": "`off`, `normal` or `full`: how often it waits for the disk; `off` unless told",
            "log": "`on` (triggers write down the order of versions of registers) or `off`; `on` unless told",
        }
    )

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        for name, choices in _CHOICES.items():
            if name in settings:
                refuse_unknown(f"{name} of sqlite", settings[name], choices)
        self.isolation = isolation
        self._settings = settings
        self._timeout = _number(settings, "busy_timeout", "milliseconds", _BUSY_TIMEOUT) / 1e3
        self._latency = _number(settings, "latency", "microseconds", _LATENCY) / 1e6
        self._is_shared = isolation == "read-uncommitted"
        self._given = None if url is None else _path(url)
        self._folder: Path | None = None
        self._existed = False
        self._old_journal: str | None = None
        self._has_table = False
        self._own: Session | None = None
        self._lock = Lock()
        self._sessions: list[Session] = []
        self._content: Content = "register"

    def open(self, content: Content) -> str:
        """Opens the file, or a new one, and makes the table."""
        self._content = content
        if self._given is None:
            self._folder = Path(mkdtemp(prefix="isoscope-"))
        self._existed, self._has_table = self._path.exists(), False
        self._own = self._connect(_PATIENCE)
        with self._refusing_conflicts():
            self._make_table(self._own)
        return f"SQLite {sqlite3.sqlite_version}"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values."""
        initial = [(key, "" if self._content == "list" else value) for key, value in rows]
        assert self._own is not None, "opened first"
        with self._lock, self._refusing_conflicts():
            self._own.insert_all(initial)

    def session(self) -> Session:
        """A new connection."""
        session = self._connect(self._timeout)
        session.beginning = f"BEGIN {self._settings.get('begin', 'deferred')}"
        session.latency = self._latency
        self._sessions.append(session)
        if self._has_log:
            with self._refusing_conflicts():
                session.log()
        return session

    def version_order(self) -> list[tuple[int, int]] | None:
        """The order that triggers recorded, which is the true one: only one transaction writes at a time."""
        if self._own is None or not self._has_log:
            return None
        return self._own.execute("SELECT key, value FROM isoscope_log ORDER BY position")

    def close(self) -> None:
        """Drops the table, and the file if it is new."""
        for session in self._sessions:
            session.close()
        if self._own is not None:
            with suppress(Aborted, DatabaseError):
                self._restore(self._own)
            self._own.close()
            self._own = None
            if not self._existed:
                for suffix in ("", "-journal", "-wal", "-shm"):
                    with suppress(OSError):
                        self._path.with_name(self._path.name + suffix).unlink()
        if self._folder is not None:
            rmtree(self._folder, ignore_errors=True)

    def clean(self) -> list[Leftover]:
        """Drops the tables of a killed run in the file."""
        leftovers_at_url(self.NAME, None if self._given is None else str(self._given))
        if not self._path.exists():
            raise DatabaseError(f"{self._path}: there is no such file")
        own = self._connect(self._timeout)
        try:
            with self._refusing_conflicts():
                names = [name for (name,) in own.execute(_LEFTOVERS)]
                for name in names:
                    own.execute(f"DROP TABLE {name}")
        finally:
            own.close()
        return [Leftover(f"table {name}") for name in names]

    @property
    def _path(self) -> Path:
        if self._given is not None:
            return self._given
        assert self._folder is not None, "opened first"
        return self._folder / "isoscope.db"

    @property
    def _has_log(self) -> bool:
        return self._content == "register" and self._settings.get("log", "on") == "on"

    def _connect(self, timeout: float) -> Session:
        """A connection that waits `timeout` seconds for locks."""
        connection = None
        try:
            connection = sqlite3.connect(
                self._path.absolute().as_uri() + ("?cache=shared" if self._is_shared else ""),
                uri=True,
                timeout=timeout,
                isolation_level=None,
                # One thread makes a session and another one uses it.
                check_same_thread=False,
            )
            connection.execute(f"PRAGMA synchronous = {self._settings.get('synchronous', 'off')}")
            connection.execute(f"PRAGMA read_uncommitted = {self._is_shared}")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise DatabaseError(sentence(error, self._path)) from None
        return Session(connection, self._path, timeout)

    @contextmanager
    def _refusing_conflicts(self) -> Iterator[None]:
        """Turns `Aborted` into an error where there is no transaction to abort."""
        try:
            yield
        except Aborted as error:
            raise DatabaseError(f"{self._path}: {error}\n\nhint: {IN_USE}") from None

    def _make_table(self, own: Session) -> None:
        if own.execute("SELECT 1 FROM sqlite_master WHERE name IN ('isoscope', 'isoscope_log')"):
            raise DatabaseError(
                f"{self._path} already holds a table `isoscope`, which this run did not make\n\n"
                "hint: `isoscope clean` drops it if a killed run left it; or give another file"
            )
        [[self._old_journal]] = own.execute("PRAGMA journal_mode")
        journal = self._settings.get("journal_mode", self._old_journal)
        if own.execute(f"PRAGMA journal_mode = {journal}") != [(journal,)]:
            raise DatabaseError(f"{self._path} cannot have journal_mode={journal}")
        kind = "TEXT" if self._content == "list" else "INTEGER"
        own.execute(f"CREATE TABLE isoscope (key INTEGER PRIMARY KEY, value {kind} NOT NULL)")
        self._has_table = True
        if self._has_log:
            own.execute(
                "CREATE TABLE isoscope_log (position INTEGER PRIMARY KEY, key INTEGER, value INTEGER)"
            )

    def _restore(self, own: Session) -> None:
        """Restores a file that existed before, except for its size."""
        if self._has_table and self._existed:
            own.execute("DROP TABLE isoscope")
            own.execute("DROP TABLE IF EXISTS isoscope_log")
        if self._old_journal is not None and self._existed:
            own.execute(f"PRAGMA journal_mode = {self._old_journal}")


DATABASE = SQLite


def _path(url: str) -> Path:
    """The file of `sqlite:PATH` or `sqlite:///PATH`."""
    path = url.partition(":")[2]
    if path.startswith("//"):
        if not path.startswith("///"):
            raise UsageError(f"`{url}` names a host, but SQLite is a file\n\nhint: `sqlite:PATH`")
        path = path.removeprefix("///")
    if path in {"", ":memory:"}:
        raise UsageError(
            f"`{url}` names no file that sessions could share\n\nhint: `sqlite` alone takes a file of its own"
        )
    return Path(path)


def _number(settings: Mapping[str, str], name: str, unit: str, usual: int) -> int:
    text = settings.get(name, str(usual))
    if not text.isdecimal():
        raise UsageError(f"{name} of sqlite is `{text}`, but must be {unit}, such as {usual}")
    return int(text)
