"""etcd through its JSON gateway: nodes that are started for a run, or at URLs.

etcd has no interactive transactions. Its clients make them: they read at one revision, and commit in one
request that compares first. What is compared is the isolation. The revision of a commit is its timestamp, and
a watch over the keys of the run shows the order of all versions.
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

from isoscope import profiles
from isoscope.databases.database import ConnectionLost, Database, Isolation, without_password
from isoscope.databases.etcd import server
from isoscope.databases.etcd.client import Client, Refused, decoded, encoded
from isoscope.databases.etcd.session import EtcdSession, Table
from isoscope.databases.nodes import Nodes
from isoscope.databases.programs import find_program
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from isoscope.databases.database import Content
    from isoscope.levels import Level

__all__ = ["DATABASE", "Etcd"]

_URL = "etcd://host:2379"
_PORT = 2379
#: Nodes of a run with faults whose user names no number.
_USUAL_NODES = 3
#: Rows of one request, and seconds that a request outside of sessions may take with all tries.
_BATCH, _PATIENCE = 100, 30.0
_VALUES = {"reads": ("linearizable", "local"), "download": ("on", "off")}


class Etcd(Database):
    """Nodes of etcd with one way to compare."""

    NAME: ClassVar[str] = "etcd"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "read-set": Isolation(
                meaning="a commit compares every key and range that was read", profile="etcd/read-set"
            ),
            "written-keys": Isolation(
                meaning="a commit compares the keys that it writes", profile="etcd/written-keys"
            ),
            "none": Isolation(
                meaning="a commit compares nothing but whether its rows exist", profile="etcd/none"
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "reads": "linearizable|local: whether a node asks the others before it answers a read "
            "(default linearizable)",
            "download": "on|off: whether a missing etcd is unpacked from Debian's package (default off)",
        }
    )

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            if value not in _VALUES[name]:
                raise UsageError(f"{name}={value} makes no sense\n\nhint: {self.SETTINGS[name]}")
        self.isolation = isolation
        self._is_local = settings.get("reads") == "local"
        self._downloads = settings.get("download") == "on"
        self._urls = [] if url is None else [url]
        self._places = {f"n{number}": _parse(one) for number, one in enumerate(self._urls, start=1)}
        self._count: int | None = None
        self._nodes: Nodes | None = None
        self._faults: Collection[str] = ()
        self._table = Table(f"isoscope_{token_hex(4)}/", "register")
        self._sessions: defaultdict[str, list[EtcdSession]] = defaultdict(list)
        self._lock = Lock()
        self._start = 0
        self._initial: set[int] = set()

    @property
    def promises(self) -> tuple[Level, ...]:
        """Reads of one node alone may be old."""
        name = f"etcd/{self.isolation}{'-local' if self._is_local else ''}"
        return profiles.load(name).promises

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, if there are several or faults."""
        return tuple(self._places) if len(self._places) > 1 or self._faults else ()

    @property
    def shows_past(self) -> bool:
        """A node that does not ask the others may not have their transactions yet."""
        return self._is_local

    def use_nodes(self, count: int) -> None:
        """Starts so many nodes."""
        self._count = count

    def use_urls(self, urls: Sequence[str]) -> None:
        """Further nodes of the cluster."""
        self._urls += urls
        self._places = {f"n{number}": _parse(one) for number, one in enumerate(self._urls, start=1)}

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """Faults of nodes that are started here."""
        if self._urls:
            raise UsageError("faults are injected into nodes that are started for the run, not at a URL")
        self._faults = kinds
        self._count = self._count or _USUAL_NODES
        self._nodes = Nodes(self.NAME, kinds, self._cut)
        return self._nodes

    def open(self, content: Content) -> str:
        """Starts or connects; keys of this run have a prefix of their own."""
        self._table = self._table._replace(content=content)
        if not self._urls:
            program = find_program("etcd", package="etcd-server", download=self._downloads)
            self._nodes = self._nodes or Nodes(self.NAME, (), self._cut)
            self._places = server.start(program, self._nodes, self._count or 1)
        version = str(self._ask("maintenance/status", {}).get("version", "")).strip()
        self._start = int(self._ask("kv/range", {"key": encoded("isoscope")})["header"]["revision"])
        return f"etcd {version}"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Commits rows, some at a time."""
        kept = list(rows)
        with self._lock:
            for first in range(0, len(kept), _BATCH):
                puts = [self._put(key, value) for key, value in kept[first : first + _BATCH]]
                answer = self._ask("kv/txn", {"success": puts})
                self._initial.add(int(answer["header"]["revision"]))

    def session(self) -> EtcdSession:
        """A client of the first node."""
        return self.session_at(next(iter(self._places)))

    def session_at(self, node: str) -> EtcdSession:
        """A client of a node."""
        client = Client(*self._places[node])
        session = EtcdSession(client, self._table, self.isolation, is_local=self._is_local)
        self._sessions[node].append(session)
        return session

    def version_order(self) -> list[tuple[int, int]] | None:
        """The order of revisions, from a watch over all keys of the run."""
        if self._table.content == "list":
            return None
        # The last of all: the watch has no end of its own.
        end = f"{self._table.prefix}~"
        self._ask("kv/put", {"key": encoded(end), "value": encoded("")})
        found: list[tuple[int, int]] = []
        for event in self._events():
            if decoded(event["kv"]["key"]) == end:
                return found
            revision = int(event["kv"]["mod_revision"])
            # An event without a type is a put.
            if event.get("type", "PUT") == "PUT" and revision not in self._initial:
                found.append((self._key(event), int(decoded(event["kv"]["value"]))))
        raise DatabaseError("etcd ended the watch over the keys of the run")

    def close(self) -> None:
        """Stops the nodes, or removes the keys of the run."""
        for sessions in self._sessions.values():
            for session in sessions:
                session.close()
        self._sessions.clear()
        if self._nodes is not None:
            self._nodes.close()
        elif self._start:
            with suppress(DatabaseError):
                self._ask("kv/deleterange", self._everything())

    def _cut(self, node: str) -> None:
        for session in self._sessions[node]:
            session.client.cut()

    def _put(self, key: int, value: int) -> dict[str, Any]:
        text = self._table.text(() if self._table.content == "list" else value)
        return {"request_put": {"key": self._table.key(key), "value": text}}

    def _everything(self) -> dict[str, Any]:
        # `0` follows `/`, the last character of the prefix.
        return {
            "key": encoded(self._table.prefix),
            "range_end": encoded(f"{self._table.prefix[:-1]}0"),
        }

    def _events(self) -> Iterator[dict[str, Any]]:
        """All changes of keys of the run since it began, in the order of revisions."""
        client = Client(*next(iter(self._places.values())))
        try:
            for answer in client.watch({**self._everything(), "start_revision": str(self._start + 1)}):
                yield from answer.get("events", ())
        except Refused as error:
            raise DatabaseError(f"etcd refuses to show the changes: {error}") from None

    def _key(self, event: dict[str, Any]) -> int:
        return self._table.number(event["kv"]["key"])

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer of any node to a request that can be repeated."""
        end, problem = monotonic() + _PATIENCE, "no node answers"
        while True:
            for host, port in self._places.values():
                try:
                    with closing(Client(host, port)) as client:
                        return client.post(path, body)
                except (ConnectionLost, Refused) as error:
                    problem = f"etcd at {host}:{port} does not answer: {error}"
            if self._urls or monotonic() >= end:
                raise DatabaseError(
                    f"{problem}\n\nhint: the URL looks like {_URL}" if self._urls else problem
                )
            sleep(0.1)


DATABASE = Etcd


def _parse(url: str) -> tuple[str, int]:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.hostname and parts.port != 0 and not parts.path.strip("/") and parts.username is None:
            return parts.hostname, parts.port or _PORT
    raise UsageError(f"the URL of etcd makes no sense: {without_password(url)}\n\nhint: it looks like {_URL}")
