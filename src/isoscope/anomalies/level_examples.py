"""For each level that a method decides, a small history that breaks it and the nearest one that does not."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope.anomalies import CATALOGUE
from isoscope.anomalies.entry import Example, aion, jepsen
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["level_example"]

#: The anomaly whose examples show the level. A test compares them with the specification.
_ANOMALIES: Mapping[Level, str] = MappingProxyType(
    {
        Level.STRICT_SERIALIZABLE: "write-skew-real-time",
        Level.STRONG_SNAPSHOT_ISOLATION: "read-skew-real-time",
        Level.STRONG_PL_2: "circular-information-flow-real-time",
        Level.STRONG_PL_1: "write-cycle-real-time",
        Level.STRONG_SESSION_SERIALIZABLE: "write-skew-session",
        Level.STRONG_SESSION_SNAPSHOT_ISOLATION: "long-fork-session",
        Level.PREFIX: "long-fork",
        Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION: "read-skew-session",
        Level.CAUSAL: "causal-conflict",
        Level.READ_ATOMIC: "fractured-read-co",
        Level.READ_COMMITTED: "non-monotonic-read-co",
        Level.STRONG_SESSION_PL_2: "circular-information-flow-session",
        Level.STRONG_SESSION_PL_1: "write-cycle-session",
        Level.READ_YOUR_WRITES: "read-skew-session",
        Level.MONOTONIC_READS: "commit-order-conflict",
        Level.MONOTONIC_WRITES: "write-cycle-session",
        Level.SERIALIZABLE: "write-skew",
        Level.SNAPSHOT_ISOLATION: "long-fork",
        Level.REPEATABLE_READ: "write-skew",
        Level.UPDATE_SERIALIZABLE: "write-skew",
        Level.PARALLEL_SNAPSHOT_ISOLATION: "read-skew",
        Level.CONSISTENT_VIEW: "read-skew",
        Level.CURSOR_STABILITY: "lost-update",
        Level.MONOTONIC_VIEW: "causal-conflict",
        Level.PL_2: "aborted-read",
        Level.PL_1: "write-cycle",
        Level.CUT_ISOLATION: "non-repeatable-read",
    }
)
_STALE = (
    aion(
        "session=1 start=1 commit=2 w(1,1)",
        "session=2 start=3 commit=4 r(1,0)",
        note="the second transaction starts after the first has committed, and reads the value before it",
    ),
    aion(
        "session=1 start=1 commit=2 w(1,1)",
        "session=2 start=3 commit=4 r(1,1)",
        note="it reads what the first one wrote",
    ),
)
_OWN: Mapping[Level, tuple[Example, Example]] = MappingProxyType(
    {
        Level.CLOCK_SNAPSHOT_ISOLATION: _STALE,
        Level.CLOCK_SERIALIZABLE: _STALE,
        Level.WRITES_FOLLOW_READS: (
            jepsen(
                "ok 0 [:append :x 1]",
                "ok 1 [:r :x [2 1]]",
                "ok 1 [:append :x 2]",
                note="session 1 reads 1, and what it appends afterwards comes before 1",
            ),
            jepsen(
                "ok 0 [:append :x 1]",
                "ok 1 [:r :x [1]]",
                "ok 1 [:append :x 2]",
                "ok 2 [:r :x [1 2]]",
                note="what it appends comes after what it read",
            ),
        ),
    }
)


def level_example(level: Level) -> tuple[Example, Example] | None:
    """A history that breaks the level and one that does not; None if no method decides the level."""
    if level in _OWN:
        return _OWN[level]
    entry = CATALOGUE.get(_ANOMALIES.get(level, ""))
    if entry is None or entry.example is None or entry.allowed is None:
        return None
    return entry.example, entry.allowed
