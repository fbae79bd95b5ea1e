"""Cut isolation, read committed, read atomic and causal: is there a commit order, and if not, why not?

Biswas and Enea 2019 (Table 1, Figure 2) define a level by an axiom on commit orders; Liu et al. 2024
(Section 3, Table 1) name what breaks it. A conflict is three transactions: t3 reads x from t1 although the
level lets it see t2, which writes x too. Then t2 must come before t1 in the commit order. A level holds if
all these demands, session order, write-read and the known version order have no cycle: then every
topological order is a commit order, and it completes the order of versions. The version order is known from
every source of `versions`; where sources contradict each other, each is heard alone.
Cost: cubic and worse, on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from isoscope.levels import Level
from isoscope.reference import reads
from isoscope.reference.observations import INITIAL, Observation, Observations
from isoscope.reference.relation import closure, components, is_acyclic, session_order
from isoscope.reference.rows import is_set_aside
from isoscope.reference.versions import SOURCES, Versions, coherent
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.history import History
    from isoscope.reference.relation import Relation

__all__ = ["LEVELS", "AffectedRead", "Component", "Conflict", "Judgement", "Relations", "judge"]

#: From weak to strong: each has the demands of those before it.
LEVELS = (Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
_NAMES = {
    Level.READ_COMMITTED: ("non-monotonic-read-co", "non-monotonic-read-cm"),
    Level.READ_ATOMIC: ("fractured-read-co", "fractured-read-cm"),
    Level.CAUSAL: ("causal-conflict", "commit-order-conflict"),
}


class Conflict(NamedTuple):
    """`reader` (t3) reads `key` from `source` (t1), though at `level` it sees `writer` (t2) of the key."""

    source: int
    writer: int
    reader: int
    key: object
    level: Level


class AffectedRead(NamedTuple):
    """Conflicts are counted by reader and key; the key is a `reads.token`."""

    name: str
    reader: int
    key: object


class Component(NamedTuple):
    """Transactions each of which comes before all the others."""

    name: str
    transactions: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The outcome for each level, and everything that was found, whatever level was asked for."""

    outcomes: Mapping[Level, Outcome]
    reads: frozenset[reads.Finding]
    affected_reads: frozenset[AffectedRead]
    components: frozenset[Component]

    @property
    def names(self) -> frozenset[str]:
        """Names of the anomalies that were found."""
        return frozenset(
            f.name for found in (self.reads, self.affected_reads, self.components) for f in found
        )


def judge(history: History, assume: Iterable[str] = (), *, sources: Sequence[str] = SOURCES) -> Judgement:
    """Which of the four levels hold, and every anomaly that is found, by the strongest source."""
    heard = [Relations(history, versions) for versions in coherent(history, tuple(assume), sources)]
    of_reads = reads.judge(history)
    names = {finding.name for finding in of_reads.findings}
    aside = has_kinds_set_aside(heard[0].observed)
    outcomes = {Level.CUT_ISOLATION: _outcome(violated="non-repeatable-read" in names, undecided=aside)}
    for level in LEVELS:
        wrong = names - ({"non-repeatable-read"} if level is Level.READ_COMMITTED else set())
        found = {
            _outcome(
                violated=bool(wrong) or not relations.have_commit_order(level),
                undecided=aside or of_reads.repeated_reads > 0,
            )
            for relations in heard
        }
        outcomes[level] = found.pop() if len(found) == 1 else Outcome.UNKNOWN
    return Judgement(
        outcomes=outcomes,
        reads=of_reads.findings,
        affected_reads=frozenset(heard[0].affected_reads()),
        components=frozenset(heard[0].components()),
    )


def _outcome(*, violated: bool, undecided: bool) -> Outcome:
    if violated:
        return Outcome.VIOLATED
    return Outcome.UNKNOWN if undecided else Outcome.HOLDS


def has_kinds_set_aside(observed: Observations) -> bool:
    """Whether something was recorded that is not judged: keys of two kinds, some range reads."""
    counted = (t for t in observed.transactions if t.number in observed.counted)
    is_judged = set(observed.shapes.values()) <= {"register", "list"}
    return not is_judged or any(is_set_aside(operation) for t in counted for operation in t.operations)


