"""The method of values: cut isolation, read committed, read atomic and causal, exactly.

Values that are unique per key show from which transaction each read was served. `reference/weak.py` and
`reference/reads.py` are the specification, `rust/kernel/src/reads.rs` and `rust/kernel/src/weak` the engine.
Cost: read committed and read atomic O(operations^1.5), causal O(operations * sessions).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from isoscope import levels as lattice
from isoscope._native import HAPPENS_BEFORE_METHODS, judge_values
from isoscope.checkers import conflicts, reads
from isoscope.checkers.recorded_order import (
    CONTRADICTORY,
    WEAK,
    has_several_sources,
    is_recorded_beside_lists,
)
from isoscope.checkers.unjudged import unjudged_reason
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Method, Outcome, Presence, Sighting, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope._native import ValuesJudgement, WeakEffort, WeakJudgement
    from isoscope.checkers.reads import WrongRead
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import History
    from isoscope.verdict import Claim

__all__ = [
    "HAPPENS_BEFORE",
    "LEVELS",
    "METHOD",
    "NAMES",
    "JudgedReads",
    "Judgement",
    "Unjudged",
    "check",
    "commit_orders",
    "effort",
    "find",
    "judge_in_order",
    "strongest_asked",
    "verdicts_of",
    "wrong_reads",
]

METHOD = Method.VALUES
#: Levels whose condition is looked at; those of the last line are decided.
LEVELS = (
    Level.PL_1,
    Level.PL_2,
    Level.STRONG_SESSION_PL_1,
    Level.STRONG_SESSION_PL_2,
    Level.CUT_ISOLATION,
    Level.READ_COMMITTED,
    Level.READ_ATOMIC,
    Level.CAUSAL,
)
NAMES = reads.NAMES | conflicts.NAMES
#: Anomalies that a read with several possible writers can hide: the others do not depend on the writer.
_BY_WRITER = {"aborted-read", "future-read", "intermediate-read", *conflicts.NAMES}
_NOT_ALL = "the history is too large to look for all anomalies"
_TOO_LARGE = "it would take too long with so many sessions, and no commit order was found by guessing"
#: Ways to compute happens-before: same verdicts, other cost (Liu et al. 2024, sections 4.3 and 5.5.4).
HAPPENS_BEFORE = HAPPENS_BEFORE_METHODS


def check(
    history: History,
    *,
    levels: Sequence[Level],
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - values need no order of versions
) -> Iterator[Verdict]:
    """What values say of the levels that `levels` depend on.

    Whatever else is recorded proves no level here, but it may contradict the lists that break one.
    """
    found = _found(history, strongest_asked(levels), max_anomalies)
    yield from _verdicts(replace(found, contradictory=_contradicted(history, found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Verdicts, and a commit order of each weak level that holds, if these were asked for."""

    verdicts: Sequence[Verdict]
    commit_orders: dict[str, list[int]] | None = None


def judge_in_order(
    history: History,
    *,
    levels: Sequence[Level],
    max_anomalies: int,
    assume: Sequence[Claim] = (),
    keeps_orders: bool = False,
) -> Judgement:
    """The same where the order of versions is looked at: the weak levels ask for what is recorded of it."""
    is_recorded = is_recorded_beside_lists(history)
    strongest = strongest_asked(levels)
    judged = judge_values(
        history.columns,
        strongest=None if strongest is None else strongest.value,
        max_anomalies=max_anomalies,
        by_recorded_order=is_recorded,
        keeps_orders=keeps_orders,
    )
    found = [*_verdicts(_made(history, judged, judged.weak, history))]
    if is_recorded and not assume:
        # Whether a claim breaks a level, only the method of version orders knows.
        found = [replace(v, method=Method.VERSION_ORDER) if v.level in WEAK else v for v in found]
    return Judgement(verdicts=found, commit_orders=_orders(judged) if keeps_orders else None)


def wrong_reads(history: History, *, max_anomalies: int) -> Iterator[Verdict]:
    """The levels that single reads break, whatever the order of transactions."""
    verdicts = _verdicts(_found(history, None, max_anomalies))
    return (verdict for verdict in verdicts if verdict.outcome is Outcome.VIOLATED)


