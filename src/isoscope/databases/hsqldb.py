"""HSQLDB (HyperSQL) in this process, with each of its three concurrency models.

`LOCKS` is two-phase locking of whole tables, `MVLOCKS` the same where read-only transactions read a snapshot,
`MVCC` multiversion concurrency control. With MVCC, both `REPEATABLE READ` and `SERIALIZABLE` are snapshot
isolation.
"""

from __future__ import annotations

from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope import profiles
from isoscope.databases import downloads, jdbc
from isoscope.databases.database import Aborted, Isolation, refuse_unknown
from isoscope.databases.sql import LOG_SETTING, SQLDatabase
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.databases.database import Content
    from isoscope.levels import Level

__all__ = ["DATABASE", "HSQLDB", "JAR"]

JAR = downloads.maven("HSQLDB 2.7.4", "org.hsqldb:hsqldb:2.7.4")
#: Numbers of isolations in `java.sql.Connection`.
_NUMBERS = {"read-committed": 2, "repeatable-read": 4, "serializable": 8}
_MODELS = ("locks", "mvlocks", "mvcc")
#: States of errors that end a transaction.
_REFUSED = {"23505": "duplicate key", "40001": "serialization failure", "40502": "deadlock"}


class HSQLDB(SQLDatabase):
    """HSQLDB in memory, one connection for each session."""

    NAME: ClassVar[str] = "hsqldb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "read-committed": Isolation(
                meaning="a read sees what is committed by then; locks of reads end with the statement",
                profile="hsqldb/read-committed",
            ),
            "repeatable-read": Isolation(
                meaning="the same as serializable, whatever the model",
                profile="hsqldb/repeatable-read",
            ),
            "serializable": Isolation(
                meaning="tables are locked until the end of the transaction; with "
                "transaction_control=mvcc, snapshot isolation",
                profile="hsqldb/serializable",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "transaction_control": "locks (two-phase locking), mvlocks (the same; read-only transactions "
            "read a snapshot) or mvcc (default locks)",
            **LOG_SETTING,
        }
    )
    COUNTS_FOUND: ClassVar[bool] = True
    CREATE_LOG: ClassVar[str] = (
        "CREATE TABLE {log} (place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        "txn BIGINT NOT NULL, id BIGINT NOT NULL, value BIGINT)"
    )
    #: The database would outlive its connections, and a table can be locked.
    DROP: ClassVar[str] = "SHUTDOWN IMMEDIATELY"

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if url is not None:
            raise UsageError(
                "HSQLDB runs in this process and in memory; it has no URL\n\nhint: isoscope run hsqldb"
            )
        super().__init__(isolation, settings=settings)
        self._model = settings.get("transaction_control", "locks").lower()
        refuse_unknown("transaction_control of hsqldb", self._model, _MODELS)
        self._place = f"jdbc:hsqldb:mem:isoscope_{token_hex(4)}"

    @property
    def promises(self) -> tuple[Level, ...]:
        """With MVCC, repeatable read and serializable promise less."""
        name = profiles.of(self.NAME, self.isolation, {"transaction_control": self._model})
        assert name is not None, "every isolation has a profile"
        return profiles.load(name).promises

    def open(self, content: Content) -> str:
        """Makes a database with this concurrency model."""
        jdbc.library()  # without it, nothing is fetched
        JAR.folder()
        return f"{super().open(content)}, {self._model.upper()}"

    def connect(self) -> jdbc.Connection:
        """A new connection."""
        connection = jdbc.connect(JAR.folder(), "org.hsqldb.jdbc.JDBCDriver", self._place)
        if self._admin is None:
            # Only possible while no other transaction is open.
            connection.cursor().execute(f"SET DATABASE TRANSACTION CONTROL {self._model.upper()}")
        connection.java.setTransactionIsolation(_NUMBERS[self.isolation])
        return connection

    def begin(self, cursor: Any) -> None:
        """A transaction begins with its first statement."""

    def failure(self, error: Exception) -> Exception:
        """What an error of HSQLDB means."""
        state, _, text = jdbc.sql_error(error)
        return Aborted(_REFUSED[state]) if state in _REFUSED else DatabaseError(f"HSQLDB: {text} ({state})")

    def version(self, cursor: Any) -> str:
        """As `HSQLDB 2.7.4`."""
        cursor.execute("CALL DATABASE_VERSION()")
        return f"HSQLDB {cursor.fetchall()[0][0]}"


DATABASE = HSQLDB
