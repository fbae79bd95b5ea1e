"""Every level that speaks of versions, decided by trying every order of versions; and the names of cycles.

A level holds if no read is one that it forbids, and if the versions can be put in an order that contains
what is known and meets the level's condition: Adya 1999 (PL-1 to PL-3, PL-CS, PL-2L, PL-2+, PL-3U), Cerone
and Gotsman 2018 (parallel snapshot isolation), the BC-graph of `snapshot`, Terry et al. 1994 (session
guarantees). Verdicts never come from names: those are read off the edges that are known without any trying.
Cost: factorial, on purpose.

Decided where the definitions leave it open: the session guarantees forbid no single read, and infer nothing;
a non-repeatable read breaks whatever implies cut isolation, also where its versions are not known; an append
without a version (see `versions`) leaves undecided what is not violated. Real-time levels are judged by the
real time that is recorded, even if that is none.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from isoscope.history import OperationKind, Status
from isoscope.levels import Level, implied
from isoscope.reference import reads, snapshot
from isoscope.reference.dependencies import Dependencies, relation
from isoscope.reference.versions import Versions
from isoscope.reference.weak import closure, components, has_kinds_set_aside, is_acyclic
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from isoscope.history import History
    from isoscope.reference.dependencies import Edge, Graph
    from isoscope.reference.versions import Version
    from isoscope.reference.weak import Relation

    Condition: TypeAlias = Callable[[Graph], bool]

__all__ = ["DEFINITIONS", "LEVELS", "Definition", "names", "outcome", "outcomes"]

_DEPENDS = ("wr", "ww")
_READ = ("read-then-write",)
_SESSION = ("session",)
_REAL_TIME = ("session", "real-time")
_WRITES = (*reads.INSTALLS, OperationKind.DELETE)


def outcome(history: History, level: Level, assume: Iterable[str] = ()) -> Outcome:
    """Whether the level holds, given the user's claims; exact but for what is set aside."""
    return outcomes(history, assume, levels=(level,))[level]


def outcomes(
    history: History, assume: Iterable[str] = (), levels: Iterable[Level] | None = None
) -> dict[Level, Outcome]:
    """The outcome of each level; where sources contradict each other, what all of them alone say."""
    judges = _judges(history, tuple(assume))
    asked = LEVELS if levels is None else tuple(levels)
    found = {level: {judge.outcome(level) for judge in judges} for level in asked}
    return {level: both.pop() if len(both) == 1 else Outcome.UNKNOWN for level, both in found.items()}


def _judges(history: History, assume: tuple[str, ...]) -> list[_Judge]:
    """One for all sources; one for each, the strongest first, if they contradict each other."""
    versions = Versions(history, assume=assume)
    if not versions.contradictions:
        return [_Judge(versions)]
    return [_Judge(Versions(history, assume=assume, sources=[source])) for source in versions.speaking]


class _Judge:
    """Judges a history by sources that do not contradict each other."""

    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self.dependencies = Dependencies(versions)
        self.known = cache(lambda *rules: self.dependencies.under(versions.known(rules)))
        self.complete = cache(
            lambda *rules: [self.dependencies.under(order) for order in versions.completions(rules)]
        )

    @cached_property
    def reads(self) -> reads.Judgement:
        return reads.judge(self.versions.history)

    def outcome(self, level: Level) -> Outcome:
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
        rules, condition = DEFINITIONS[level]
        return any(condition(graph) for graph in self.complete(*rules))

    def known_breaks(self, level: Level) -> bool:
        """Whether nothing has to be completed to see that the level is broken."""
        rules, condition = DEFINITIONS[level]
        return not condition(self.known(*rules))

    def has_forbidden_reads(self, level: Level) -> bool:
        found = {finding.name for finding in self.reads.findings}
        if level in _GUARANTEES:
            return False
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
            or has_kinds_set_aside(self.versions.history, self.versions.observed)
        )


# The conditions. Each is a definition, true of a graph under a complete order; under an order that is only
# partly known, one that is not met can never be.


def _acyclic(*names: str) -> Condition:
    """No cycle of these edges: G0 of ww alone, G1c with wr, G2-item with rw too."""
    return lambda graph: is_acyclic(closure(graph.relation(*names)))


def _no_single_rw_cycle(graph: Graph, times: tuple[str, ...] = ()) -> bool:
    """G1c and G-single: no cycle of dependencies, and none with one rw edge."""
    depends = closure(graph.relation(*_DEPENDS, *times))
    return is_acyclic(depends) and not any((b, a) in depends for a, b in graph.relation("rw"))


def _snapshot(graph: Graph, times: tuple[str, ...] = (), *, prefix: bool = False) -> bool:
    """The BC-graph has no cycle."""
    return is_acyclic(closure(snapshot.demands(graph.edges, times, prefix=prefix)))


def _cursor_stability(graph: Graph) -> bool:
    """PL-2, and no other transaction's version comes between the one that a transaction read and its own."""
    return _acyclic(*_DEPENDS)(graph) and not any(_overwritten(graph))


def _overwritten(graph: Graph) -> Iterator[tuple[int, object]]:
    """Transactions and keys that they update, though others wrote them after they read them."""
    for observation, seen in graph.versions.seen.items():
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
        for missing in graph.of("rw")
        for last in graph.of(*_DEPENDS)
    )


