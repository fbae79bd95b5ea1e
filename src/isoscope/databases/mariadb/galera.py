"""Galera: several nodes of MariaDB, each of which takes reads and writes, started for a run or at URLs.

A node runs a transaction alone. At the commit all nodes learn of its writes, in one order for all, and refuse
them if they overwrite what a transaction before them in that order has written. A node shows the transactions
of others a little later, unless `wsrep_sync_wait` makes reads wait.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing, suppress
from time import monotonic, sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope import profiles
from isoscope.databases.database import ConnectionLost, Isolation
from isoscope.databases.mariadb import MariaDB, binlog, connection
from isoscope.databases.mariadb.galera_server import start_nodes
from isoscope.databases.nodes import Nodes
from isoscope.databases.programs import find_file
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from isoscope.databases.database import Content
    from isoscope.databases.mariadb.session import Connected

__all__ = ["DATABASE", "Galera"]

_USUAL_NODES = 3
_LIBRARY, _PACKAGE = "usr/lib/galera/libgalera_smm.so", "galera-4"
#: Settings of sessions, which are not told to a server when it starts.
_LATER = ("download",)
#: Seconds in which a node that was killed is back.
_RESTART, _GLANCE = 60.0, 0.1


class Galera(MariaDB):
    """A cluster of MariaDB nodes."""

    NAME: ClassVar[str] = "galera"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "repeatable-read": Isolation(
                meaning="reads show one snapshot of a node, writes change the newest version; "
                "snapshot isolation with innodb_snapshot_isolation=ON",
                profile="galera/repeatable-read",
            ),
            "read-committed": Isolation(
                meaning="every read shows what the node has committed by then",
                profile="galera/read-committed",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "innodb_snapshot_isolation": MariaDB.SETTINGS["innodb_snapshot_isolation"],
            "innodb_lock_wait_timeout": MariaDB.SETTINGS["innodb_lock_wait_timeout"],
            "innodb_flush_log_at_trx_commit": MariaDB.SETTINGS["innodb_flush_log_at_trx_commit"],
            "wsrep_sync_wait": "0 to 15: which statements first wait for the transactions of other nodes; "
            "1: reads (default 0)",
            "download": "on|off: whether a missing Galera is unpacked from Debian's package (default off)",
        }
    )

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if settings.get("download", "off") not in ("on", "off"):
            raise UsageError(f"download={settings['download']} makes no sense\n\nhint: on or off")
        kept = {name: value for name, value in settings.items() if name not in _LATER}
        super().__init__(isolation, url=url, settings=kept)
        self._downloads = settings.get("download") == "on"
        self._waits = int(settings.get("wsrep_sync_wait", "0")) & 1 == 1
        self._places = {} if self._place is None else {"n1": self._place}
        self._count = _USUAL_NODES
        self._nodes = Nodes(self.NAME, (), self._cut)
        #: Where the log of each node was when the run began.
        self._starts: dict[str, binlog.Position] = {}
        self._at: defaultdict[str, list[Connected]] = defaultdict(list)

    @property
    def promises(self) -> tuple[Level, ...]:
        """Only reads that wait show what other nodes have committed before."""
        if not self._refuses_old_snapshots:
            return profiles.load(f"galera/{self.isolation}").promised(registers=self._content == "register")
        return (Level.STRONG_SNAPSHOT_ISOLATION,) if self._waits else profiles.load(_SNAPSHOTS).promises

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes."""
        return tuple(self._places)

    @property
    def shows_past(self) -> bool:
        """Also with wsrep_sync_wait, which waits before the snapshot is taken, and only then."""
        return (len(self._places) or self._count) > 1

    def use_nodes(self, count: int) -> None:
        """Starts so many nodes."""
        self._count = count

    def use_urls(self, urls: Sequence[str]) -> None:
        """Further nodes of the cluster."""
        for number, url in enumerate(urls, start=len(self._places) + 1):
            self._places[f"n{number}"] = connection.parse(url)

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """Faults of nodes that are started here."""
        if self._places:
            raise UsageError("faults are injected into nodes that are started for the run, not at a URL")
        self._nodes = Nodes(self.NAME, kinds, self._cut)
        return self._nodes

    def open(self, content: Content) -> str:
        """Starts or connects, and makes a table, which all nodes get."""
        told = super().open(content)
        for node in self.nodes[1:]:
            self._wait_for_table(node)
        if self._log_start is not None:
            self._starts = {node: self._log_end_at(node) for node in self.nodes}
        return told.replace("MariaDB", "MariaDB Galera", 1)

    def session(self) -> Connected:
        """A connection to the first node."""
        return self.session_at(self.nodes[0])

    def session_at(self, node: str) -> Connected:
        """A connection to a node."""
        session = self._session_at(self._places[node])
        self._at[node].append(session)
        return session

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows at one node, and waits until all others have them."""
        kept = list(rows)
        super().insert(kept)
        for node in self.nodes[1:] if kept else ():
            self._wait_for_row(node, kept[-1][0])

    def version_order(self) -> list[tuple[int, int]] | None:
        """The order in the log of a node, which is the same at all; None if no node has all of it.

        A node that was killed may have got its data from another one, without the log.
        """
        for node, start in self._starts.items():
            if node not in self._nodes.killed:
                with suppress(DatabaseError, ConnectionLost):
                    return self._log_of(node, start)
        return None

    def _log_of(self, node: str, start: binlog.Position) -> list[tuple[int, int]]:
        assert self._table is not None
        end = self._log_end_at(node)
        return binlog.read(self._places[node], self._table, (start, end), self._initial)

    def _log_end_at(self, node: str) -> binlog.Position:
        """The end of the log of a node, when it has the transactions of all others."""
        with closing(connection.connect(self._places[node], patience=_RESTART)) as control:
            try:
                with control.cursor() as cursor:
                    cursor.execute("SET SESSION wsrep_sync_wait=1")
                    cursor.execute(f"SELECT COUNT(*) FROM {self._named_table()}")
                    cursor.execute(self._log_status)
                    row = cursor.fetchone()
            except connection.errors() as error:
                raise DatabaseError(str(error)) from None
        return str(row[0]), int(row[1])

    def close(self) -> None:
        """Stops the nodes, or drops the table at the URLs."""
        if self._nodes.names:
            self._nodes.close()
            for session in self._sessions:
                session.close()
        else:
            super().close()

    def _start(self) -> connection.Place:
        library = find_file(_LIBRARY, package=_PACKAGE, download=self._downloads)
        told = {name: value for name, value in self._settings.items() if name != "wsrep_sync_wait"}
        self._places = start_nodes(self._nodes, self._count, library, told)
        return self._places[self.nodes[0]]

    def _cut(self, node: str) -> None:
        for session in self._at[node]:
            session.cut()

    def _wait_for_table(self, node: str) -> None:
        self._wait(node, f"SELECT COUNT(*) FROM {self._named_table()}", "the table of the run")

    def _wait_for_row(self, node: str, key: int) -> None:
        self._wait(node, f"SELECT 1 FROM {self._named_table()} WHERE k={key:d}", "a new row")

    def _wait(self, node: str, statement: str, what: str) -> None:
        """Waits until a statement has an answer at a node; a node that was killed may take its time."""
        end = monotonic() + _RESTART
        while monotonic() < end:
            with suppress(DatabaseError, ConnectionLost):
                session = self._session_at(self._places[node])
                try:
                    if session.run(statement):
                        return
                finally:
                    session.close()
            sleep(_GLANCE)
        raise DatabaseError(f"{what} does not arrive at {node}")

    def _ask(self, statement: str, *, tries: int = 1) -> Any:
        """The answer of the first node; with faults, it may be away for some time."""
        end = monotonic() + _RESTART
        while True:
            try:
                return super()._ask(statement, tries=tries)
            except DatabaseError:
                if self._nodes.is_faulty and monotonic() < end:
                    sleep(_GLANCE)
                    with suppress(DatabaseError):
                        self._control = connection.connect(self._places[self.nodes[0]], patience=5)
                    continue
                raise


_SNAPSHOTS = "galera/snapshot-isolation"
DATABASE = Galera
