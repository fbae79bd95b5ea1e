"""The names of cycles, read off the edges that are known without any trying, and how often each is found.

Verdicts never come from names: `adya` decides without them. Adya 1999 has G0, G1c, G-single and G2-item; a
long fork is a cycle of snapshot isolation whose rw edges are not neighbours (Cerone and Gotsman 2018).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from isoscope.history import Status
from isoscope.levels import Level, implied
from isoscope.reference import snapshot
from isoscope.reference.adya import LEVELS, Judge, overwritten
from isoscope.reference.dependencies import relation
from isoscope.reference.relation import closure, components
from isoscope.reference.versions import Versions, coherent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from isoscope.history import History
    from isoscope.reference.dependencies import Edge, Graph
    from isoscope.reference.order import Version
    from isoscope.reference.relation import Relation

    Edges: TypeAlias = Iterable[Edge]
    #: The components of some edges with times.
    Cycles: TypeAlias = Callable[[Edges, tuple[str, ...]], frozenset[frozenset[int]]]

__all__ = ["names"]

_DEPENDS = ("wr", "ww")
_READ = ("read-then-write",)
_SESSION = ("session",)
_REAL_TIME = ("session", "real-time")


def names(history: History, assume: Iterable[str] = ()) -> Mapping[str, int]:
    """How often each anomaly of versions is found in what is known, those that are not found left out.

    Where sources contradict each other, by the strongest one.
    """
    claims = tuple(assume)
    judge = Judge(coherent(history, claims)[0])
    found = Counter[str](_cycles(judge))
    lost = _lost_updates(judge.known(*_READ))
    found["lost-update"] = len(lost)
    found["phantom"] = len(_phantoms(judge.known(*_READ)))
    found["dirty-update"] = len(set(_dirty_updates(judge.versions)))
    found["cyclic-versions"] = len(judge.versions.cyclic_keys)
    found["contradictory-evidence"] = len(Versions(history, assume=claims).contradictions)
    found["no-commit-order"] = sum(_has_no_commit_order(judge, level, lost) for level in LEVELS)
    return {name: count for name, count in found.items() if count}


def _has_no_commit_order(judge: Judge, level: Level, lost: set[tuple[int, object]]) -> bool:
    """Whether every completion breaks the level though nothing that is known does."""
    is_lost = bool(lost) and Level.CURSOR_STABILITY in implied(level)
    if judge.has_forbidden_reads(level) or is_lost:
        return False
    return not judge.known_breaks(level) and not judge.can_be_completed(level)


def _lost_updates(graph: Graph) -> set[tuple[int, object]]:
    """Transactions and keys: others wrote what they read and then updated.

    Of those that read the same version, one can be the next: the first that is not known to be too late.
    A transaction that saw a version which came only after its own updated something else.
    """
    lost = set(overwritten(graph))
    for seen in set(graph.versions.shown.values()):
        readers = {o.reader for o, version in graph.versions.shown.items() if version == seen}
        updating = sorted(reader for reader in readers if _may_update(graph, reader, seen))
        lost.update([(number, seen.key) for number in updating if (number, seen.key) not in lost][1:])
    return lost


def _may_update(graph: Graph, reader: int, seen: Version) -> bool:
    own = graph.versions.by(seen.key, reader)
    return any(mine != seen and (mine, seen) not in graph.order.closed for mine in own)


def _phantoms(graph: Graph) -> set[tuple[int, object]]:
    """Readers and keys that they left out: no circle of dependencies and reads of rows would do."""
    without = components(graph.relation(*_DEPENDS, "rw"))
    everything = components(graph.relation(*_DEPENDS, *snapshot.RW))
    return {
        (edge.before, edge.key)
        for edge in graph.of("predicate-rw")
        if _is_within({edge[:2]}, *everything) and not _is_within({edge[:2]}, *without)
    }


def _dirty_updates(versions: Versions) -> Iterator[tuple[int, object]]:
    """Transactions that appended behind an aborted append, by key."""
    for key, elements in versions.observed.canonical_lists.items():
        is_behind = False
        for element in elements:
            writer = versions.observed.writer(key, element)
            if is_behind and writer is not None:
                yield writer, key
            possible = [t for t in versions.transactions if element in versions.values(t, key).values()]
            is_behind |= bool(possible) and all(t.status is Status.ABORTED for t in possible)


def _cycles(judge: Judge) -> Counter[str]:
    """Cycles of known edges, by components or by the reads that close them; weaker times first."""
    found = Counter[str]()
    lost: set[object] = {*_lost_updates(judge.known(*_READ))}
    for suffix, times, weaker in (
        ("", (), None),
        ("-session", _SESSION, ()),
        ("-real-time", _REAL_TIME, _SESSION),
    ):
        closed = _Closed(judge, times, weaker, lost)
        for name, things in closed.things().items():
            found[name + suffix] = len(things)
        lost |= closed.skewed
    return found


class _Closed:
    """What is closed with these times and not with weaker ones; read skews are set aside from all others.

    A component that contains one of weaker times has a cycle that needs no stronger ones.
    """

    def __init__(
        self, judge: Judge, times: tuple[str, ...], weaker: tuple[str, ...] | None, lost: set[object]
    ) -> None:
        self.judge = judge
        self.times = times
        self.weaker = weaker
        self.lost = lost
        self.graph = judge.known(*_READ, *times)
        self.depends = closure(self.graph.relation(*_DEPENDS, *times))
        self.knots = components(self.graph.relation(*_DEPENDS, *times))
        self.skewed = {(e.before, e.key) for e in self.graph.of("rw") if (e.after, e.before) in self.depends}

    def things(self) -> dict[str, set[object]]:
        # A ww edge that was inferred hides no wr edge: the read shows it, whatever else shows the order.
        new = self.graph.relation("wr") - self.judge.known().relation("ww")
        rw = relation(self.left(self.graph.edges), "rw")
        return {
            "write-cycle": {*self.needed(_circles("ww"), ())},
            "circular-information-flow": {
                knot for knot in self.needed(_circles(*_DEPENDS), _READ) if _is_within(new, knot)
            },
            "read-skew": {*self.skewed - self.lost},
            "long-fork": {*self.needed(_forks, _READ, self.left)},
            "write-skew": {
                knot
                for knot in self.needed(_circles(*_DEPENDS, "rw"), _READ, self.left)
                if _has_two_in_a_row(rw, knot)
            },
        }

    def needed(
        self, cycles: Cycles, rules: tuple[str, ...], kept: Callable[[Edges], Edges] = list
    ) -> Iterator[frozenset[int]]:
        """The components of edges that are kept, if they contain none of weaker times."""
        weaker = self.judge.known(*rules, *self.weaker).edges if self.weaker is not None else ()
        without = cycles(kept(weaker), self.weaker or ())
        for knot in cycles(kept(self.judge.known(*rules, *self.times).edges), self.times):
            if not any(other <= knot for other in without):
                yield knot

    def left(self, edges: Edges) -> Edges:
        """The edges without those of cycles that have other names: of dependencies, or of one rw edge."""
        return [e for e in edges if not self.is_skewed(e) and not _is_within({e[:2]}, *self.knots)]

    def is_skewed(self, edge: Edge) -> bool:
        is_closing = (edge.after, edge.before) in self.depends
        return edge.relation == "rw" and (is_closing or (edge.before, edge.key) in self.lost)


def _circles(*names: str) -> Cycles:
    return lambda edges, times: components(relation(edges, *names, *times))


def _forks(edges: Edges, times: tuple[str, ...]) -> frozenset[frozenset[int]]:
    items = [edge for edge in edges if edge.relation != "predicate-rw"]
    knots = components(snapshot.demands(items, times))
    return frozenset(frozenset(number for _, number in knot) for knot in knots)


def _is_within(pairs: Iterable[tuple[int, int]], *knots: frozenset[int]) -> bool:
    return any({*pair} <= knot for pair in pairs for knot in knots)


def _has_two_in_a_row(rw: Relation, knot: frozenset[int]) -> bool:
    inside = [pair for pair in rw if {*pair} <= knot]
    return any(first[1] == second[0] for first in inside for second in inside)
