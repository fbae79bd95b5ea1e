"""SQLite, from Python's standard library: a file of its own, or one that is given.

Serializable means one writer at a time, whatever the journal. Read uncommitted takes a cache that all
sessions share: there a reader asks for no lock, and sees what others have not committed.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from time import monotonic, sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases.database import Aborted, Database, Isolation, refuse_unknown
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content, Found

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
#: Without any, a thread keeps the interpreter for dozens of transactions, and next to nothing is concurrent.
_LATENCY = 100
#: Seconds for which the connection of the database itself waits for locks.
_PATIENCE = 10.0
#: Seconds between two tries at a lock of the shared cache: SQLite itself does not wait for those.
_PAUSE = 0.0005
#: What ends a transaction, but not the run: somebody else's lock, snapshot, rollback or row.
_CONFLICTS = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_ABORT, sqlite3.SQLITE_CONSTRAINT}
)
_HINTS = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: "make room on the disk",
        sqlite3.SQLITE_READONLY: "the file and its folder must be writable",
        sqlite3.SQLITE_CANTOPEN: "the folder must be there and writable; "
        "an absolute path is `sqlite:/PATH`, or `sqlite:////PATH` as a URL",
        sqlite3.SQLITE_NOTADB: "the file is something else, or encrypted",
        sqlite3.SQLITE_BUSY: "another program is using the file",
    }
)
_TRIGGER = """
CREATE TEMP TRIGGER isoscope_{event} AFTER {event} ON main.isoscope BEGIN
  INSERT INTO isoscope_log (key, value) VALUES (new.key, new.value);
