"""Every level that speaks of versions, decided by trying every order of versions.

A level holds if no read is one that it forbids, and if the versions can be put in an order that contains
what is known and meets the level's condition: Adya 1999 (PL-1 to PL-3, PL-CS, PL-2L, PL-2+, PL-3U), Cerone
and Gotsman 2018 (parallel snapshot isolation), the BC-graph of `snapshot`, Terry et al. 1994 (session
guarantees). Verdicts never come from names: `cycles` has those. Cost: factorial, on purpose.

Decided where the definitions leave it open: the session guarantees forbid no single read, and infer nothing;
a non-repeatable read breaks whatever implies cut isolation, also where its versions are not known; an append
without a version (see `versions`) leaves undecided what is not violated. Real-time levels are judged by the
real time that is recorded, even if that is none.
"""

from __future__ import annotations

from functools import cache, cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from isoscope.levels import Level, implied
from isoscope.reference import reads, snapshot
from isoscope.reference.dependencies import Dependencies
from isoscope.reference.relation import closure, is_acyclic
from isoscope.reference.versions import Versions, coherent
from isoscope.reference.weak import has_kinds_set_aside
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from isoscope.history import History
    from isoscope.reference.dependencies import Edge, Graph
    from isoscope.reference.order import Version

    Condition: TypeAlias = Callable[[Graph], bool]

__all__ = ["DEFINITIONS", "LEVELS", "Definition", "Judge", "outcome", "outcomes", "overwritten"]

_DEPENDS = ("wr", "ww")
_READ = ("read-then-write",)
_SESSION = ("session",)
_REAL_TIME = ("session", "real-time")
#: Levels that do not speak of predicates count the rw of rows that a read shows, and no others.
_ITEMS = ("rw",)
_RW = snapshot.RW


def outcome(history: History, level: Level, assume: Iterable[str] = ()) -> Outcome:
    """Whether the level holds, given the user's claims; exact but for what is set aside."""
    return outcomes(history, assume, levels=(level,))[level]


def outcomes(
    history: History,
    assume: Iterable[str] = (),
    levels: Iterable[Level] | None = None,
    *,
    differs: bool | None = None,
) -> dict[Level, Outcome]:
    """The outcome of each level; where sources contradict each other, what all of them alone say.

    `differs`: whether a read is not repeatable, if the history does not tell that.
    """
    judges = [Judge(versions, differs=differs) for versions in coherent(history, tuple(assume))]
    asked = LEVELS if levels is None else tuple(levels)
    found = {level: {judge.outcome(level) for judge in judges} for level in asked}
    return {level: both.pop() if len(both) == 1 else Outcome.UNKNOWN for level, both in found.items()}


class Judge:
    """Judges a history by sources that do not contradict each other."""

    def __init__(self, versions: Versions, *, differs: bool | None = None) -> None:
        self.versions = versions
        self._differs = differs
        self.dependencies = Dependencies(versions)
        self.known = cache(lambda *rules: self.dependencies.under(versions.known(rules)))
        self.complete = cache(
            lambda *rules: [self.dependencies.under(order) for order in versions.completions(rules)]
        )

    @cached_property
    def reads(self) -> reads.Judgement:
        """What is wrong with single reads."""
        return reads.judge(self.versions.history)

    def outcome(self, level: Level) -> Outcome:
        """Whether the level holds by these sources."""
        if self.has_forbidden_reads(level) or not self.can_be_completed(level):
            return Outcome.VIOLATED
        return Outcome.UNKNOWN if self.is_undecided or self.is_forked(level) else Outcome.HOLDS

    def is_forked(self, level: Level) -> bool:
        """Whether lists that contradict each other leave open what the level asks for.

        One of them was taken for the order of versions, and might as well not have been.
        """
        found = {finding.name for finding in self.reads.findings}
        return "incompatible-order" in found and Level.PL_2 not in implied(level)

    def can_be_completed(self, level: Level) -> bool:
        """Whether some order of all versions meets the condition of the level."""
        rules, condition = DEFINITIONS[level]
        return any(condition(graph) for graph in self.complete(*rules))

    def known_breaks(self, level: Level) -> bool:
        """Whether nothing has to be completed to see that the level is broken."""
        rules, condition = DEFINITIONS[level]
        return not condition(self.known(*rules))

    def has_forbidden_reads(self, level: Level) -> bool:
        """Whether the level is broken by a single read, or by claims that cannot be true."""
        found = {finding.name for finding in self.reads.findings}
        if level in _GUARANTEES:
            return False
        if self._differs is not None:
            found = found - {"non-repeatable-read"} | ({"non-repeatable-read"} if self._differs else set())
        if Level.PL_2 not in implied(level):
            found &= {"duplicate-elements"}
        if Level.CUT_ISOLATION not in implied(level):
            found -= {"non-repeatable-read"}
        return bool(found or self.versions.cyclic_keys)

    @cached_property
    def is_undecided(self) -> bool:
        """Whether something was set aside."""
        return (
            self.reads.repeated_reads > 0
            or self.versions.has_unsure_appends
            or has_kinds_set_aside(self.versions.observed)
        )