def find(
    history: History,
    names: Sequence[str],
    *,
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - values need no order of versions
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    needed = [level for level in WEAK if level in map(NAMES.get, names)]
    found = _found(history, needed[-1] if needed else None, max_anomalies)
    for name in names:
        if name in found.counts:
            shown = tuple(anomaly for anomaly in found.anomalies if anomaly.name == name)
            yield Sighting(
                name=name,
                presence=Presence.FOUND,
                method=METHOD,
                count=found.counts[name],
                anomalies=shown,
            )
        else:
            reason = _unjudged(found.unjudged, by_writer=name in _BY_WRITER)
            if found.is_partial and name in conflicts.NAMES:
                reason = "; ".join([*([reason] if reason else []), _NOT_ALL])
            presence = Presence.UNKNOWN if reason else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=reason)


def commit_orders(history: History, levels: Sequence[Level]) -> dict[str, list[int]]:
    """For each weak level of `levels` that holds: the numbers of transactions in a commit order."""
    strongest = max((level for level in WEAK if level in levels), key=WEAK.index, default=None)
    if strongest is None:
        return {}
    judged = judge_values(
        history.columns,
        strongest=strongest.value,
        max_anomalies=0,
        by_recorded_order=is_recorded_beside_lists(history),
        keeps_orders=True,
    )
    return _orders(judged)


def _orders(judged: ValuesJudgement) -> dict[str, list[int]]:
    if judged.weak is None or judged.unjudged.repeated_reads:
        return {}
    return judged.weak.orders


def _found(history: History, strongest: Level | None, max_anomalies: int) -> _Found:
    """Asks the native core about reads and about the weak levels up to `strongest`."""
    judged = judge_values(
        history.columns,
        strongest=None if strongest is None else strongest.value,
        max_anomalies=max_anomalies,
    )
    return _made(history, judged, judged.weak, history)


class Unjudged(Protocol):
    """Reads and keys that were not judged."""

    @property
    def repeated_reads(self) -> int:
        """Reads of values that several transactions wrote."""
        ...

    @property
    def repeated_keys(self) -> Sequence[object]:
        """Keys of those reads."""
        ...

    @property
    def deleted_keys(self) -> Sequence[object]:
        """Keys that some transaction deletes."""
        ...

    @property
    def mixed_keys(self) -> Sequence[object]:
        """Keys that are both written and appended to."""
        ...

    @property
    def range_reads(self) -> int:
        """Range reads."""
        ...


class JudgedReads(Protocol):
    """What values say of single reads, of a history or of all its parts."""

    @property
    def read_counts(self) -> dict[str, int]:
        """How many reads show each anomaly."""
        ...

    @property
    def read_findings(self) -> Sequence[WrongRead]:
        """The first reads of each anomaly."""
        ...

    @property
    def unjudged(self) -> Unjudged:
        """What was not judged."""
        ...


def verdicts_of(
    reader: Recorded, judged: JudgedReads, weak: WeakJudgement | None, conflicting: Recorded
) -> Iterator[Verdict]:
    """The verdicts that reads lead to, and conflicts whose transactions `conflicting` knows."""
    yield from _verdicts(_made(reader, judged, weak, conflicting))


def _contradicted(history: History, found: _Found) -> set[Level]:
    """Levels that a list breaks, and not another source of the order of versions, which contradicts it."""
    broken = [level for level in WEAK if found.breaks(level)]
    if not broken or not history.counts["append"] or not has_several_sources(history):
        return set()
    weak = judge_values(
        history.columns, strongest=broken[-1].value, max_anomalies=0, by_recorded_order=True
    ).weak
    return {*map(Level, weak.contradictory)} & {*broken} if weak is not None else set()


def _made(reader: Recorded, judged: JudgedReads, weak: WeakJudgement | None, conflicting: Recorded) -> _Found:
    counts = judged.read_counts
    anomalies = [reads.anomaly(reader, finding) for finding in judged.read_findings]
    if weak is not None:
        counts = {**counts, **weak.counts}
        anomalies += [conflicts.anomaly(conflicting, finding) for finding in weak.findings]
    return _Found(
        counts=conflicts.split(counts, anomalies),
        anomalies=anomalies,
        unjudged=judged.unjudged,
        satisfied={Level.CUT_ISOLATION, *map(Level, weak.satisfied if weak else ())},
        undecided={*map(Level, weak.undecided if weak else ())},
        contradictory={*map(Level, weak.contradictory if weak else ())},
        is_partial=weak is not None and weak.is_partial,
    )


