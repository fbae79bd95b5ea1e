"""The nodes of a database that was started for a run, and the faults that can be injected into them."""

from __future__ import annotations

import shutil
from random import randrange
from typing import TYPE_CHECKING

from isoscope.databases.database import refuse_unknown
from isoscope.databases.network import Network, can_make_network
from isoscope.databases.process import Server, free_port
from isoscope.databases.relays import Relays, refuse_relays
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Collection, Sequence

    from isoscope.databases.links import Links

__all__ = ["FAULTS", "MOST_NODES", "Nodes"]

#: How many can be started.
MOST_NODES = 9
#: What each fault does.
FAULTS = {
    "kill": "ends the processes of a node at once (kill -9), and starts it again",
    "pause": "stops the processes of a node (SIGSTOP), and lets them go on",
    "partition": "cuts a node off from the other nodes; clients still reach it",
    "slow": "delays all that a node and the other nodes send each other by 100 ms in each direction",
    "cut": "cuts the connections of all sessions at a node",
    "old-data": "as kill, and the node starts again with the data folder that it had when the run began",
}
#: Seconds that a node may take to be ready again.
_PATIENCE = 20.0
#: A fault, and the folder that it needs.
_OLD = "old-data"
#: Faults of the links between nodes.
_OF_LINKS = ("partition", "slow")
_LOCAL = "127.0.0.1"


class Nodes:
    """Servers called n1, n2, ... on this machine; `cut` closes the connections of sessions at a node.

    Faults of links are made by network namespaces for root, else by relays: `relayed` says where nodes find
    each other.
    """

    def __init__(self, name: str, kinds: Collection[str], cut: Callable[[str], None]) -> None:
        for kind in kinds:
            refuse_unknown(f"fault for {name}", kind, FAULTS)
        self._name, self._kinds, self._cut = name, frozenset(kinds), cut
        self._needs_relays = _needs_relays(kinds)
        self._network: Network | None = None
        self._relays: Relays | None = None
        self.servers: dict[str, Server] = {}
        #: Nodes that were killed at least once.
        self.killed: set[str] = set()
        self.addresses: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(self.addresses)

    def make(
        self,
        count: int,
        *,
        users: Sequence[str] = (),
        stop_signal: signal.Signals | None = None,
        has_own_addresses: bool = False,
    ) -> None:
        """Makes folders and addresses for so many nodes; no process is started yet.

        With `has_own_addresses`, each node has another address of this machine, so that all can use one port.
        """
        local = f"127.{randrange(1, 128)}.{randrange(1, 255)}" if has_own_addresses else ""
        if not self._needs_relays and not self._kinds.isdisjoint(_OF_LINKS):
            self._network = Network(count)
        for number in range(count):
            name = f"n{number + 1}"
            here = f"{local}.{number + 1}" if local else _LOCAL
            self.addresses[name] = self._network.addresses[number] if self._network else here
            namespace = self._network.namespaces[number] if self._network else None
            signals = {} if stop_signal is None else {"stop_signal": stop_signal, "guard_signal": stop_signal}
            self.servers[name] = Server(self._name, users=users, namespace=namespace, **signals)
        if self._needs_relays:
            self._relays = Relays([server.processes for server in self.servers.values()])

    def relayed(self, node: str, port: int) -> tuple[str, int]:
        """Where other nodes reach a port of a node: at the node itself, or at a relay with the same port."""
        place = self.addresses[node], port
        return place if self._relays is None else self._relays.add(self.names.index(node), place)

    def port(self, usual: int) -> int:
        """A free port here; in a namespace of its own every port is free."""
        return usual if self._network else free_port()

    @property
    def is_faulty(self) -> bool:
        """Whether faults will be injected."""
        return bool(self._kinds)

    @property
    def keeps_data(self) -> bool:
        """Whether a node may start again with the data that it had when the run began."""
        return _OLD in self._kinds

    def keep_data(self, *names: str) -> None:
        """Keeps a copy of the data folder of these nodes, or of all, for `old-data`; they must not run."""
        if self.keeps_data:
            for name in names or self.names:
                self._copied(self.servers[name], "data", _OLD)

    def inject(self, kind: str, node: str) -> None:
        """Begins a fault."""
        server = self.servers[node]
        if kind == _OLD and not (server.folder / _OLD).is_dir():
            raise DatabaseError(f"{node} keeps its data: no other node has all of it")
        if kind == "cut":
            self._cut(node)
        elif kind == "pause":
            server.pause()
        elif kind == "partition":
            self._links.isolate(self.names.index(node))
        elif kind == "slow":
            self._links.slow_down(self.names.index(node))
        else:
            self.killed.add(node)
            server.kill()

    def heal(self, kind: str, node: str) -> str:
        """Ends a fault."""
        server = self.servers[node]
        if kind == "pause":
            server.resume()
        elif kind == "partition":
            self._links.rejoin(self.names.index(node))
        elif kind == "slow":
            self._links.speed_up(self.names.index(node))
        elif kind in ("kill", _OLD):
            if kind == _OLD:
                self._copied(server, _OLD, "data")
            return self._restarted(server)
        return ""

    @property
    def _links(self) -> Links:
        links = self._network or self._relays
        assert links is not None
        return links

    def _restarted(self, server: Server) -> str:
        try:
            server.restart(seconds=_PATIENCE)
        except DatabaseError as error:
            return " ".join(str(error).split())
        return ""

    def _copied(self, server: Server, source: str, target: str) -> None:
        shutil.rmtree(server.folder / target, ignore_errors=True)
        server.run(["cp", "-a", source, target])

    def close(self, stop: Callable[[Server], None] | None = None) -> None:
        """Stops all nodes, kindly with `stop`, and removes everything; never fails."""
        for server in self.servers.values() if stop is None else ():
            server.kill()  # their data is not needed any more
        for server in self.servers.values():
            (stop or Server.stop)(server)
        self.servers.clear()
        for links in (self._network, self._relays):
            if links is not None:
                links.close()
        self._network = self._relays = None


def _needs_relays(kinds: Collection[str]) -> bool:
    """Whether faults of links are made by relays; raises `UsageError` if they cannot be made at all."""
    of_links = [kind for kind in _OF_LINKS if kind in kinds]
    if all(map(can_make_network, of_links)):
        return False
    refuse_relays(of_links[0])
    return True
