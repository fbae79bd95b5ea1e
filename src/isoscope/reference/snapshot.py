"""Snapshot isolation, defined three times: for given orders of all versions, all three say the same.

- `bc_graph`: every transaction begins and commits; what depends on it begins after its commit, and what
  overwrote its reads commits after its begin. The graph of these demands has no cycle.
- `adya`: there is an order of all begins and commits which contains the given one, and under which none of
  G1c, G-SIa and G-SIb occurs (Adya 1999, Section 4.3). That such an order *exists* is asked, not that one
  which was recorded is good: only so the first two definitions agree.
- `operational`: begins and commits happen one after the other; a transaction reads what was committed when
  it began, and commits only if no other has committed a version of its keys since.

All three take for granted that the reads are none of those that `reads` forbids (G1a and G1b are among them).
`VARIANTS` says which commits must come before which begins: none (generalized snapshot isolation, which is
the plain one), those of the session (strong session), or all that were over (strong).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from isoscope.reference.dependencies import relation
from isoscope.reference.relation import closure, is_acyclic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.reference.dependencies import Edge, Graph
    from isoscope.reference.order import Version
    from isoscope.reference.relation import Relation

__all__ = ["VARIANTS", "Event", "adya", "bc_graph", "demands", "operational"]

#: A begin or a commit: `("begin", 3)`.
Event: TypeAlias = tuple[str, int]

#: Reads that others overwrote, those of keys that a range read leaves out as well.
RW = ("rw", "predicate-rw")

#: The names of the edges that put a commit before a begin besides dependencies.
VARIANTS: dict[str, tuple[str, ...]] = {
    "generalized": (),
    "strong session": ("session",),
    "strong": ("session", "real-time"),
}


def demands(
    edges: Iterable[Edge], times: tuple[str, ...] = (), *, prefix: bool = False
) -> frozenset[tuple[Event, Event]]:
    """The BC-graph; `prefix`: two that overlap may write the same key, and only their commits are ordered."""
    edges = list(edges)
    numbers = {number for edge in edges for number in edge[:2]}
    pairs: set[tuple[Event, Event]] = {(("begin", n), ("commit", n)) for n in numbers}
    for before, after in relation(edges, "wr", *times, *(() if prefix else ("ww",))):
        pairs.add((("commit", before), ("begin", after)))
    for before, after in relation(edges, "ww") if prefix else ():
        pairs.add((("commit", before), ("commit", after)))
    for before, after in relation(edges, *RW):
        pairs.add((("begin", before), ("commit", after)))
    return frozenset(pairs)


def bc_graph(graph: Graph, variant: str = "generalized") -> bool:
    """Whether the demands on begins and commits can be met."""
    return is_acyclic(closure(demands(graph.edges, VARIANTS[variant])))


def adya(graph: Graph, variant: str = "generalized") -> bool:
    """Whether an order of begins and commits shows none of Adya's phenomena."""
    depends = graph.relation("wr", "ww")
    given = graph.relation(*VARIANTS[variant])
    if not is_acyclic(closure(depends)):  # G1c
        return False
    for events in _interleavings(tuple(sorted(graph.versions.counted)), given | depends):
        starts = frozenset(_start_depends(events))
        # G-SIa: a dependency without a start-dependency. An order with one cannot be the right one.
        if given | depends <= starts and not _has_single_rw_cycle(starts | depends, graph.relation(*RW)):
            return True
    return False


def _has_single_rw_cycle(others: Relation, rw: Relation) -> bool:
    """G-SIb: a cycle with exactly one rw edge."""
    reachable = closure(others)
    return any((after, before) in reachable for before, after in rw)


def _start_depends(events: tuple[Event, ...]) -> Iterator[tuple[int, int]]:
    """One begins after the other has committed."""
    for place, (kind, number) in enumerate(events):
        if kind == "begin":
            yield from ((earlier, number) for what, earlier in events[:place] if what == "commit")


def _interleavings(
    waiting: tuple[int, ...], order: Relation, running: tuple[int, ...] = ()
) -> Iterator[tuple[Event, ...]]:
    """Every sequence of begins and commits in which each begin follows the commits that must come first."""
    if not waiting and not running:
        yield ()
    for number in waiting:
        if not any((other, number) in order for other in (*waiting, *running)):
            rest = tuple(other for other in waiting if other != number)
            for events in _interleavings(rest, order, (*running, number)):
                yield (("begin", number), *events)
    for number in running:
        rest = tuple(other for other in running if other != number)
        for events in _interleavings(waiting, order, rest):
            yield (("commit", number), *events)


def operational(graph: Graph, variant: str = "generalized") -> bool:
    """Whether begins and commits can happen so that every read, and every version, is where it should be."""
    waiting = frozenset(graph.versions.counted)
    store = {key: versions[0] for key, versions in graph.versions.of_key.items()}
    return _Store(graph, graph.relation(*VARIANTS[variant])).can_run(waiting, {}, store)


@dataclass(frozen=True)
class _Store:
    graph: Graph
    given: Relation

    @cached_property
    def after(self) -> dict[Version, Version]:
        return dict(self.graph.order.neighbours.keys())

    @cached_property
    def reads(self) -> list[tuple[int, Version]]:
        return [(o.reader, version) for o, version in self.graph.versions.seen.items()]

    def can_run(
        self,
        waiting: frozenset[int],
        running: dict[int, dict[object, Version]],
        store: dict[object, Version],
    ) -> bool:
        """Whether all can commit; `running` has what was committed when each of them began."""
        if not waiting and not running:
            return True
        for number in waiting:
            if self.can_begin(number, waiting | running.keys(), store) and self.can_run(
                waiting - {number}, {**running, number: store}, store
            ):
                return True
        for number, snapshot in running.items():
            rest = {other: began for other, began in running.items() if other != number}
            committed = self.committed(number, snapshot, store)
            if committed is not None and self.can_run(waiting, rest, committed):
                return True
        return False

    def can_begin(self, number: int, alive: frozenset[int], store: dict[object, Version]) -> bool:
        if any((other, number) in self.given for other in alive):
            return False
        return all(store[version.key] == version for reader, version in self.reads if reader == number)

    def committed(
        self, number: int, snapshot: dict[object, Version], store: dict[object, Version]
    ) -> dict[object, Version] | None:
        """What the store is after the commit; None if it has to be refused."""
        for key, latest in store.items():
            mine = self.graph.versions.by(key, number)
            if not mine:
                continue
            is_next = all(self.after.get(v) == w for v, w in pairwise((latest, *mine)))
            if snapshot[key] != latest or not is_next:
                return None
            store = {**store, key: mine[-1]}
        return store