def _unjudged(found: Unjudged, *, by_writer: bool) -> str:
    """Why something may be wrong that was not found; `by_writer`: whether the writer of a value matters.

    Two equal values do not differ, whichever transaction wrote them: cut isolation needs no unique writers.
    """
    return unjudged_reason(
        repeated_reads=found.repeated_reads if by_writer else 0,
        repeated_keys=found.repeated_keys,
        deleted_keys=found.deleted_keys,
        mixed_keys=found.mixed_keys,
        range_reads=found.range_reads,
    )


def effort(history: History, happens_before: str = HAPPENS_BEFORE[0]) -> tuple[float, WeakEffort]:
    """Decides the causal level with happens-before computed in this way: seconds, and what that took."""
    started = perf_counter()
    judged = judge_values(
        history.columns, strongest=Level.CAUSAL.value, max_anomalies=0, happens_before=happens_before
    )
    seconds = perf_counter() - started
    assert judged.weak is not None, "the causal level was asked for"
    return seconds, judged.weak.effort


def strongest_asked(levels: Sequence[Level]) -> Level | None:
    """The strongest weak level that can say something about one of `levels`."""
    related = [
        weak
        for weak in WEAK
        if any(weak in lattice.implied(level) or level in lattice.implied(weak) for level in levels)
    ]
    # A stronger level than the one asked for would prove it too, but asking costs more.
    enough = [weak for weak in WEAK if set(levels) <= lattice.implied(weak)]
    return enough[0] if enough else related[-1] if related else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the native core found.

    `satisfied`: levels whose axiom no cycle breaks; `undecided`: levels that would take too long;
    `contradictory`: levels that one source of the order of versions breaks and another does not;
    `is_partial`: there may be more anomalies than were counted.
    """

    counts: dict[str, int]
    anomalies: list[Anomaly]
    unjudged: Unjudged
    satisfied: set[Level]
    undecided: set[Level]
    contradictory: set[Level]
    is_partial: bool

    def of(self, level: Level) -> tuple[Anomaly, ...]:
        """The anomalies that break `level` and no weaker one that is sure to be broken."""
        if level in self.contradictory:
            return ()
        return tuple(anomaly for anomaly in self.anomalies if level in self._broken_by(anomaly))

    def _broken_by(self, anomaly: Anomaly) -> tuple[Level, ...]:
        """The weakest levels that an anomaly breaks, whichever source of the order of versions is right."""
        weakest = _breaks(anomaly)
        if not self.contradictory & {*weakest}:
            return weakest
        stronger = (level for level in WEAK if level not in self.contradictory)
        return tuple(level for level in stronger if {*weakest} & lattice.implied(level))[:1]

    def breaks(self, level: Level) -> bool:
        weakest = (weak for found in self.anomalies for weak in self._broken_by(found))
        return any(weak in lattice.implied(level) for weak in weakest)


def _breaks(anomaly: Anomaly) -> tuple[Level, ...]:
    return (reads.NAMES[anomaly.name],) if anomaly.name in reads.NAMES else conflicts.breaks(anomaly)


def _verdicts(found: _Found) -> Iterator[Verdict]:
    for level in LEVELS:
        if shown := found.of(level):
            names = dict.fromkeys(anomaly.name for anomaly in shown)
            yield Verdict(
                level=level,
                outcome=Outcome.VIOLATED,
                method=METHOD,
                anomaly_counts={name: found.counts[name] for name in names},
                anomalies=shown,
            )
        elif level in found.contradictory and not found.breaks(level):
            yield Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=CONTRADICTORY)
        elif level in found.satisfied and not found.breaks(level):
            reason = _unjudged(found.unjudged, by_writer=level is not Level.CUT_ISOLATION)
            outcome = Outcome.UNKNOWN if reason else Outcome.HOLDS
            yield Verdict(level=level, outcome=outcome, method=METHOD, reason=reason)
        elif level in found.undecided and not found.breaks(level):
            yield Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=_TOO_LARGE)
