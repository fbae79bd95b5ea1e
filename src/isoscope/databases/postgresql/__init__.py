"""PostgreSQL: a temporary server if its programs are installed, or a server at a URL.

The order of versions is that of commit records, read from a slot of logical decoding at the end of a run.
"""

from __future__ import annotations

import secrets
from array import array
from collections import defaultdict
from contextlib import suppress
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases.database import ConnectionLost, Database, Isolation, leftovers_at_url
from isoscope.databases.nodes import Nodes
from isoscope.databases.postgresql.connection import connect, driver, driver_errors, parse, said
from isoscope.databases.postgresql.leftovers import remove_leftovers
from isoscope.databases.postgresql.log import versions
from isoscope.databases.postgresql.nodes import start_nodes
from isoscope.databases.postgresql.server import start, stop
from isoscope.databases.postgresql.session import PostgreSQLSession
from isoscope.errors import DatabaseError, UsageError
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from psycopg import Connection

    from isoscope.databases.database import Content, Leftover, Session
    from isoscope.databases.process import Server

__all__ = ["DATABASE", "PostgreSQL"]

#: Defaults of every connection. Reading the whole of a small table would be a predicate lock on all of it;
#: a lock that is never released must not hold up a run.
_CONNECTION_DEFAULTS = {"enable_seqscan": "off", "lock_timeout": "5s", "synchronous_commit": "on"}
#: Defaults of a temporary server. Its data need not survive a crash.
_SERVER_DEFAULTS = {
    "deadlock_timeout": "10ms",
    "fsync": "off",
    "shared_buffers": "128MB",
    "wal_level": "logical",
}
#: Seconds in which sessions end by themselves, and after they are terminated.
_GRACE, _PATIENCE = 2.0, 5.0
#: Seconds between two checks whether they have ended.
_GLANCE = 0.02
#: Seconds in which a new table arrives at a standby, and in which a killed primary is back.
_ARRIVAL, _RESTART = 30.0, 60.0
_PRIMARY = "n1"
#: Each node shows transactions as a whole and after those that they depend on; two nodes may show two that
#: do not depend on each other in different orders.
_OF_STANDBYS = Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION
_OF_RESTARTED_STANDBYS = Level.PARALLEL_SNAPSHOT_ISOLATION


