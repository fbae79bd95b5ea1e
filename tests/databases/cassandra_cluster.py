"""Three nodes of Cassandra that several runs share: they take minutes to start."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from isoscope.databases.cassandra import Cassandra
from isoscope.databases.cassandra.server import find_jars, start_nodes
from isoscope.databases.nodes import Nodes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = ["SharedCassandra", "shared_nodes"]


class SharedCassandra(Cassandra):
    """A keyspace on the shared nodes; their faults are those of the run."""

    running: ClassVar[tuple[Nodes, dict[str, str]] | None] = None

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:
        super().__init__(isolation, url=url, settings=settings)
        assert self.running is not None
        self._places = dict(self.running[1])
        self._has_urls = True

    def use_faults(self, kinds: Collection[str]) -> Nodes:
        """The shared nodes."""
        assert self.running is not None
        return self.running[0]


@contextmanager
def shared_nodes(kinds: Collection[str]) -> Iterator[None]:
    """Starts three nodes with these faults; raises `DatabaseError` if there are no jars."""
    jars = find_jars(download=False)
    nodes = Nodes("cassandra", kinds, print)
    try:
        SharedCassandra.running = nodes, start_nodes(nodes, 3, jars)
        yield
    finally:
        SharedCassandra.running = None
        nodes.close()
