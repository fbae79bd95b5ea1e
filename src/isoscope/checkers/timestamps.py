"""The method of timestamps: snapshot isolation and serializability against the database's own clock.

Li et al. 2025 (CHRONOS), Algorithm 2: the database is replayed event by event, and every read is held
against what it should have shown. `reference/clock.py` is the specification, `rust/kernel/src/clock` the
engine. Cost: a sort of the events, then linear. Repeated values are no obstacle: timestamps say who wrote
what a read shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope._native import judge_clock
from isoscope.checkers.aside import unjudged
from isoscope.checkers.contradictions import anomaly
from isoscope.history import EvidenceKind
from isoscope.levels import Level
from isoscope.verdict import Method, Outcome, Presence, Sighting, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.checkers.contradictions import Finding
    from isoscope.history import History
    from isoscope.verdict import Anomaly, Claim

__all__ = ["ASKED_AS", "LEVELS", "METHOD", "NAMES", "check", "find"]

METHOD = Method.TIMESTAMPS
LEVELS = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE)
#: The anomalies and the weakest level that each breaks.
NAMES = {
    "stale-read": Level.CLOCK_SNAPSHOT_ISOLATION,
    "session-order": Level.CLOCK_SNAPSHOT_ISOLATION,
    "write-conflict": Level.CLOCK_SNAPSHOT_ISOLATION,
    "timestamp-inversion": Level.CLOCK_SNAPSHOT_ISOLATION,
}
#: By the numbers that the native core gives them; the last ones need no clock, and values show them, too.
_ALL_NAMES = (*NAMES, "not-my-own-write", "not-my-last-write", "non-repeatable-read")
#: Plain levels that stand for a level of the clock where this method alone is asked.
ASKED_AS = {
    Level.SNAPSHOT_ISOLATION: Level.CLOCK_SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE: Level.CLOCK_SERIALIZABLE,
}
_SILENT = "the history has no timestamps of the database"


def check(
    history: History,
    *,
    levels: Sequence[Level],
    most: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - the clock says in which order versions were installed
) -> Iterator[Verdict]:
    """What the clock says of the levels that `levels` depend on."""
    for level in LEVELS:
        if not any(asked in lattice.implied(level) for asked in levels):
            continue
        if EvidenceKind.TIMESTAMPS in history.evidence.present:
            yield _Found(history, level, most).verdict()
        elif level in levels:
            yield Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=_SILENT)


def find(
    history: History,
    names: Sequence[str],
    *,
    most: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - the clock says in which order versions were installed
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names, by snapshots of the clock."""
    is_silent = EvidenceKind.TIMESTAMPS not in history.evidence.present
    found = None if is_silent else _Found(history, Level.CLOCK_SNAPSHOT_ISOLATION, most)
    for name in names:
        if found is None:
            yield Sighting(name=name, presence=Presence.UNKNOWN, method=METHOD, reason=_SILENT)
        elif count := found.counts.get(name, 0):
            shown = tuple(anomaly for anomaly in found.anomalies if anomaly.name == name)
            yield Sighting(name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=shown)
        else:
            presence = Presence.UNKNOWN if found.aside else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=found.aside)


@dataclass(frozen=True)
class _Found:
    """What the native core found."""

    history: History
    level: Level
    most: int

    @cached_property
    def _judged(
        self,
    ) -> tuple[list[int], list[Finding], int, tuple[int, int, list[object], list[object], int]]:
        is_serializable = self.level is Level.CLOCK_SERIALIZABLE
        return judge_clock(self.history.columns, is_serializable, self.most)

    @cached_property
    def counts(self) -> dict[str, int]:
        counted = zip(_ALL_NAMES, self._judged[0], strict=True)
        return {name: count for name, count in counted if count}

    @cached_property
    def anomalies(self) -> tuple[Anomaly, ...]:
        is_serial = self.level is Level.CLOCK_SERIALIZABLE
        found = (anomaly(self.history, _ALL_NAMES[f[0]], f, is_serial=is_serial) for f in self._judged[1])
        return tuple(sorted(found, key=lambda anomaly: _ALL_NAMES.index(anomaly.name)))

    @cached_property
    def aside(self) -> str:
        """Why something may be wrong though nothing was found."""
        untimed, keys, deleted, mixed, range_reads = self._judged[3]
        reasons = [unjudged((0, [], deleted, mixed, range_reads), by_writer=False)]  # type: ignore[arg-type]
        if untimed:
            who = "1 transaction has" if untimed == 1 else f"{untimed:,} transactions have"
            wrote = f" and wrote {keys:,} keys" if keys > 1 else " and wrote 1 key" if keys else ""
            reasons.insert(0, f"{who} no timestamps{wrote}")
        return "; ".join(filter(None, reasons))

    def verdict(self) -> Verdict:
        if self.counts:
            return Verdict(
                level=self.level,
                outcome=Outcome.VIOLATED,
                method=METHOD,
                anomaly_counts=self.counts,
                anomalies=self.anomalies,
            )
        outcome = Outcome.UNKNOWN if self.aside else Outcome.HOLDS
        return Verdict(level=self.level, outcome=outcome, method=METHOD, reason=self.aside)