class PostgreSQL(Database):
    """PostgreSQL with one of its isolations; it promises what its documentation says."""

    NAME: ClassVar[str] = "postgresql"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = {
        "read-committed": Isolation(
            meaning="a statement sees what was committed before it began; PostgreSQL's default",
            profile="postgresql/read-committed",
        ),
        "repeatable-read": Isolation(
            meaning="a transaction sees what was committed before it began; the first to update a row wins",
            profile="postgresql/repeatable-read",
        ),
        # Its histories are strict serializable, too: a cycle needs two rw steps in a row, the second of them
        # to the transaction that commits first, and the proof also holds with real time. Not promised.
        "serializable": Isolation(
            meaning="as repeatable-read; transactions that could form a cycle of dependencies are aborted",
            profile="postgresql/serializable",
        ),
    }
    SETTINGS: ClassVar[Mapping[str, str]] = {
        "deadlock_timeout": "how long until a deadlock is looked for (10ms); not with a URL",
        "enable_seqscan": "whether a small table may be read as a whole: serializable then aborts more (off)",
        "fsync": "whether data is forced to the disk (off); not with a URL",
        "lock_timeout": "how long a lock is waited for before the transaction is aborted (5s)",
        "server": "`installed`, or `fetched`: PostgreSQL 18 from PyPI (installed if there is one); "
        "not with a URL",
        "shared_buffers": "memory for pages (128MB); not with a URL",
        "synchronous_commit": "whether a commit waits for the log to be written (on)",
        "wal_level": "less than logical and there is no order of versions (logical); not with a URL",
    }

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if settings.get("server", "installed") not in {"installed", "fetched"}:
            raise UsageError(f"`server` is installed or fetched, not `{settings['server']}`")
        ours = {*_SERVER_DEFAULTS, "server"}
        for setting in sorted(settings.keys() & ours) if url is not None else ():
            raise UsageError(
                f"`{setting}` is set where a server is started\n\n"
                "hint: the one that the URL locates has it in its configuration"
            )
        self.isolation = isolation
        self._begin = f"BEGIN ISOLATION LEVEL {isolation.replace('-', ' ').upper()}".encode()
        self._url = url
        self._settings = {**_CONNECTION_DEFAULTS, **_SERVER_DEFAULTS, **settings}
        #: The name of the schema, the slot and the publication.
        self._name = f"isoscope_{secrets.token_hex(4)}"
        self._table = f"{self._name}.isoscope"
        self._content: Content = "register"
        self._server: Server | None = None
        self._where: dict[str, Any] = {}
        #: Used by one thread at a time.
        self._admin: Connection[Any] | None = None
        self._lock = Lock()
        self._has_log = False
        #: Nodes that are started, how many, and where each is; the first is the primary.
        self._nodes: Nodes | None = None
        self._count = 1
        self._places: dict[str, dict[str, Any]] = {}
        self._standby_urls: list[str] = []
        self._sessions: defaultdict[str, list[PostgreSQLSession]] = defaultdict(list)
        #: Numbers of the transactions that made initial rows.
        self._initial: set[int] = set()

    @property
    def promises(self) -> tuple[Level, ...]:
        """Standbys show transactions later than the primary, and perhaps in another order.

        One that was killed starts with what it had kept some time before, and sessions see that again.
        """
        if len(self._places) < 2:
            return super().promises
        if self.isolation == "read-committed":
            return (Level.PL_2,)
        is_older = self._nodes is not None and not self._nodes.killed <= {_PRIMARY}
        return (_OF_RESTARTED_STANDBYS,) if is_older else (_OF_STANDBYS,)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The primary, n1, and the standbys, if there are any or there are faults."""
        return tuple(self._places)

    @property
    def shows_past(self) -> bool:
        """A standby shows transactions later than the primary."""
        return self._count > 1 or bool(self._standby_urls)

    def use_nodes(self, count: int) -> None:
        """Starts a primary and `count` - 1 standbys."""
        self._count = count
        self._nodes = self._nodes or Nodes(self.NAME, (), self._cut)

    def use_urls(self, urls: Sequence[str]) -> None:
        """The URLs of standbys."""
        self._standby_urls += urls

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """Faults of nodes that are started here."""
        if self._url is not None:
            raise UsageError("faults are injected into nodes that are started for the run, not at a URL")
        self._nodes = Nodes(self.NAME, kinds, self._cut)
        return self._nodes

    def open(self, content: Content) -> str:
        """Starts or connects, and makes a schema with an empty table."""
        driver()
        self._content = content
        if self._nodes is not None:
            if self._settings.get("server") == "fetched":
                raise UsageError("several nodes and faults need installed programs, not `server=fetched`")
            defaults = {name: self._settings[name] for name in _SERVER_DEFAULTS}
            self._places = start_nodes(self._nodes, self._count, defaults)
            self._where = self._places[_PRIMARY]
        elif self._url is None:
            defaults = {name: self._settings[name] for name in _SERVER_DEFAULTS}
            self._server, self._where = start(defaults, programs=self._settings.get("server", ""))
        else:
            self._where = parse(self._url)
            if self._standby_urls:
                urls = [self._url, *self._standby_urls]
                self._places = {f"n{number}": parse(url) for number, url in enumerate(urls, start=1)}
        column = "bigint" if content == "register" else "bigint[]"
        admin = self._connected()
        with driver_errors():
            admin.execute(f"CREATE SCHEMA {self._name}")
            # Half of each page is free for new versions: an update within its page does not change the index.
            admin.execute(
                f"CREATE TABLE {self._table} (key bigint PRIMARY KEY, value {column} NOT NULL)"
                " WITH (fillfactor = 50)"
            )
            for node in self.nodes[1:]:
                self._wait_for_table(node)
            return ", ".join(self._remarks(admin))

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values in one transaction."""
        rows = list(rows)
        # With faults, the primary may be away for some time.
        end = monotonic() + (_RESTART if self._nodes is not None else 0.0)
        while True:
            try:
                self._insert(rows)
            except (ConnectionLost, DatabaseError):
                if monotonic() >= end:
                    raise
                sleep(_GLANCE)
            else:
                return

    def _insert(self, rows: list[tuple[int, int]]) -> None:
        columns = [[key for key, _ in rows], [value for _, value in rows]]
        with self._lock, driver_errors():
            admin = self._connected()
            with admin.transaction():
                if self._content == "list":
                    admin.execute(
                        f"INSERT INTO {self._table} SELECT unnest(%s::bigint[]), '{{}}'", columns[:1]
                    )
                else:
                    admin.execute(
                        f"INSERT INTO {self._table} SELECT * FROM unnest(%s::bigint[], %s::bigint[])", columns
                    )
                (number,) = admin.execute("SELECT txid_current()").fetchone() or (0,)
            # The log has the last 32 bits.
            self._initial.add(number % 2**32)

    def session(self) -> Session:
        """A new connection to the only node, or to the primary."""
        return self._session(self._where, self._begin)

    def session_at(self, node: str) -> Session:
        """A new connection to a node; a standby has no serializable transactions, and takes the next best."""
        is_standby = node != _PRIMARY
        begin = self._begin.replace(b"SERIALIZABLE", b"REPEATABLE READ") if is_standby else self._begin
        session = self._session(self._places[node], begin, is_standby=is_standby)
        self._sessions[node].append(session)
        return session

    def _session(self, where: dict[str, Any], begin: bytes, *, is_standby: bool = False) -> PostgreSQLSession:
        connection = self._connect(where)
        try:
            with driver_errors():
                return PostgreSQLSession(connection, begin, self._content, self._table, is_standby=is_standby)
        except BaseException:
            connection.close()
            raise

    def version_order(self) -> Iterable[tuple[int, int]] | None:
        """Versions in the order of commit records; None for lists, since their reads show the order."""
        if not self._has_log:
            return None
        with self._lock, driver_errors():
            admin = self._connected()
            # A commit may go on although its client has disconnected.
            self._end_sessions(admin, grace=_GRACE)
            # Decoding ends where the log is written; a synchronous commit writes everything before it.
            admin.execute("SET synchronous_commit = on")
            admin.execute("SELECT pg_logical_emit_message(true, 'isoscope', '')")
            # Read here, where errors are handled; as columns, since there may be many.
            keys, values = array("q"), array("q")
            for key, value in versions(self._messages(admin), without=self._initial):
                keys.append(key)
                values.append(value)
        return zip(keys, values, strict=True)

    def close(self) -> None:
        """Stops the temporary server, or drops the schema at the URL."""
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()
        if self._nodes is not None:
            self._nodes.close(stop)
        elif self._server is not None:
            stop(self._server)
        elif admin is not None:
            with suppress(DatabaseError, ConnectionLost), driver_errors(), self._connect() as admin:
                self._end_sessions(admin)
                admin.execute(f"DROP PUBLICATION IF EXISTS {self._name}")
                admin.execute(f"DROP SCHEMA IF EXISTS {self._name} CASCADE")

    def clean(self) -> list[Leftover]:
        """Removes the schemas, publications and slots of killed runs at the URL."""
        self._where = parse(leftovers_at_url(self.NAME, self._url))
        try:
            with driver_errors(), self._connect() as admin:
                return [*remove_leftovers(admin)]
        except ConnectionLost as error:
            raise DatabaseError(f"PostgreSQL is gone: {error}") from None

    def _cut(self, node: str) -> None:
        for session in self._sessions[node]:
            session.cut()

    def _wait_for_table(self, node: str) -> None:
        """Waits until a standby has the table. Raises `DatabaseError` if it does not come."""
        end = monotonic() + _ARRIVAL
        with self._connect(self._places[node]) as standby:
            asked = f"SELECT to_regclass('{self._table}') IS NOT NULL"
            while not (standby.execute(asked).fetchone() or (False,))[0]:
                if monotonic() >= end:
                    raise DatabaseError(
                        f"the table of the run does not arrive at {node}: is it a standby of n1?"
                    )
                sleep(_GLANCE)

    def _connect(self, where: dict[str, Any] | None = None) -> Connection[Any]:
        if self._server is not None and not self._server.is_running:
            raise self._server.error("PostgreSQL has died")
        settings = {name: self._settings[name] for name in _CONNECTION_DEFAULTS}
        # Planning takes longer than reading one row.
        settings["plan_cache_mode"] = "force_generic_plan"
        return connect(where or self._where, name=self._name, settings=settings)

    def _connected(self) -> Connection[Any]:
        """The connection for statements outside of sessions; a new one if it was lost."""
        if self._admin is not None:
            try:
                self._admin.execute("SELECT 1")
            except driver().OperationalError:
                self._admin.close()
                self._admin = None
        if self._admin is None:
            self._admin = self._connect()
        return self._admin

    def _remarks(self, admin: Connection[Any]) -> Iterator[str]:
        """The version of the server, and its special settings."""
        version = admin.info.parameter_status("server_version") or "of unknown version"
        yield f"PostgreSQL {version.split()[0]}"
        if self._url is None and self._settings["fsync"] == "off":
            yield "fsync off"
        if self._content == "register":
            reason = self._open_log(admin)
            self._has_log = reason is None
            if reason is not None:
                yield f"no order of versions: {reason}"

    def _open_log(self, admin: Connection[Any]) -> str | None:
        """Makes a slot of logical decoding; returns the reason if that is not possible.

        At a URL it ends with the connection, whatever happens: a leftover slot would keep the log for ever.
        On a temporary server it survives a crash.
        """
        is_temporary = self._url is not None
        try:
            (level,) = admin.execute("SHOW wal_level").fetchone() or ("",)
            if level != "logical":
                return f"wal_level is {level}, not logical"
            admin.execute(f"CREATE PUBLICATION {self._name} FOR TABLE {self._table}")
            admin.execute(
                "SELECT pg_create_logical_replication_slot(%s, 'pgoutput', %s)", [self._name, is_temporary]
            )
        except driver().Error as error:
            return said(error)
        return None

    def _messages(self, admin: Connection[Any]) -> Iterator[bytes]:
        with admin.transaction(), admin.cursor("log", binary=True) as cursor:
            cursor.itersize = 10_000
            cursor.execute(
                "SELECT data FROM pg_logical_slot_get_binary_changes("
                "%s, NULL, NULL, 'proto_version', '1', 'publication_names', %s)",
                [self._name, self._name],
            )
            for (data,) in cursor:
                yield data

    def _end_sessions(self, admin: Connection[Any], *, grace: float = 0.0) -> None:
        """Waits until all sessions have ended; terminates those left after `grace` seconds."""
        began = monotonic()
        ours = "FROM pg_stat_activity WHERE application_name = %s AND pid <> pg_backend_pid()"
        while admin.execute(f"SELECT pid {ours}", [self._name]).fetchall():
            waited = monotonic() - began
            if waited >= grace + _PATIENCE:
                return
            if waited >= grace:
                admin.execute(f"SELECT pg_terminate_backend(pid) {ours}", [self._name])
            sleep(_GLANCE)


DATABASE = PostgreSQL
