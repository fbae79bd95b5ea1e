"""Dependencies: the direct serialization graph of Adya 1999, Section 4.4, with sessions and real time.

Nodes are transactions that count as committed. Given an order of versions, complete or not, an edge is

- `wr`: one wrote a value, or an element of a list, that an external read of the other shows; or it is a first
  transaction, and the other read one of its keys;
- `ww`: one wrote a version, and the other the version right after it;
- `rw`: a read of one saw a version as the last one, and the other wrote the version right after it;
- `predicate-rw`: the same, where the read is of a key that a range read leaves out;
- `session`: one came before the other in a session;
- `real-time`: one was over before the other began, or `session`.

In an order that is not complete, a version may have several right after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from isoscope.reference import reads
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.reference.observations import Observation
    from isoscope.reference.order import Order, Version
    from isoscope.reference.relation import Relation
    from isoscope.reference.versions import Versions

__all__ = ["Dependencies", "Edge", "Graph", "Place", "relation"]

#: An operation: the number of its transaction, and its place there.
Place: TypeAlias = tuple[int, int]


class Edge(NamedTuple):
    """`before` comes before `after` because of `operations`.

    wr: read, write. ww: first write, second write; of a list that was read: the longest read, first append,
    second append. rw: read, write. `source` says why two versions are in this order (see `versions`).
    """

    before: int
    after: int
    relation: str
    key: object = None
    operations: tuple[Place, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Graph:
    """The edges of a history under one order of its versions."""

    versions: Versions
    order: Order
    edges: frozenset[Edge]

    def relation(self, *names: str) -> Relation:
        """The pairs of transactions with an edge of one of these names."""
        return relation(self.edges, *names)

    def of(self, *names: str) -> list[Edge]:
        """The edges of these names."""
        return [edge for edge in self.edges if edge.relation in names]


def relation(edges: Iterable[Edge], *names: str) -> Relation:
    """The pairs of transactions with one of these edges that has one of these names."""
    return frozenset((edge.before, edge.after) for edge in edges if edge.relation in names)


class Dependencies:
    """The edges of a history: some of them depend on the order of versions."""

    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self._fixed = (*self._write_read(), *self._times())

    def under(self, order: Order) -> Graph:
        """All edges, if the versions are in this order."""
        edges = (*self._fixed, *self._write_write(order), *self._read_write(order))
        return Graph(self.versions, order, frozenset(e for e in edges if e.before != e.after))

    def _write_read(self) -> Iterator[Edge]:
        for observation in self.versions.observed.all:
            for write in self._shown(observation):
                operations = ((observation.reader, observation.place), write)
                yield Edge(write[0], observation.reader, "wr", observation.key, operations)
            # What reads the state before a first transaction comes after it all the same.
            for version in self.versions.inserted_first(observation):
                operations = ((observation.reader, observation.place), _place(version))
                yield Edge(version.writer, observation.reader, "wr", observation.key, operations)

    def _shown(self, observation: Observation) -> Iterator[Place]:
        """The writes that a read shows; of a register, also one that its writer replaced."""
        if self.versions.observed.shapes[observation.key] == "list":
            shown = self.versions.elements(observation)
            yield from (_place(version) for version in shown if version.writer in observation.seen)
            return
        read = self.versions.operation(observation)
        for writer in observation.seen:
            values = self.versions.values(self.versions.transactions[writer], observation.key)
            is_any = reads.asked(read) is not None
            yield writer, max(p for p, value in values.items() if is_any or value == reads.token(read.value))

    def _write_write(self, order: Order) -> Iterator[Edge]:
        for (before, after), source in order.neighbours.items():
            if before.writer != INITIAL:
                read = self._canonical_read(before.key) if source == "list read" else ()
                operations = (*read, _place(before), _place(after))
                yield Edge(before.writer, after.writer, "ww", before.key, operations, source)

    def _read_write(self, order: Order) -> Iterator[Edge]:
        for observation, seen in self.versions.seen.items():
            is_item = not reads.is_left_out(self.versions.operation(observation))
            name = "rw" if is_item else "predicate-rw"
            for (before, after), source in order.neighbours.items():
                if before == seen:
                    operations = ((observation.reader, observation.place), _place(after))
                    yield Edge(observation.reader, after.writer, name, seen.key, operations, source)

    def _times(self) -> Iterator[Edge]:
        yield from (Edge(*pair, "session") for pair in self.versions.session_order)
        yield from (Edge(*pair, "real-time") for pair in self.versions.real_time)

    def _canonical_read(self, key: object) -> tuple[Place, ...]:
        canonical = self.versions.observed.canonical_lists[key]
        for observation in self.versions.observed.all:
            if observation.key == key and self.versions.foreign_part(observation) == canonical:
                read = self.versions.operation(observation)
                if not reads.shows_duplicates(self.versions.transactions, read):
                    return ((observation.reader, observation.place),)
        return ()


def _place(version: Version) -> Place:
    return version.writer, version.place
