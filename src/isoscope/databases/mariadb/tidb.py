"""TiDB through the protocol of MySQL, judged by TiDB's own promises; its timestamps are those of its oracle.

`@@tidb_current_ts` is the start timestamp of the transaction, and `@@tidb_last_txn_info` has its commit
timestamp. A program `tidb-server` that is on PATH, or that `ISOSCOPE_TIDB` names, is started with its store
for tests, unistore: one process, with the SQL layer and the two-phase commit of a cluster.
"""

from __future__ import annotations

import json
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope import profiles
from isoscope.databases.database import Aborted, ConnectionLost, Isolation
from isoscope.databases.mariadb import MariaDB, connection, tidb_server
from isoscope.databases.mariadb.session import Connected
from isoscope.databases.nodes import Nodes
from isoscope.errors import DatabaseError, UsageError
from isoscope.history import Timestamp

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from isoscope.databases.database import Content
    from isoscope.levels import Level

__all__ = ["DATABASE", "TiDB"]

_START = "SELECT @@tidb_current_ts"
_END = "SELECT @@tidb_last_txn_info"
#: A kill is none of them: unistore has the locks of commits under way in memory alone, so a server that is
#: killed would lose parts of transactions, which a cluster does not.
_FAULTS = ("pause", "cut")


class TiDB(MariaDB):
    """A temporary TiDB server, or one at a URL."""

    NAME: ClassVar[str] = "tidb"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "repeatable-read": Isolation(
                meaning="pessimistic: reads show one snapshot, writes lock and change the newest version",
                profile="tidb/repeatable-read",
            ),
            "read-committed": Isolation(
                meaning="pessimistic: every read shows what is committed by then",
                profile="tidb/read-committed",
            ),
            "optimistic": Isolation(
                meaning="snapshot isolation: of two transactions that write a row, the first to commit wins",
                profile="tidb/optimistic",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        super().__init__(isolation, url=url, settings=settings)
        self._nodes = Nodes(self.NAME, (), self._cut)
        self._at: defaultdict[str, list[Connected]] = defaultdict(list)
        is_optimistic = isolation == "optimistic"
        level = "repeatable read" if is_optimistic else isolation.replace("-", " ")
        self._preludes = [
            f"SET SESSION TRANSACTION ISOLATION LEVEL {level}",
            f"SET SESSION tidb_txn_mode='{'optimistic' if is_optimistic else 'pessimistic'}'",
        ]

    @property
    def promises(self) -> tuple[Level, ...]:
        """Those of TiDB, not those of MariaDB."""
        return profiles.load(f"tidb/{self.isolation}").promised(registers=self._content == "register")

    @property
    def nodes(self) -> tuple[str, ...]:
        """The one server, if there are faults."""
        return self._nodes.names if self._nodes.is_faulty else ()

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """Faults of the one process that is started here."""
        if self._place is not None:
            raise UsageError("faults are injected into a server that is started for the run, not at a URL")
        if not {*kinds} <= {*_FAULTS}:
            raise UsageError(
                f"tidb takes the faults {', '.join(_FAULTS)}: its store for tests survives no other"
            )
        self._nodes = Nodes(self.NAME, kinds, self._cut)
        return self._nodes

    def session_at(self, node: str) -> Connected:
        """A connection to the server."""
        assert self._place is not None
        session = self._session_at(self._place)
        self._at[node].append(session)
        return session

    def close(self) -> None:
        """Stops the server, or drops the table at the URL."""
        if not self._nodes.names:
            super().close()
            return
        self._nodes.close()
        for session in self._sessions:
            session.close()
        if self._control is not None and self._control.open:
            self._control.close()

    def _start(self) -> connection.Place:
        tidb_server.find_program()
        self._nodes.make(1)
        [process] = self._nodes.servers.values()
        return tidb_server.start(process)

    def _settle(self, _name: str) -> None:
        """There are no settings, and none of InnoDB."""

    def _cut(self, node: str) -> None:
        for session in self._at[node]:
            session.cut()

    def _title(self, version: str) -> str:
        """As `TiDB v8.5.0`; the version is told as `8.0.11-TiDB-v8.5.0`."""
        if "TiDB" not in version:
            raise DatabaseError(f"the server is no TiDB, but {version}\n\nhint: isoscope run mariadb://...")
        return f"TiDB {version.rpartition('TiDB-')[2]}"

    def _open_log(self, _name: str) -> None:
        """There is no binary log, and no need of one: commit timestamps order the versions."""

    def _session(self, connected: Any, table: str, content: Content) -> Connected:
        return TiDBSession(connected, table, content)


DATABASE = TiDB


class TiDBSession(Connected):
    """A session that asks for the timestamps of each transaction."""

    _start = 0

    def begin(self) -> None:
        """Starts a transaction and asks for its start timestamp, which is that of its snapshot."""
        super().begin()
        self._start = int(self._asked(_START))

    def commit(self) -> tuple[Timestamp, Timestamp] | None:
        """Commits; a transaction that wrote nothing has no commit timestamp but that of its start."""
        super().commit()
        try:
            ended = end_of(str(self._asked(_END)), self._start)
        except (Aborted, DatabaseError) as error:
            # It is committed, and must not be taken for aborted.
            raise ConnectionLost(f"the commit timestamp is not told: {error}") from error
        return Timestamp(self._start), Timestamp(ended)

    def _asked(self, question: str) -> Any:
        self.run(question)
        return self._cursor.fetchone()[0]


def end_of(text: str, start: int) -> int:
    """The commit timestamp in `tidb_last_txn_info`, if that is of the transaction that began at `start`."""
    told = json.loads(text) if text else {}
    return int(told.get("commit_ts") or start) if told.get("start_ts") == start else start
