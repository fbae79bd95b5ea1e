"""The method of timestamps: snapshot isolation and serializability against the database's own clock.

Li et al. 2025 (CHRONOS), Algorithm 2: the database is replayed event by event, and every read is compared
with the version that it should have shown. `reference/clock.py` is the specification,
`rust/kernel/src/clock` the engine. Cost: a sort of the events, then linear. Repeated values are no obstacle:
timestamps say which transaction wrote the version that a read should show.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope._native import clock_ties, judge_clock
from isoscope.checkers.clock import LEVELS, METHOD, NO_TIMESTAMPS, Judged, concerned, untimed
from isoscope.history import EvidenceKind
from isoscope.levels import Level
from isoscope.verdict import Outcome, Presence, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.history import History
    from isoscope.verdict import Claim, Verdict

__all__ = [
    "ASKED_AS",
    "LEVELS",
    "METHOD",
    "NAMES",
    "check",
    "check_alone",
    "find",
    "leaves_order_open",
    "ties",
]

#: The anomalies and the weakest level that each breaks. Anomalies of later reads in a transaction need no
#: clock: the method of values shows them, too.
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
_UNREAD = "the recorded order of versions may say more, and the method of timestamps does not look at it"


def check(
    history: History,
    *,
    levels: Sequence[Level],
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - the clock says in which order versions were installed
) -> Iterator[Verdict]:
    """What the clock says of the levels that `levels` depend on."""
    asked = concerned(levels)
    if _has_timestamps(history):
        for judged in _judged(history, asked, max_anomalies):
            yield judged.verdict()
        return
    wanted = [level for level in asked if level in levels]
    for judged in _judged(history, wanted, max_anomalies) if wanted else ():
        yield untimed(judged.verdict())


def check_alone(history: History, *, levels: Sequence[Level], max_anomalies: int) -> Iterator[Verdict]:
    """The same if no other method is asked: what an order of versions may break is not said to hold."""
    is_open = leaves_order_open(history)
    for verdict in check(history, levels=levels, max_anomalies=max_anomalies):
        if is_open and verdict.outcome is Outcome.HOLDS:
            yield replace(verdict, outcome=Outcome.UNKNOWN, reason=_UNREAD)
        else:
            yield verdict


def leaves_order_open(history: History) -> bool:
    """Whether a recorded order of versions may say what the clock does not.

    It orders equal commits, and rows of one value show that as many transactions took effect.
    """
    if not history.columns.versions() or not _has_timestamps(history):
        return False
    may_count = history.counts.get("indeterminate", 0) > 0 and history.evidence.repeated_values > 0
    return may_count or ties(history, Level.CLOCK_SERIALIZABLE) > 0


def find(
    history: History,
    names: Sequence[str],
    *,
    max_anomalies: int = 10,
    assume: Sequence[Claim] = (),  # noqa: ARG001 - the clock says in which order versions were installed
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names, by snapshots of the clock."""
    if not _has_timestamps(history):
        for name in names:
            yield Sighting(name=name, presence=Presence.UNKNOWN, method=METHOD, reason=NO_TIMESTAMPS)
        return
    [judged] = _judged(history, [Level.CLOCK_SNAPSHOT_ISOLATION], max_anomalies)
    for name in names:
        if count := judged.counts.get(name, 0):
            shown = tuple(anomaly for anomaly in judged.anomalies if anomaly.name == name)
            yield Sighting(name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=shown)
        else:
            presence = Presence.UNKNOWN if judged.unjudged else Presence.ABSENT
            yield Sighting(name=name, presence=presence, method=METHOD, reason=judged.unjudged)


def ties(history: History, level: Level) -> int:
    """How many timestamps belong to several transactions; this takes as long as the sort of the events."""
    return clock_ties(history.columns, level)


def _has_timestamps(history: History) -> bool:
    return EvidenceKind.TIMESTAMPS in history.evidence.present


def _judged(history: History, levels: Sequence[Level], max_anomalies: int) -> list[Judged]:
    """One call of the native core for all levels."""
    return [Judged(history, one) for one in judge_clock(history.columns, levels, max_anomalies)]
