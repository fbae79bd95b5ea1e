"""The method of version orders: Adya's levels, snapshot isolation, serializability, sessions and real time.

Where the order of a key's versions is known, dependencies between transactions are, too: a level is broken by
a cycle that it forbids. Versions that nobody ordered are tried in every order. `reference/adya.py` is the
specification, `rust/kernel/src/versions` the engine. Cost: linear where the order is known; the search for an
open one has a budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import dependencies, judge_values, judge_versions, ordered_keys
from isoscope.checkers import aside, cycles, reads
from isoscope.checkers.steps import RELATIONS
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Claim, Method, Ordered, Outcome, Presence, Sighting, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.history import History

__all__ = [
    "LEVELS",
    "METHOD",
    "NAMES",
    "SOURCES",
    "check",
    "concerns",
    "disbelieved",
    "edges",
    "find",
    "ordered",
]

METHOD = Method.VERSION_ORDER
SOURCES = cycles.SOURCES

#: Levels by the numbers that the native core gives them; without predicates some have two names.
_JUDGED: tuple[tuple[Level, ...], ...] = (
    (Level.PL_1,),
    (Level.STRONG_SESSION_PL_1,),
    (Level.STRONG_PL_1,),
    (Level.PL_2,),
    (Level.STRONG_SESSION_PL_2,),
    (Level.STRONG_PL_2,),
    (Level.CURSOR_STABILITY,),
    (Level.MONOTONIC_VIEW,),
    (Level.CONSISTENT_VIEW, Level.PARALLEL_SNAPSHOT_ISOLATION),
    (Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,),
    (Level.PREFIX,),
    (Level.SNAPSHOT_ISOLATION,),
    (Level.STRONG_SESSION_SNAPSHOT_ISOLATION,),
    (Level.STRONG_SNAPSHOT_ISOLATION,),
    (Level.UPDATE_SERIALIZABLE,),
    (Level.REPEATABLE_READ, Level.SERIALIZABLE),
    (Level.STRONG_SESSION_SERIALIZABLE,),
    (Level.STRICT_SERIALIZABLE,),
    (Level.MONOTONIC_WRITES,),
    (Level.WRITES_FOLLOW_READS,),
    (Level.READ_YOUR_WRITES,),
    (Level.MONOTONIC_READS,),
)
LEVELS = tuple(level for levels in _JUDGED for level in levels)
_NUMBER = {level: number for number, levels in enumerate(_JUDGED) for level in levels}
#: The anomalies and the weakest level that each breaks, by the numbers that the native core gives them.
NAMES = {
    "write-cycle": Level.PL_1,
    "write-cycle-session": Level.STRONG_SESSION_PL_1,
    "write-cycle-real-time": Level.STRONG_PL_1,
    "circular-information-flow": Level.PL_2,
    "circular-information-flow-session": Level.STRONG_SESSION_PL_2,
    "circular-information-flow-real-time": Level.STRONG_PL_2,
    "lost-update": Level.CURSOR_STABILITY,
    "read-skew": Level.CONSISTENT_VIEW,
    "read-skew-session": Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
    "read-skew-real-time": Level.STRONG_SNAPSHOT_ISOLATION,
    "long-fork": Level.SNAPSHOT_ISOLATION,
    "long-fork-session": Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
    "long-fork-real-time": Level.STRONG_SNAPSHOT_ISOLATION,
    "write-skew": Level.REPEATABLE_READ,
    "write-skew-session": Level.STRONG_SESSION_SERIALIZABLE,
    "write-skew-real-time": Level.STRICT_SERIALIZABLE,
    "dirty-update": Level.PL_2,
    "cyclic-versions": Level.PL_1,
    "contradictory-evidence": Level.STRICT_SERIALIZABLE,
    "no-commit-order": Level.STRICT_SERIALIZABLE,
    "predicate-read-miss": Level.SERIALIZABLE,
}
#: Levels beside those of `NAMES` that an anomaly is among the weakest to break.
_ALSO = {"long-fork": (Level.REPEATABLE_READ,)}
_REASONS = (
    "",
    "",
    "not every transaction has a begin and an end in real time",
    "the order of some versions is not known, and the search for one that explains all reads was too long",
    "the sources of the version order contradict each other, and so do the verdicts that they lead to",
)
_UNSURE = "several transactions appended the same element to a list"
_AMBIGUOUS = "reads by predicates, or of deleted keys, may have seen several states of a key ({} times)"
_FORKED = "reads of a list contradict each other, so that there is no one order of its versions"
_PREDICATES = "what breaks it may rest on reads by predicates, which this level does not protect"
_CLAIMS = (Claim.WRITES_FOLLOW_READS, Claim.SEQUENTIAL_KEYS, Claim.LINEARIZABLE_KEYS)


def check(
    history: History, *, levels: Sequence[Level], max_anomalies: int = 10, assume: Sequence[Claim] = ()
) -> Iterator[Verdict]:
    """What the order of versions says of the levels that `levels` depend on."""
    if not concerns(levels):
        return
    found = _Found(history, max_anomalies, assume)
    for number, names in enumerate(_JUDGED):
        for level in names:
            if (verdict := found.verdict(number, level)) is not None:
                yield verdict


def find(
    history: History, names: Sequence[str], *, max_anomalies: int = 10, assume: Sequence[Claim] = ()
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    found = _Found(history, max_anomalies, assume)
    for name in names:
        if count := found.counts.get(name, 0):
            shown = found.of(name)[:max_anomalies]
            yield Sighting(name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=shown)
        else:
            presence = Presence.UNKNOWN if found.aside else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=found.aside)


def edges(history: History) -> list[tuple[str, str, str]]:
    """The dependency graph: (before, after, relation) by the labels of transactions."""
    label = [transaction.label for transaction in history]
    return [(label[b], label[a], RELATIONS[relation]) for b, a, relation in dependencies(history.columns)]


def ordered(history: History, assume: Sequence[Claim] = ()) -> tuple[Ordered, ...]:
    """By source how many keys it orders, the strongest first, and last what nobody orders."""
    rows = sorted(ordered_keys(history.columns, _mask(assume)), key=lambda row: (row[0] == 0, row))
    return tuple(Ordered(source=SOURCES[source], keys=keys, whole=whole) for source, keys, whole in rows)


def disbelieved(history: History, assume: Sequence[Claim] = ()) -> list[tuple[str, object]]:
    """What keeps claims, or a source, from being believed of a key: the name of the anomaly, and the key."""
    found = _Found(history, len(history.keys), assume)
    names = ("cyclic-versions", "contradictory-evidence")
    return [(name, anomaly.keys[0]) for name in names for anomaly in found.of(name)]


def concerns(levels: Sequence[Level]) -> bool:
    """Whether the order of versions says anything that values alone do not."""
    weak = {Level.CUT_ISOLATION, Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL}
    return not set(levels) <= weak


def _mask(assume: Sequence[Claim]) -> int:
    return sum(1 << place for place, claim in enumerate(_CLAIMS) if claim in assume)


def _called(number: int | None) -> str:
    """The level of that number by the better known of its names."""
    return "" if number is None else str(_JUDGED[number][-1])


@dataclass(frozen=True)
class _Found:
    """What the native core found."""

    history: History
    most: int
    assume: Sequence[Claim]

    @cached_property
    def _judged(
        self,
    ) -> tuple[
        list[int],
        list[int],
        list[tuple[int, list[cycles.StepRow], list[list[cycles.StepRow]], int | None]],
        list[tuple[int, int, int]],
        tuple[bool, int, int],
    ]:
        return judge_versions(self.history.columns, _mask(self.assume), self.most)

    @cached_property
    def counts(self) -> dict[str, int]:
        counted = zip(NAMES, self._judged[1], strict=True)
        return {name: count for name, count in counted if count}

    @cached_property
    def _has_predicates(self) -> bool:
        return self.history.counts["range-read"] > 0

    @cached_property
    def _is_forked(self) -> bool:
        """Whether lists were read that no one order of appends explains."""
        (counts, _, _), _ = judge_values(self.history.columns, None, 0)
        return counts[list(reads.NAMES).index("incompatible-order")] > 0

    @cached_property
    def aside(self) -> str:
        """Why something may be wrong though nothing was found."""
        (_, _, (repeated, repeated_keys, _, mixed, _)), _ = judge_values(self.history.columns, None, 0)
        has_unsure_appends, ambiguous, range_reads = self._judged[4]
        reasons = [
            aside.unjudged((repeated, repeated_keys, [], mixed, range_reads), by_writer=True),
            _UNSURE if has_unsure_appends else "",
            _AMBIGUOUS.format(ambiguous) if ambiguous else "",
        ]
        return "; ".join(filter(None, reasons))

    @cached_property
    def _shown(self) -> list[tuple[Anomaly, int | None]]:
        """Every finding, and the number of the level that it was looked for, if it was for one only."""
        names = list(NAMES)
        return [
            (cycles.anomaly(self.history, names[name], rows, alternatives, _called(level)), level)
            for name, rows, alternatives, level in self._judged[2]
        ]

    def of(self, name: str) -> tuple[Anomaly, ...]:
        """The findings of a name; those that were looked for one level only if there are no others."""
        every = [(anomaly, only) for anomaly, only in self._shown if anomaly.name == name]
        return tuple(anomaly for anomaly, only in every if only is None) or tuple(a for a, _ in every)

    def verdict(self, number: int, level: Level) -> Verdict | None:
        """The answer for one level; None if it is broken only because a weaker one is."""
        outcome = self._judged[0][number]
        if outcome == 1 and level is Level.REPEATABLE_READ and self._has_predicates:
            return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=_PREDICATES)
        if outcome == 1:
            return self._violated(number, level)
        reason = self._doubt(level) if outcome == 0 else _REASONS[outcome]
        if not reason:
            return Verdict(level=level, outcome=Outcome.HOLDS, method=METHOD)
        return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=reason)

    def _doubt(self, level: Level) -> str:
        """Why the level may be broken though nothing was found."""
        # Levels from PL-2 up are broken by such reads themselves.
        if self._is_forked and Level.PL_2 not in lattice.implied(level):
            return _FORKED
        return self.aside

    def _violated(self, number: int, level: Level) -> Verdict | None:
        broken = [(a, only) for a, only in self._shown if self._breaks(a, only, number, level)]
        if not broken:
            return None
        # What was looked for this level alone is one of its name, however many other levels have theirs.
        counts = {a.name: 1 for a, _ in broken}
        counts |= {a.name: self.counts.get(a.name) or 1 for a, only in broken if only is None}
        own = tuple(anomaly for anomaly, _ in broken)
        return Verdict(
            level=level, outcome=Outcome.VIOLATED, method=METHOD, anomaly_counts=counts, anomalies=own
        )

    def _breaks(self, anomaly: Anomaly, only: int | None, number: int, level: Level) -> bool:
        if only is not None:
            return only == number and not self._has_a_name(level)
        if anomaly.name == "contradictory-evidence":
            return False
        weakest = tuple(map(self._protected, (NAMES[anomaly.name], *_ALSO.get(anomaly.name, ()))))
        # By one source it may break a level that another source saves, and a stronger one by both.
        saved = (weak for weak in weakest if self._judged[0][_NUMBER[weak]] != 1)
        return level in weakest or any(weak in lattice.implied(level) for weak in saved)

    def _protected(self, level: Level) -> Level:
        """The level itself, or the weakest that protects predicate reads as well."""
        return Level.SERIALIZABLE if level is Level.REPEATABLE_READ and self._has_predicates else level

    def _has_a_name(self, level: Level) -> bool:
        """Whether a weaker level, or this one, is broken by something that has a name."""
        names = {anomaly.name for anomaly, only in self._shown if only is None} - {"contradictory-evidence"}
        named = {NAMES[name] for name in names}
        return any(self._judged[0][_NUMBER[weak]] == 1 for weak in named & lattice.implied(level))