END
"""


class SQLite(Database):
    """SQLite in this process, one connection a session."""

    NAME: ClassVar[str] = "sqlite"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "serializable": Isolation(
                meaning="one writer at a time; who read must not write what is no longer the newest",
                promises=(Level.STRICT_SERIALIZABLE,),
            ),
            "read-uncommitted": Isolation(
                meaning="a shared cache, where reads see what others have not committed",
                promises=(Level.PL_1,),
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
        self._was_there = False
        self._journal_was: str | None = None
        self._has_table = False
        self._own: _Session | None = None
        self._lock = Lock()
        self._sessions: list[_Session] = []
        self._content: Content = "register"

    def open(self, content: Content) -> str:
        """Opens the file, or a new one, and makes the table."""
        self._content = content
        if self._given is None:
            self._folder = Path(mkdtemp(prefix="isoscope-"))
        self._was_there, self._has_table = self._path.exists(), False
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

    def session(self) -> _Session:
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
        """What the triggers wrote down: who writes holds the one lock, so that this is the true order."""
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
            if not self._was_there:
                for suffix in ("", "-journal", "-wal", "-shm"):
                    with suppress(OSError):
                        self._path.with_name(self._path.name + suffix).unlink()
        if self._folder is not None:
            rmtree(self._folder, ignore_errors=True)

    @property
    def _path(self) -> Path:
        if self._given is not None:
            return self._given
        assert self._folder is not None, "opened first"
        return self._folder / "isoscope.db"

    @property
    def _has_log(self) -> bool:
        return self._content == "register" and self._settings.get("log", "on") == "on"

    def _connect(self, timeout: float) -> _Session:
        """A connection that waits so many seconds for locks."""
        connection = None
        try:
            connection = sqlite3.connect(
                self._path.absolute().as_uri() + ("?cache=shared" if self._is_shared else ""),
                uri=True,
                timeout=timeout,
                isolation_level=None,
                # A session is made by one thread and used by another.
                check_same_thread=False,
            )
            connection.execute(f"PRAGMA synchronous = {self._settings.get('synchronous', 'off')}")
            connection.execute(f"PRAGMA read_uncommitted = {self._is_shared}")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise DatabaseError(_sentence(error, self._path)) from None
        return _Session(connection, self._path, timeout)

    @contextmanager
    def _refusing_conflicts(self) -> Iterator[None]:
        """Where there is no transaction that could be aborted."""
        try:
            yield
        except Aborted as error:
            hint = _HINTS[sqlite3.SQLITE_BUSY]
            raise DatabaseError(f"{self._path}: {error}\n\nhint: {hint}") from None

    def _make_table(self, own: _Session) -> None:
        if own.execute("SELECT 1 FROM sqlite_master WHERE name IN ('isoscope', 'isoscope_log')"):
            raise DatabaseError(
                f"{self._path} already holds a table `isoscope`, and nobody knows whose it is\n\n"
                "hint: drop it if it is a leftover, or give another file"
            )
        [[self._journal_was]] = own.execute("PRAGMA journal_mode")
        journal = self._settings.get("journal_mode", self._journal_was)
        if own.execute(f"PRAGMA journal_mode = {journal}") != [(journal,)]:
            raise DatabaseError(f"{self._path} cannot have journal_mode={journal}")
        kind = "TEXT" if self._content == "list" else "INTEGER"
        own.execute(f"CREATE TABLE isoscope (key INTEGER PRIMARY KEY, value {kind} NOT NULL)")
        self._has_table = True
        if self._has_log:
            own.execute(
                "CREATE TABLE isoscope_log (position INTEGER PRIMARY KEY, key INTEGER, value INTEGER)"
            )

    def _restore(self, own: _Session) -> None:
        """A file that was there is as it was before, but for its size."""
        if self._has_table and self._was_there:
            own.execute("DROP TABLE isoscope")
            own.execute("DROP TABLE IF EXISTS isoscope_log")
        if self._journal_was is not None and self._was_there:
            own.execute(f"PRAGMA journal_mode = {self._journal_was}")


DATABASE = SQLite


class _Session:
    """One connection."""

    __slots__ = ("_connection", "_path", "_timeout", "beginning", "latency")

    def __init__(self, connection: sqlite3.Connection, path: Path, timeout: float) -> None:
        self._connection = connection
        self._path = path
        self._timeout = timeout
        self.beginning = "BEGIN"
        self.latency = 0.0

    def begin(self) -> None:
        self.rollback()
        self.execute(self.beginning)

    def read(self, key: int) -> Found:
        rows = self.execute("SELECT value FROM isoscope WHERE key = ?", (key,))
        return _found(rows[0][0]) if rows else None

    def write(self, key: int, value: int) -> None:
        self.execute("UPDATE isoscope SET value = ? WHERE key = ?", (value, key))

    def append(self, key: int, value: int) -> None:
        self.execute(
            "UPDATE isoscope SET value = iif(value = '', '', value || ',') || ? WHERE key = ?", (value, key)
        )

    def insert(self, key: int, value: int) -> None:
        self.execute("INSERT INTO isoscope VALUES (?, ?)", (key, value))

    def delete(self, key: int) -> None:
        self.execute("DELETE FROM isoscope WHERE key = ?", (key,))

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        rows: list[tuple[int, int]] = self.execute(
            "SELECT key, value FROM isoscope WHERE key BETWEEN ? AND ? ORDER BY key", (low, high)
        )
        return rows

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        self.rollback()
        with suppress(sqlite3.Error):
            self._connection.close()

    def log(self) -> None:
        """Has every change written down, as long as the connection lives: what is done by others is not."""
        for event in ("INSERT", "UPDATE"):
            self.execute(_TRIGGER.format(event=event))

    def insert_all(self, rows: list[tuple[int, int | str]]) -> None:
        """Commits these rows."""
        self.execute("BEGIN IMMEDIATE")
        for row in rows:
            self.execute("INSERT INTO isoscope VALUES (?, ?)", row)
        self.execute("COMMIT")

    def execute(self, statement: str, parameters: tuple[int | str, ...] = ()) -> list[Any]:
        """All rows of a statement. What fails leaves no transaction: also a COMMIT that met a lock."""
        if self.latency:
            sleep(self.latency)
        end = monotonic() + self._timeout
        while True:
            try:
                return self._connection.execute(statement, parameters).fetchall()
            except sqlite3.Error as error:
                if _code(error) == sqlite3.SQLITE_LOCKED_SHAREDCACHE and monotonic() < end:
                    sleep(_PAUSE)
                    continue
                self.rollback()
                raise _failure(error, self._path) from None


def _found(value: int | str) -> Found:
    """A register, or a list as text."""
    if isinstance(value, int):
        return value
    return tuple(map(int, value.split(","))) if value else ()


def _failure(error: sqlite3.Error, path: Path) -> Aborted | DatabaseError:
    """What an error of SQLite means to a run."""
    if _code(error) & 0xFF in _CONFLICTS:
        return Aborted(f"{_said(error)} ({error.sqlite_errorname})")
    return DatabaseError(_sentence(error, path))


def _sentence(error: sqlite3.Error, path: Path) -> str:
    hint = _HINTS.get(_code(error) & 0xFF)
    return f"{path}: {_said(error)}" + (f"\n\nhint: {hint}" if hint else "")


def _said(error: sqlite3.Error) -> str:
    """What went wrong, without the name of what it happened to."""
    return str(error).partition(":")[0]


def _code(error: sqlite3.Error) -> int:
    """The extended code, which a connection that is closed does not give."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code


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
