"""OceanBase seekdb: OceanBase for one machine, from a wheel, in a process of its own.

The order of versions is that of commit numbers: `ORA_ROWSCN` of a row is the number with which its
transaction committed. `REPEATABLE READ` and `SERIALIZABLE` are both snapshot isolation.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases.database import Aborted, ConnectionLost, Isolation
from isoscope.databases.process import Server
from isoscope.databases.sql import LOG_SETTING, SQLDatabase
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.database import Content

__all__ = ["DATABASE", "SeekDB"]

#: Errors of the server that end a transaction.
_REFUSED = {
    1062: "duplicate key",
    1205: "lock wait timeout",
    1213: "deadlock",
    6002: "transaction rolled back",
    6235: "cannot serialize access",
}
#: Errors after which the effect of a statement is not known.
_LOST = {
    0: "connection is closed",
    2006: "server has gone away",
    2013: "lost connection to the server",
    4012: "statement timeout",
}
#: Flag of the protocol: an UPDATE counts the rows that it finds, not those that it changes.
_FOUND_ROWS = 2


class SeekDB(SQLDatabase):
    """A new seekdb in a temporary folder."""

    NAME: ClassVar[str] = "seekdb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "read-committed": Isolation(
                meaning="a statement shows what was committed before it began; OceanBase's default",
                profile="seekdb/read-committed",
            ),
            "repeatable-read": Isolation(
                meaning="reads show one snapshot; the first to update a row wins",
                profile="seekdb/repeatable-read",
            ),
            "serializable": Isolation(
                meaning="the same: OceanBase's manual says that it is not strictly serializable",
                profile="seekdb/serializable",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "lock_timeout": "milliseconds to wait for the lock of a row (default 200)",
            **LOG_SETTING,
        }
    )
    PLACEHOLDER: ClassVar[str] = "%s"
    APPEND: ClassVar[str] = "UPDATE {table} SET value = CONCAT(value, {p}) WHERE id = {p}"
    CREATE_LOG: ClassVar[str] = (
        "CREATE TABLE {log} (place BIGINT AUTO_INCREMENT PRIMARY KEY, "
        "txn BIGINT NOT NULL, id BIGINT NOT NULL, value BIGINT)"
    )
    READ_LOG: ClassVar[str] = "SELECT txn, id, value FROM {log} ORDER BY ORA_ROWSCN, place"
    COUNTS_FOUND: ClassVar[bool] = True

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if url is not None:
            raise UsageError("seekdb runs for one run alone; it has no URL\n\nhint: isoscope run seekdb")
        super().__init__(isolation, settings=settings)
        self._timeout = settings.get("lock_timeout", "200")
        if not self._timeout.isdecimal():
            raise UsageError(f"`lock_timeout` is a number of milliseconds, not `{self._timeout}`")
        self._server: Server | None = None
        self._instance: Any = None

    def open(self, content: Content) -> str:
        """Starts seekdb in a temporary folder."""
        seekdb = _library("pylibseekdb")
        _library("pymysql")
        # Its process is started by its library; the folder, and the guard that removes it, are ours.
        self._server = Server("seekdb")
        try:
            self._instance = seekdb.open(str(self._server.folder / "data"))
        except RuntimeError as error:
            raise DatabaseError(f"seekdb cannot be started: {error}") from None
        return super().open(content)

    def connect(self) -> Any:
        """A connection through the socket of the process."""
        where = self._instance.connection_options()
        connection = _library("pymysql").connect(
            **where,
            database="test",
            client_flag=_FOUND_ROWS,
            autocommit=True,
            init_command=f"SET SESSION ob_trx_lock_timeout = {int(self._timeout) * 1000}",
        )
        with connection.cursor() as cursor:
            cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {self.isolation.replace('-', ' ')}")
        return connection

    def begin(self, cursor: Any) -> None:
        """Starts a transaction; its first statement takes the snapshot."""
        cursor.execute("START TRANSACTION")

    def failure(self, error: Exception) -> Exception:
        """What an error of the server means."""
        code = error.args[0] if error.args else None
        if code in _REFUSED:
            return Aborted(_REFUSED[code])
        if code in _LOST:
            return ConnectionLost(_LOST[code])
        return DatabaseError(f"seekdb: {error.args[-1] if error.args else error} (error {code})")

    def version(self, cursor: Any) -> str:
        """As `OceanBase seekdb 1.4.0.0`."""
        cursor.execute("SELECT VERSION()")
        return f"OceanBase seekdb {cursor.fetchall()[0][0].rpartition('-v')[2]}"

    def close(self) -> None:
        """Ends the process and removes its folder."""
        if self._admin is not None:
            self._admin.close()
            self._admin = None
        instance, self._instance = self._instance, None
        if instance is not None:
            with suppress(RuntimeError):
                instance.close()
        server, self._server = self._server, None
        if server is not None:
            server.stop()


DATABASE = SeekDB


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise DatabaseError(
            f"seekdb needs the library {name}\n\nhint: pip install 'isoscope[seekdb]'"
        ) from None
