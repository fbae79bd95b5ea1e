"""Apache Cassandra: transactions of Accord, lightweight transactions, or plain requests at QUORUM.

Nodes are started, or are at URLs.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from importlib import import_module
from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from isoscope.databases.cassandra import server
from isoscope.databases.cassandra.session import CassandraSession
from isoscope.databases.database import Aborted, ConnectionLost, Database, Isolation, without_password
from isoscope.databases.nodes import Nodes
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from isoscope.databases.database import Content

__all__ = ["DATABASE", "Cassandra"]

_URL = "cassandra://host:9042"
_USUAL_NODES = 3
#: Seconds that an answer may take: Accord's first transactions after a start are slow.
_PATIENCE = 30
_ROWS = 50
#: Errors of the protocol without a class in the driver.
_CODES = {0x1700: "it is unknown whether a condition took effect"}


class Cassandra(Database):
    """Nodes of Cassandra; every row is on up to three of them."""

    NAME: ClassVar[str] = "cassandra"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "accord": Isolation(
                meaning="a commit is one transaction of Accord that compares all that was read",
                profile="cassandra/accord",
            ),
            "lightweight": Isolation(
                meaning="a commit is one batch with an IF for all that was read; "
                "all rows are in one partition",
                profile="cassandra/lightweight",
            ),
            "quorum": Isolation(
                meaning="reads and a batch of writes at QUORUM; nothing is compared",
                profile="cassandra/quorum",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"download": "on|off: whether missing jars are got with Maven (default off)"}
    )

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        if settings.get("download", "off") not in ("on", "off"):
            raise UsageError(f"download={settings['download']} makes no sense\n\nhint: on or off")
        self.isolation = isolation
        self._downloads = settings.get("download") == "on"
        self._places = {} if url is None else {"n1": _parse(url)}
        self._port = server.PORT if url is None else urlsplit(url).port or server.PORT
        self._has_urls = url is not None
        self._count = _USUAL_NODES
        self._nodes: Nodes | None = None
        self._name = f"isoscope_{token_hex(4)}"
        self._content: Content = "register"
        self._cluster: Any = None
        self._client: Any = None

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes."""
        return tuple(self._places)

    def use_nodes(self, count: int) -> None:
        """Starts so many nodes."""
        self._count = count

    def use_urls(self, urls: Sequence[str]) -> None:
        """Further nodes of the cluster."""
        for number, url in enumerate(urls, start=len(self._places) + 1):
            self._places[f"n{number}"] = _parse(url)

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """Faults of nodes that are started here."""
        if self._has_urls:
            raise UsageError("faults are injected into nodes that are started for the run, not at a URL")
        if "cut" in kinds or "old-data" in kinds:
            raise UsageError("cassandra takes the faults kill, pause, partition and slow")
        self._nodes = Nodes(self.NAME, kinds, print)
        return self._nodes

    def open(self, content: Content) -> str:
        """Starts or connects, and makes a keyspace with an empty table."""
        _driver("cassandra.cluster")  # without a driver, no server is started
        self._content = content
        if not self._has_urls:
            jars = server.find_jars(download=self._downloads)
            self._nodes = self._nodes or Nodes(self.NAME, (), print)
            self._places = server.start_nodes(self._nodes, self._count, jars)
        self._connect()
        copies = min(3, len(self._places))
        self._ask(
            f"CREATE KEYSPACE {self._name} WITH replication = "
            f"{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"
        )
        how = " WITH transactional_mode = 'full'" if self.isolation == "accord" else ""
        self._ask(f"CREATE TABLE {self._name}.t {self._columns()}{how}")
        version = self._ask("SELECT release_version FROM system.local")[0].release_version
        return f"Cassandra {version}"

    def _columns(self) -> str:
        if self.isolation != "lightweight":
            return "(k bigint PRIMARY KEY, v text)"
        # A condition needs a change: that of a row which is only compared changes `c`.
        return "(p int, k bigint, v text, c int, PRIMARY KEY (p, k))"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows, some at a time."""
        kept = list(rows)
        if self.isolation == "lightweight":
            self._insert_compared(kept)
            return
        size = 1 if self.isolation == "accord" else _ROWS
        for first in range(0, len(kept), size):
            changes = [self._insertion(key, value) for key, value in kept[first : first + size]]
            self._ask(changes[0] if size == 1 else f"BEGIN BATCH {' '.join(changes)} APPLY BATCH")

    def _insert_compared(self, rows: list[tuple[int, int]]) -> None:
        """Adds rows with conditions, too: writes with and without them have timestamps of two kinds."""
        session = self.session()
        for first in range(0, len(rows), _ROWS):
            session.begin()
            for key, value in rows[first : first + _ROWS]:
                session.add(key, "" if self._content == "list" else str(value))
            try:
                session.commit()
            except (Aborted, ConnectionLost) as error:
                raise DatabaseError(f"Cassandra does not take the rows: {error}") from None

    def _insertion(self, key: int, value: int) -> str:
        text = "" if self._content == "list" else str(value)
        return f"INSERT INTO {self._name}.t (k, v) VALUES ({key}, '{text}');"

    def session(self) -> CassandraSession:
        """A client of the first node."""
        return self.session_at(self.nodes[0])

    def session_at(self, node: str) -> CassandraSession:
        """A client of a node. Raises `ConnectionLost` if the node is away."""
        place = self._places[node]
        hosts = [host for host in self._cluster.metadata.all_hosts() if host.address == place]
        if not hosts or hosts[0].is_up is False:
            raise ConnectionLost("the node is away")
        return CassandraSession(
            partial(self._execute, hosts[0]),
            f"{self._name}.t",
            self._content,
            self.isolation,
        )

    def version_order(self) -> None:
        """Cassandra shows the time of the last write of a row, and no order of all."""

    def close(self) -> None:
        """Stops the nodes, or drops the keyspace."""
        if self._cluster is not None:
            if self._has_urls:
                with suppress(DatabaseError):
                    self._ask(f"DROP KEYSPACE IF EXISTS {self._name}")
            self._cluster.shutdown()
            self._cluster = None
        if self._nodes is not None:
            self._nodes.close()

    def _connect(self) -> None:
        cluster, policies = _driver("cassandra.cluster"), _driver("cassandra.policies")
        quorum = _driver("cassandra").ConsistencyLevel.QUORUM
        profile = cluster.ExecutionProfile(
            load_balancing_policy=policies.RoundRobinPolicy(),
            retry_policy=policies.FallthroughRetryPolicy(),
            request_timeout=_PATIENCE,
            consistency_level=quorum,
        )
        self._cluster = cluster.Cluster(
            list(self._places.values()),
            port=self._port,
            execution_profiles={cluster.EXEC_PROFILE_DEFAULT: profile},
            reconnection_policy=policies.ConstantReconnectionPolicy(1.0, None),
            protocol_version=5,
        )
        try:
            self._client = self._cluster.connect()
        except Exception as error:
            raise DatabaseError(
                f"no Cassandra answers at {', '.join(self._places.values())}: {type(error).__name__}\n\n"
                f"hint: the URL looks like {_URL}"
            ) from None

    def _ask(self, statement: str) -> list[Any]:
        try:
            return list(self._client.execute(statement))
        except Exception as error:
            raise DatabaseError(f"Cassandra says: {_said(error)}") from None

    def _request(self, statement: str) -> Any:
        levels = _driver("cassandra").ConsistencyLevel
        level = getattr(levels, _consistency(statement, self.isolation))
        return _driver("cassandra.query").SimpleStatement(
            statement, consistency_level=level, serial_consistency_level=levels.SERIAL
        )

    def _execute(self, host: Any, statement: str) -> list[Any]:
        """The rows of a request at one node; raises `Aborted`, or `ConnectionLost` if the node is away."""
        try:
            return list(self._client.execute(self._request(statement), host=host))
        except _driver("cassandra.cluster").NoHostAvailable:
            raise ConnectionLost("the node is away") from None
        except _driver("cassandra").InvalidRequest as error:
            raise DatabaseError(f"Cassandra says: {_said(error)}") from None
        except Exception as error:
            raise Aborted(_kind(error)) from None


DATABASE = Cassandra


def _consistency(statement: str, isolation: str) -> str:
    """SERIAL reads finish what a conditional write of another client began; QUORUM reads need not show it."""
    return "SERIAL" if isolation == "lightweight" and statement.startswith("SELECT") else "QUORUM"


def _driver(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise DatabaseError(
            "Cassandra needs the driver cassandra-driver\n\nhint: pip install 'isoscope[cassandra]'"
        ) from None


def _kind(error: Exception) -> str:
    """The kind of a failure; errors that the driver does not know have a code."""
    code = getattr(error, "code", None)
    name = type(error).__name__
    return _CODES.get(code, f"error {code:#06x}") if name == "ErrorMessage" and code else name


def _said(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _parse(url: str) -> str:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.hostname and parts.port != 0 and not parts.path.strip("/") and parts.username is None:
            return parts.hostname
    raise UsageError(
        f"the URL of Cassandra makes no sense: {without_password(url)}\n\nhint: it looks like {_URL}"
    )