def _entered(edge: Edge) -> int:
    """The place of the operation that depends on another transaction: a read by wr, a write by ww."""
    return edge.operations[0 if edge.relation == "wr" else -1][1]


def _update_serializable(graph: Graph) -> bool:
    """PL-2, and the transactions that write are serializable, with any single one of the others."""
    if not _acyclic(*_DEPENDS)(graph):
        return False
    writing = {t.number for t in graph.versions.transactions if any(o.kind in _WRITES for o in t.operations)}
    everything = graph.relation(*_DEPENDS, "rw")
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
    Level.CONSISTENT_VIEW: Definition(_READ, _no_single_rw_cycle),
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
    Level.REPEATABLE_READ: Definition(_READ, _acyclic(*_DEPENDS, "rw")),
    Level.SERIALIZABLE: Definition(_READ, _acyclic(*_DEPENDS, "rw")),
    Level.STRONG_SESSION_SERIALIZABLE: Definition(_READ + _SESSION, _acyclic(*_DEPENDS, "rw", *_SESSION)),
    Level.STRICT_SERIALIZABLE: Definition(_READ + _REAL_TIME, _acyclic(*_DEPENDS, "rw", *_REAL_TIME)),
    **{level: Definition((), condition) for level, condition in _GUARANTEES.items()},
}
#: All levels that are decided here.
LEVELS = tuple(level for level in Level if level in DEFINITIONS)


# Names.


def names(history: History, assume: Iterable[str] = ()) -> Mapping[str, int]:
    """How often each anomaly of versions is found in what is known, those that are not found left out.

    Where sources contradict each other, by the strongest one.
    """
    claims = tuple(assume)
    judge = _judges(history, claims)[0]
    found = Counter[str](_cycles(judge))
    lost = _lost_updates(judge.known(*_READ))
    found["lost-update"] = len(lost)
    found["dirty-update"] = len(set(_dirty_updates(judge.versions)))
    found["cyclic-versions"] = len(judge.versions.cyclic_keys)
    found["contradictory-evidence"] = len(Versions(history, assume=claims).contradictions)
    found["no-commit-order"] = sum(_has_no_commit_order(judge, level, lost) for level in LEVELS)
    return {name: count for name, count in found.items() if count}


def _has_no_commit_order(judge: _Judge, level: Level, lost: set[tuple[int, object]]) -> bool:
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
    lost = set(_overwritten(graph))
    for seen in set(graph.versions.seen.values()):
        readers = {o.reader for o, version in graph.versions.seen.items() if version == seen}
        updating = sorted(reader for reader in readers if _may_update(graph, reader, seen))
        lost.update([(number, seen.key) for number in updating if (number, seen.key) not in lost][1:])
    return lost


def _may_update(graph: Graph, reader: int, seen: Version) -> bool:
    own = graph.versions.by(seen.key, reader)
    return any(mine != seen and (mine, seen) not in graph.order.closed for mine in own)


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


def _cycles(judge: _Judge) -> Counter[str]:
    """Cycles of known edges, by components or by the reads that close them; weaker times first."""
    found = Counter[str]()
    earlier: dict[str, set[object]] = {}
    lost: set[object] = {*_lost_updates(judge.known(*_READ))}
    for suffix, times in (("", ()), ("-session", _SESSION), ("-real-time", _REAL_TIME)):
        for name, things in _things(judge, times, lost).items():
            seen = earlier.setdefault(name, lost if name == "read-skew" else set())
            found[name + suffix] = len(things - seen)
            seen |= things
    return found


def _things(judge: _Judge, times: tuple[str, ...], lost: set[object]) -> dict[str, set[object]]:
    """What is counted under each name with these times, whether or not a weaker one has it already."""
    writes = judge.known(*times)
    graph = judge.known(*_READ, *times)
    flow = graph.relation(*_DEPENDS, *times)
    depends = closure(flow)
    closing = {edge for edge in graph.of("rw") if (edge.after, edge.before) in depends}
    aside = closing | {edge for edge in graph.of("rw") if (edge.before, edge.key) in lost}
    knots = components(flow)
    left = [e for e in graph.edges - aside if not any({e.before, e.after} <= knot for knot in knots)]
    # A ww edge that was inferred hides no wr edge: the read shows it, whatever else shows the order.
    new = graph.relation("wr") - judge.known().relation("ww")
    return {
        "write-cycle": {*components(writes.relation("ww", *times))},
        "circular-information-flow": {knot for knot in knots if _is_within(new, knot)},
        "read-skew": {(edge.before, edge.key) for edge in closing},
        "long-fork": {
            frozenset(number for _, number in knot) for knot in components(snapshot.demands(left, times))
        },
        "write-skew": {
            knot
            for knot in components(relation(left, *_DEPENDS, "rw", *times))
            if _has_two_in_a_row(relation(left, "rw"), knot)
        },
    }


def _is_within(pairs: Relation, knot: frozenset[int]) -> bool:
    return any({*pair} <= knot for pair in pairs)


def _has_two_in_a_row(rw: Relation, knot: frozenset[int]) -> bool:
    inside = [pair for pair in rw if {*pair} <= knot]
    return any(first[1] == second[0] for first in inside for second in inside)
