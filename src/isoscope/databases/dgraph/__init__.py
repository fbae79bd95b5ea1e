"""Dgraph over HTTP: snapshot isolation with start and commit timestamps of its oracle.

A row is a node with two predicates, key and value. Alphas answer clients; a program `dgraph` that is on PATH,
or that `ISOSCOPE_DGRAPH` names, is started as one zero, which has the oracle, and some alphas; or they are at
URLs. The protocol is documented (https://docs.dgraph.io/clients/raw-http).
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing, suppress
from secrets import token_hex
from threading import Lock
from time import monotonic, sleep
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from isoscope.databases.database import ConnectionLost, Database, Isolation, without_password
from isoscope.databases.dgraph import server
from isoscope.databases.dgraph.client import Client
from isoscope.databases.dgraph.session import EMPTY, DgraphSession
from isoscope.databases.nodes import Nodes
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from isoscope.databases.database import Content

__all__ = ["DATABASE", "Dgraph"]

_URL = "dgraph://HOST:PORT"
_PORT = 8080
_USUAL_NODES = 3
#: Rows that one mutation inserts.
_BATCH = 1000
#: Seconds in which an alpha that was killed is back.
_RESTART, _GLANCE = 60.0, 0.1
_FAULTS = ("kill", "pause", "cut")


class Dgraph(Database):
    """Alphas of Dgraph; the predicates of a run have a name of their own."""

    NAME: ClassVar[str] = "dgraph"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "snapshot-isolation": Isolation(
                meaning="reads show what was committed before the start timestamp; the first to commit wins",
                profile="dgraph/snapshot-isolation",
            )
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"replicas": "alphas of one group, which have the same data (own nodes; default 1)"}
    )

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        self.isolation = isolation
        self._replicas = _replicas(settings)
        self._has_urls = url is not None
        self._places = {} if url is None else {"n1": _parse(url)}
        self._count: int | None = None
        self._nodes: Nodes | None = None
        self._zero: server.Server | None = None
        self._faults: Collection[str] = ()
        self._name = f"isoscope_{token_hex(4)}"
        self._content: Content = "register"
        self._sessions: defaultdict[str, list[DgraphSession]] = defaultdict(list)
        self._is_open = False
        self._lock = Lock()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The alphas, if there are several or faults."""
        return tuple(self._places) if len(self._places) > 1 or self._faults else ()

    def use_nodes(self, count: int) -> None:
        """Starts so many alphas."""
        self._count = count

    def use_urls(self, urls: Sequence[str]) -> None:
        """Further alphas of the cluster."""
        for number, url in enumerate(urls, start=len(self._places) + 1):
            self._places[f"n{number}"] = _parse(url)

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """Faults of alphas that are started here; the zero, which has the oracle, has none."""
        if self._has_urls:
            raise UsageError("faults are injected into nodes that are started for the run, not at a URL")
        if not {*kinds} <= {*_FAULTS}:
            raise UsageError(f"dgraph takes the faults {', '.join(_FAULTS)}")
        self._faults = kinds
        self._count = self._count or _USUAL_NODES
        self._nodes = Nodes(self.NAME, kinds, self._cut)
        return self._nodes

    def open(self, content: Content) -> str:
        """Starts or connects, and makes the predicates."""
        self._content = content
        if not self._has_urls:
            program = server.find_program(_URL)
            self._nodes = self._nodes or Nodes(self.NAME, (), self._cut)
            self._zero = server.Server(self.NAME)
            self._places = server.start(program, self._zero, self._nodes, self._count or 1, self._replicas)
        kind = "int" if content == "register" else "string"
        health = self._ask("/health")
        self._ask("/alter", f"{self._name}.key: int @index(int) @upsert .\n{self._name}.value: {kind} .")
        self._is_open = True
        return f"Dgraph {health[0].get('version', 'of unknown version')}"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows with their initial values."""
        given = [(key, EMPTY if self._content == "list" else value) for key, value in rows]
        with self._lock:
            for first in range(0, len(given), _BATCH):
                nodes = [
                    {f"{self._name}.key": key, f"{self._name}.value": value}
                    for key, value in given[first : first + _BATCH]
                ]
                self._ask("/mutate?commitNow=true", {"set": nodes})

    def session(self) -> DgraphSession:
        """A client of the first alpha."""
        return self.session_at(next(iter(self._places)))

    def session_at(self, node: str) -> DgraphSession:
        """A client of an alpha. Raises `ConnectionLost` if the alpha is away, or not ready yet."""
        session = DgraphSession(Client(*self._places[node]), self._name, self._content)
        try:
            session.client.get("/health")
        except (ConnectionLost, DatabaseError):
            session.client.close()
            raise
        self._sessions[node].append(session)
        return session

    def version_order(self) -> None:
        """Commit timestamps are the order."""

    def close(self) -> None:
        """Stops the nodes, or drops the predicates."""
        for sessions in self._sessions.values():
            for session in sessions:
                session.client.close()
        self._sessions.clear()
        if self._nodes is not None:
            self._nodes.close()
        elif self._is_open:
            with suppress(DatabaseError):
                for part in ("key", "value"):
                    self._ask("/alter", {"drop_attr": f"{self._name}.{part}"})
        self._is_open = False
        if self._zero is not None:
            self._zero.stop()
            self._zero = None

    def _cut(self, node: str) -> None:
        for session in self._sessions[node]:
            session.client.cut()

    def _ask(self, path: str, body: str | dict[str, Any] | None = None) -> Any:
        """The answer of the first alpha to a request that can be repeated; ours may have just started."""
        host, port = next(iter(self._places.values()))
        end = monotonic() + (0.0 if self._has_urls else _RESTART)
        while True:
            try:
                with closing(Client(host, port)) as client:
                    return client.get(path) if body is None else client.post(path, body)
            except ConnectionLost as error:
                if monotonic() >= end:
                    hint = f"{_URL}, of the HTTP port of an alpha"
                    raise DatabaseError(
                        f"no Dgraph answers at {host}:{port}: {error}\n\nhint: {hint}"
                    ) from None
            sleep(_GLANCE)


DATABASE = Dgraph


def _replicas(settings: Mapping[str, str]) -> int:
    told = settings.get("replicas", "1")
    if told not in ("1", "3", "5"):
        raise UsageError(f"replicas={told} makes no sense\n\nhint: 1, 3 or 5")
    return int(told)


def _parse(url: str) -> tuple[str, int]:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.hostname and parts.path in {"", "/"}:
            return parts.hostname, parts.port or _PORT
    raise UsageError(f"the URL of Dgraph makes no sense: {without_password(url)}\n\nhint: {_URL}")