class Relations:
    """The relations of a history, each computed from its definition."""

    def __init__(self, history: History, versions: Versions | None = None) -> None:
        self.versions = versions or Versions(history)
        self.observed = self.versions.observed
        self.session_order = session_order(history, self.observed.counted)
        self.write_read = frozenset((w, o.reader) for o in self.observed.all for w in o.seen)
        lists = _order_of_lists(self.observed) if "list read" in self.versions.sources else ()
        self.version_order = frozenset({*lists, *_order_of_others(self.versions)})
        self.happens_before = closure(self.session_order | self.write_read)
        self.conflicts = frozenset(self._conflicts())

    def known_order(self, level: Level) -> Relation:
        """What every commit order of the level contains: t1 before t2 if there is a path."""
        base = self.session_order | self.write_read | self.version_order
        return closure(base | {(c.writer, c.source) for c in self._demands(level) if c.source != INITIAL})

    def have_commit_order(self, level: Level) -> bool:
        """Whether the demands of the level can be met; nothing comes before the initial transaction."""
        if self.versions.cyclic_keys or any(c.source == INITIAL for c in self._demands(level)):
            return False
        return is_acyclic(self.known_order(level))

    def affected_reads(self) -> Iterator[AffectedRead]:
        """A conflict is an anomaly if its demand cannot be met: named by the weakest level that sees it.

        A demand that happens-before meets is not to blame, even if others make a cycle with it.
        """
        orders = {level: self.known_order(level) for level in LEVELS}
        for t1, t2, t3, key, level in self.conflicts:
            if (t2, t1) in self.happens_before:
                continue
            by_causal_order, by_commit_order = _NAMES[level]
            if t1 == INITIAL or (t1, t2) in self.happens_before:
                yield AffectedRead(by_causal_order, t3, key)
            elif (t1, t2) in orders[level]:
                yield AffectedRead(by_commit_order, t3, key)

    def components(self) -> Iterator[Component]:
        """Cycles without any demand of a level (Adya 1999, G0 and G1c; Liu et al. 2024, TAP-g)."""
        causal = components(self.session_order | self.write_read)
        writes = components(self.session_order | self.version_order)
        for transactions in causal:
            yield Component("cyclic-causal-order", transactions)
        for transactions in writes:
            yield Component("write-cycle", transactions)
        for transactions in components(self.session_order | self.write_read | self.version_order):
            if not any(named <= transactions for named in causal | writes):
                yield Component("circular-information-flow", transactions)

    def _demands(self, level: Level) -> Iterator[Conflict]:
        at_most = LEVELS[: LEVELS.index(level) + 1]
        return (conflict for conflict in self.conflicts if conflict.level in at_most)

    def _conflicts(self) -> Iterator[Conflict]:
        for read in self.observed.all:
            for writer in self.observed.installers(read.key) - {read.source, read.reader}:
                level = self._level(read, writer)
                if read.source is not None and level is not None:
                    yield Conflict(read.source, writer, read.reader, read.key, level)

    def _level(self, read: Observation, writer: int) -> Level | None:
        """The weakest level at which the reader of `read`, or of the same from the same, sees `writer`."""
        mine = [other for other in self.observed.all if other.reader == read.reader]
        same = [other for other in mine if (other.key, other.source) == (read.key, read.source)]
        if any(_is_non_monotonic(mine, again, writer) for again in same):
            return Level.READ_COMMITTED
        if any(writer in other.seen for other in mine if other.key == read.key):
            return None  # Nothing is missing, or this is a non-repeatable read, which has a name already.
        if (writer, read.reader) in self.session_order or any(writer in other.seen for other in mine):
            return Level.READ_ATOMIC
        return Level.CAUSAL if (writer, read.reader) in self.happens_before else None


def _is_non_monotonic(mine: list[Observation], read: Observation, writer: int) -> bool:
    """Whether the reader saw `writer` and then does not see it any more (Biswas and Enea 2019, Figure 2a)."""
    return writer not in read.seen and any(writer in o.seen for o in mine if o.place < read.place)


def _order_of_lists(observed: Observations) -> Iterator[tuple[int, int]]:
    """The order of writers that lists show; unread appends come after the longest list."""
    for key, elements in observed.canonical_lists.items():
        writers = [observed.writer(key, element) for element in elements]
        known = [writer for writer in writers if writer is not None]
        yield from ((before, after) for before, after in pairwise(known) if before != after)
        last = writers[-1] if writers else None
        if last is not None:
            unread = observed.appenders_beyond(key, elements) - {last}
            yield from ((last, writer) for writer in unread)


def _order_of_others(versions: Versions) -> Iterator[tuple[int, int]]:
    """The order of writers that every other source, and every claim, says."""
    for before, after in versions.said_beside_lists:
        if before.writer != after.writer and INITIAL not in (before.writer, after.writer):
            yield before.writer, after.writer
