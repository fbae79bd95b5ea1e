"""H2 in this process: its five isolations, in memory.

`SERIALIZABLE` is snapshot isolation: the manual says that it does not ensure that concurrent transactions
that write are equivalent to serial ones.
"""

from __future__ import annotations

from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases import downloads, jdbc
from isoscope.databases.database import Aborted, Isolation
from isoscope.databases.sql import LOG_SETTING, SQLDatabase
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.database import Content

__all__ = ["DATABASE", "H2", "JAR"]

JAR = downloads.maven("H2 2.5.252", "com.h2database:h2:2.5.252")
#: Numbers of isolations in `java.sql.Connection`; that of SNAPSHOT is H2's own.
_NUMBERS = {
    "read-uncommitted": 1,
    "read-committed": 2,
    "repeatable-read": 4,
    "snapshot": 6,
    "serializable": 8,
}
#: Errors that end a transaction.
_REFUSED = {
    23505: "duplicate key",
    40001: "deadlock, or the row is newer than the snapshot",
    50200: "lock timeout",
    90131: "concurrent update",
}
_GENERAL = 50000


class H2(SQLDatabase):
    """H2 in memory, one connection for each session."""

    NAME: ClassVar[str] = "h2"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "read-committed": Isolation(
                meaning="every statement shows what is committed by then; H2's default",
                profile="h2/read-committed",
            ),
            "repeatable-read": Isolation(
                meaning="what was read once does not change; the first to update a row wins",
                profile="h2/repeatable-read",
            ),
            "snapshot": Isolation(
                meaning="reads show one snapshot; the first to update a row wins",
                profile="h2/snapshot",
            ),
            "serializable": Isolation(
                meaning="as snapshot: H2's manual says that it is not serializable where transactions write",
                profile="h2/serializable",
            ),
            "read-uncommitted": Isolation(
                meaning="every read shows the last write, committed or not",
                profile="h2/read-uncommitted",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "lock_timeout": "milliseconds to wait for the lock of a row (default 1000)",
            **LOG_SETTING,
        }
    )
    COUNTS_FOUND: ClassVar[bool] = True
    CREATE_LOG: ClassVar[str] = (
        "CREATE TABLE {log} (place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        "txn BIGINT NOT NULL, id BIGINT NOT NULL, value BIGINT)"
    )
    #: A table can be locked.
    DROP: ClassVar[str] = "SHUTDOWN IMMEDIATELY"

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if url is not None:
            raise UsageError("H2 runs in this process and in memory; it has no URL\n\nhint: isoscope run h2")
        super().__init__(isolation, settings=settings)
        timeout = settings.get("lock_timeout", "1000")
        if not timeout.isdecimal():
            raise UsageError(f"`lock_timeout` is a number of milliseconds, not `{timeout}`")
        self._place = f"jdbc:h2:mem:isoscope_{token_hex(4)};NON_KEYWORDS=VALUE;LOCK_TIMEOUT={timeout}"

    def open(self, content: Content) -> str:
        """Makes a database, which ends with its last connection."""
        jdbc.library()  # without it, nothing is fetched
        JAR.folder()
        return super().open(content)

    def connect(self) -> jdbc.Connection:
        """A new connection."""
        connection = jdbc.connect(JAR.folder(), "org.h2.Driver", self._place)
        connection.java.setTransactionIsolation(_NUMBERS[self.isolation])
        return connection

    def begin(self, cursor: Any) -> None:
        """A transaction begins with its first statement."""

    def failure(self, error: Exception) -> Exception:
        """What an error of H2 means."""
        _, code, text = jdbc.sql_error(error)
        if code == _GENERAL and "ROLLING_BACK" in text:
            # Another session found the deadlock, and H2 meets its own mark in this transaction.
            return Aborted(_REFUSED[40001])
        return Aborted(_REFUSED[code]) if code in _REFUSED else DatabaseError(f"H2: {text}")

    def version(self, cursor: Any) -> str:
        """As `H2 2.5.252`."""
        cursor.execute("SELECT H2VERSION()")
        return f"H2 {cursor.fetchall()[0][0]}"


DATABASE = H2