# The conditions. Each is a definition, true of a graph under a complete order; under an order that is only
# partly known, one that is not met can never be.


def _acyclic(*names: str) -> Condition:
    """No cycle of these edges: G0 of ww alone, G1c with wr, G2-item with rw too."""
    return lambda graph: is_acyclic(closure(graph.relation(*names)))


def _no_single_rw_cycle(graph: Graph, times: tuple[str, ...] = (), rw: tuple[str, ...] = _RW) -> bool:
    """G1c and G-single: no cycle of dependencies, and none with one rw edge."""
    depends = closure(graph.relation(*_DEPENDS, *times))
    return is_acyclic(depends) and not any((b, a) in depends for a, b in graph.relation(*rw))


def _snapshot(graph: Graph, times: tuple[str, ...] = (), *, prefix: bool = False) -> bool:
    """The BC-graph has no cycle."""
    return is_acyclic(closure(snapshot.demands(graph.edges, times, prefix=prefix)))


def _cursor_stability(graph: Graph) -> bool:
    """PL-2, and no other transaction's version comes between the one that a transaction read and its own."""
    return _acyclic(*_DEPENDS)(graph) and not any(overwritten(graph))


def overwritten(graph: Graph) -> Iterator[tuple[int, object]]:
    """Transactions and keys that they update, though others wrote them after they read them."""
    for observation, seen in graph.versions.shown.items():
        others = [v for v in graph.versions.of_key[seen.key] if v.writer != observation.reader]
        for mine, other in product(graph.versions.by(seen.key, observation.reader), others):
            if {(seen, other), (other, mine)} <= graph.order.closed:
                yield observation.reader, seen.key


def _monotonic_view(graph: Graph) -> bool:
    """PL-2, and no read misses what an earlier operation, or the same, depends on (G-monotonic).

    By the same read alone there would be a cycle without rw: its overwriter depends on what it shows.
    """
    depends = closure(graph.relation(*_DEPENDS))
    if not is_acyclic(depends):
        return False
    return not any(
        missing.before == last.after
        and (missing.after == last.before or (missing.after, last.before) in depends)
        and _entered(last) <= missing.operations[0][1]
        for missing in graph.of(*_ITEMS)
        for last in graph.of(*_DEPENDS)
    )


def _entered(edge: Edge) -> int:
    """The place of the operation that depends on another transaction: a read by wr, a write by ww."""
    return edge.operations[0 if edge.relation == "wr" else -1][1]


def _update_serializable(graph: Graph) -> bool:
    """PL-2, and the transactions that write are serializable, with any single one of the others."""
    if not _acyclic(*_DEPENDS)(graph):
        return False
    writing = {
        t.number for t in graph.versions.transactions if any(o.kind in reads.INSTALLS for o in t.operations)
    }
    everything = graph.relation(*_DEPENDS, *_RW)
    return all(
        is_acyclic(closure(frozenset(pair for pair in everything if {*pair} <= writing | {number})))
        for number in graph.versions.counted
    )


