"""The method of timestamps: snapshot isolation and serializability against the database's own clock.

Li et al. 2025 (CHRONOS), Algorithm 2: the database is replayed event by event, and every read is held
against what it should have shown. `reference/clock.py` is the specification, `rust/kernel/src/clock` the
engine. Cost: a sort of the events, then linear. Repeated values are no obstacle: timestamps say who wrote
what a read shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope._native import clock_ties, judge_clock
from isoscope.checkers.clock import LEVELS, METHOD, SILENT, Found, concerned, silent
from isoscope.history import EvidenceKind
from isoscope.levels import Level
from isoscope.verdict import Presence, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.history import History
    from isoscope.verdict import Claim, Verdict

__all__ = ["ASKED_AS", "LEVELS", "METHOD", "NAMES", "check", "find", "ties"]

#: The anomalies and the weakest level that each breaks; those of later reads need no clock, and values show
#: them, too.
NAMES = {
    "stale-read": Level.CLOCK_SNAPSHOT_ISOLATION,
    "session-order": Level.CLOCK_SNAPSHOT_ISOLATION,
    "write-conflict": Level.CLOCK_SNAPSHOT_ISOLATION,
    "timestamp-inversion": Level.CLOCK_SNAPSHOT_ISOLATION,
}
#: Plain levels that stand for a level of the clock where this method alone is asked.
ASKED_AS = {
    Level.SNAPSHOT_ISOLATION: Level.CLOCK_SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE: Level.CLOCK_SERIALIZABLE,
}


def check(
    history: History,
    *,
    levels: Sequence[Level],
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - the clock says in which order versions were installed
) -> Iterator[Verdict]:
    """What the clock says of the levels that `levels` depend on."""
    for level in concerned(levels):
        if EvidenceKind.TIMESTAMPS in history.evidence.present:
            yield _found(history, level, max_anomalies).verdict()
        elif level in levels:
            yield silent(level)


def find(
    history: History,
    names: Sequence[str],
    *,
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - the clock says in which order versions were installed
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names, by snapshots of the clock."""
    is_silent = EvidenceKind.TIMESTAMPS not in history.evidence.present
    found = None if is_silent else _found(history, Level.CLOCK_SNAPSHOT_ISOLATION, max_anomalies)
    for name in names:
        if found is None:
            yield Sighting(name=name, presence=Presence.UNKNOWN, method=METHOD, reason=SILENT)
        elif count := found.counts.get(name, 0):
            shown = tuple(anomaly for anomaly in found.anomalies if anomaly.name == name)
            yield Sighting(name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=shown)
        else:
            presence = Presence.UNKNOWN if found.aside else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=found.aside)


def ties(history: History, level: Level) -> int:
    """How many timestamps belong to several transactions; this takes what the sort of the events takes."""
    return clock_ties(history.columns, level is Level.CLOCK_SERIALIZABLE)


def _found(history: History, level: Level, most: int) -> Found:
    rows = judge_clock(history.columns, level is Level.CLOCK_SERIALIZABLE, most)
    return Found(history, level, rows)
