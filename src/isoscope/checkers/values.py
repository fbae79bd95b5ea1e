"""The method of values: cut isolation, read committed, read atomic and causal, exactly.

Values that are unique per key say who read from whom. `reference/weak.py` and `reference/reads.py` are
the specification, `rust/kernel/src/reads.rs` and `rust/kernel/src/weak` the engine. Cost: read committed
and read atomic O(operations^1.5), causal O(operations * sessions).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import judge_values
from isoscope.checkers import conflicts, reads
from isoscope.checkers.aside import unjudged
from isoscope.levels import Level
from isoscope.verdict import Anomaly, Method, Outcome, Presence, Sighting, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.checkers.aside import Aside
    from isoscope.history import History
    from isoscope.verdict import Claim

__all__ = ["HAPPENS_BEFORE", "LEVELS", "METHOD", "NAMES", "Effort", "check", "effort", "find"]

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
_WEAK = (Level.READ_COMMITTED, Level.READ_ATOMIC, Level.CAUSAL)
#: Anomalies that a read with several possible writers can hide: the others do not ask who wrote a value.
_BY_WRITER = {"aborted-read", "future-read", "intermediate-read", *conflicts.NAMES}
_NOT_ALL = "the history is too large to look for all anomalies"
_TOO_LARGE = "it would take too long with so many sessions, and no commit order was found by guessing"
#: Ways to compute happens-before, by the numbers that the native core gives them: the same verdicts, at
#: another price (Liu et al. 2024, sections 4.3 and 5.5.4).
HAPPENS_BEFORE = ("lazy", "vector-clocks", "tree-clocks", "traversal")


def check(
    history: History,
    *,
    levels: Sequence[Level],
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - values need no order of versions
) -> Iterator[Verdict]:
    """What values say of the levels that `levels` depend on."""
    yield from _verdicts(_found(history, _strongest(levels), max_anomalies))


def find(
    history: History,
    names: Sequence[str],
    *,
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - values need no order of versions
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    needed = [_WEAK.index(NAMES[name]) for name in names if NAMES[name] in _WEAK]
    found = _found(history, max(needed, default=None), max_anomalies)
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
            reason = unjudged(found.aside, by_writer=name in _BY_WRITER)
            if found.incomplete and name in conflicts.NAMES:
                reason = "; ".join([*([reason] if reason else []), _NOT_ALL])
            presence = Presence.UNKNOWN if reason else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=reason)


def _found(history: History, strongest: int | None, most: int) -> _Found:
    """Asks the native core about reads and about the weak levels up to `strongest`."""
    of_reads, weak = judge_values(history.columns, strongest, most)
    counts = dict(zip(reads.NAMES, of_reads[0], strict=True))
    anomalies = reads.anomalies(history, of_reads[1])
    decided, incomplete = {Level.CUT_ISOLATION}, False
    too_large: set[Level] = set()
    if weak is not None:
        violated, weak_counts, may_be_more, findings, *_ = weak
        counts |= zip(conflicts.NAMES, weak_counts, strict=True)
        anomalies += [conflicts.anomaly(history, finding) for finding in findings]
        decided |= {level for level, broken in zip(_WEAK, violated, strict=False) if not broken}
        incomplete = may_be_more
        too_large = set(_WEAK[len(violated) : strongest + 1]) if strongest is not None else set()
    return _Found(
        counts=conflicts.split({name: count for name, count in counts.items() if count}, anomalies),
        anomalies=anomalies,
        aside=of_reads[2],
        decided=decided,
        too_large=too_large,
        incomplete=incomplete,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What it took to decide the causal level."""

    seconds: float
    demands: int
    joins: int
    entries: int
    traversals: int
    visits: int


def effort(history: History, happens_before: str = HAPPENS_BEFORE[0]) -> Effort:
    """Decides the causal level with happens-before computed in this way, and says what that took.

    `demands`: demands on the commit order that were kept. With tree clocks, `joins` of clocks looked at
    so many `entries`; without clocks, so many `traversals` visited so many transactions.
    """
    started = perf_counter()
    _, found = judge_values(history.columns, len(_WEAK) - 1, 0, HAPPENS_BEFORE.index(happens_before))
    seconds = perf_counter() - started
    assert found is not None, "the causal level was asked for"
    *_, demands, (joins, entries, traversals, visits) = found
    return Effort(
        seconds=seconds, demands=demands, joins=joins, entries=entries, traversals=traversals, visits=visits
    )


def _strongest(levels: Sequence[Level]) -> int | None:
    """The number of the strongest weak level that can say something about one of `levels`."""
    related = [
        number
        for number, weak in enumerate(_WEAK)
        for level in levels
        if weak in lattice.implied(level) or level in lattice.implied(weak)
    ]
    # A stronger level than the one asked for would prove it too, but asking costs more.
    enough = [number for number, weak in enumerate(_WEAK) if set(levels) <= lattice.implied(weak)]
    return min(enough) if enough else max(related, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the native core found.

    `decided`: levels that no cycle breaks; `too_large`: levels that could not be decided; `incomplete`:
    there may be more than was counted.
    """

    counts: dict[str, int]
    anomalies: list[Anomaly]
    aside: Aside
    decided: set[Level]
    too_large: set[Level]
    incomplete: bool

    def of(self, level: Level) -> tuple[Anomaly, ...]:
        """The anomalies that break `level` and no weaker one."""
        return tuple(anomaly for anomaly in self.anomalies if level in _breaks(anomaly))

    def breaks(self, level: Level) -> bool:
        return any(weak in lattice.implied(level) for found in self.anomalies for weak in _breaks(found))


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
        elif level in found.decided and not found.breaks(level):
            reason = unjudged(found.aside, by_writer=level is not Level.CUT_ISOLATION)
            outcome = Outcome.UNKNOWN if reason else Outcome.HOLDS
            yield Verdict(level=level, outcome=outcome, method=METHOD, reason=reason)
        elif level in found.too_large and not found.breaks(level):
            yield Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=_TOO_LARGE)