def _guarantee(graph: Graph, *, first: str, second: str) -> bool:
    """In a session: the first transaction read or wrote a version; the second's is not an older one."""
    uses = {"read": _read, "write": _written}
    return not any(
        (later, earlier) in graph.order.closed
        for before, after in graph.versions.session_order
        for earlier, later in product(uses[first](graph, before), uses[second](graph, after))
        if second == "read" or earlier.writer != after
    )


def _read(graph: Graph, number: int) -> list[Version]:
    return [version for observation, version in graph.versions.seen.items() if observation.reader == number]


def _written(graph: Graph, number: int) -> list[Version]:
    return [v for versions in graph.versions.of_key.values() for v in versions if v.writer == number]


_GUARANTEES: dict[Level, Condition] = {
    Level.READ_YOUR_WRITES: partial(_guarantee, first="write", second="read"),
    Level.MONOTONIC_READS: partial(_guarantee, first="read", second="read"),
    Level.MONOTONIC_WRITES: partial(_guarantee, first="write", second="write"),
    Level.WRITES_FOLLOW_READS: partial(_guarantee, first="read", second="write"),
}


class Definition(NamedTuple):
    """What may be inferred of versions, because the opposite would break the level; and its condition."""

    rules: tuple[str, ...]
    condition: Condition


DEFINITIONS: dict[Level, Definition] = {
    Level.PL_1: Definition((), _acyclic("ww")),
    Level.STRONG_SESSION_PL_1: Definition(_SESSION, _acyclic("ww", *_SESSION)),
    Level.STRONG_PL_1: Definition(_REAL_TIME, _acyclic("ww", *_REAL_TIME)),
    Level.PL_2: Definition(_READ, _acyclic(*_DEPENDS)),
    Level.STRONG_SESSION_PL_2: Definition(_READ + _SESSION, _acyclic(*_DEPENDS, *_SESSION)),
    Level.STRONG_PL_2: Definition(_READ + _REAL_TIME, _acyclic(*_DEPENDS, *_REAL_TIME)),
    Level.CURSOR_STABILITY: Definition(_READ, _cursor_stability),
    Level.MONOTONIC_VIEW: Definition(_READ, _monotonic_view),
    # Without predicates, Adya's PL-2+ is parallel snapshot isolation.
    Level.CONSISTENT_VIEW: Definition(_READ, partial(_no_single_rw_cycle, rw=_ITEMS)),
    Level.PARALLEL_SNAPSHOT_ISOLATION: Definition(_READ, _no_single_rw_cycle),
    Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION: Definition(
        _READ + _SESSION,
        partial(_no_single_rw_cycle, times=_SESSION),
    ),
    Level.UPDATE_SERIALIZABLE: Definition(_READ, _update_serializable),
    Level.PREFIX: Definition(_READ + _SESSION, partial(_snapshot, times=_SESSION, prefix=True)),
    Level.SNAPSHOT_ISOLATION: Definition(_READ, _snapshot),
    Level.STRONG_SESSION_SNAPSHOT_ISOLATION: Definition(_READ + _SESSION, partial(_snapshot, times=_SESSION)),
    Level.STRONG_SNAPSHOT_ISOLATION: Definition(_READ + _REAL_TIME, partial(_snapshot, times=_REAL_TIME)),
    # Without predicates, PL-2.99 is PL-3.
    Level.REPEATABLE_READ: Definition(_READ, _acyclic(*_DEPENDS, *_ITEMS)),
    Level.SERIALIZABLE: Definition(_READ, _acyclic(*_DEPENDS, *_RW)),
    Level.STRONG_SESSION_SERIALIZABLE: Definition(_READ + _SESSION, _acyclic(*_DEPENDS, *_RW, *_SESSION)),
    Level.STRICT_SERIALIZABLE: Definition(_READ + _REAL_TIME, _acyclic(*_DEPENDS, *_RW, *_REAL_TIME)),
    **{level: Definition((), condition) for level, condition in _GUARANTEES.items()},
}
#: All levels that are decided here.
LEVELS = tuple(level for level in Level if level in DEFINITIONS)
