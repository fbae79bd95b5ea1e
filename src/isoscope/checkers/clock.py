"""What the engine of the clock levels found, as counts, anomalies and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from isoscope import levels as lattice
from isoscope.checkers.contradictions import AXIOMS, anomaly
from isoscope.checkers.unjudged import unjudged_reason
from isoscope.levels import Level
from isoscope.verdict import Method, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.checkers.contradictions import Finding
    from isoscope.checkers.witnesses import Recorded
    from isoscope.verdict import Anomaly

    #: Counts by name; findings; ties; what was set aside.
    Judged: TypeAlias = tuple[list[int], list[Finding], int, tuple[int, int, list[object], list[object], int]]

__all__ = ["LEVELS", "METHOD", "SILENT", "Found", "concerned", "silent"]

METHOD = Method.TIMESTAMPS
LEVELS = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE)
SILENT = "the history has no timestamps of the database"
#: By the numbers that the native core gives them.
_NAMES = tuple(AXIOMS)


def concerned(levels: Sequence[Level]) -> list[Level]:
    """The clock levels on which some of `levels` depend."""
    return [level for level in LEVELS if any(asked in lattice.implied(level) for asked in levels)]


def silent(level: Level) -> Verdict:
    """The verdict on a level if there are no timestamps."""
    return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=SILENT)


@dataclass(frozen=True)
class Found:
    """What the native core found in a history, of which only what it names must be there."""

    history: Recorded
    level: Level
    judged: Judged

    @property
    def ties(self) -> int:
        """How many timestamps belong to several transactions."""
        return self.judged[2]

    @cached_property
    def counts(self) -> dict[str, int]:
        """By name, without those that were not found."""
        return {name: count for name, count in zip(_NAMES, self.judged[0], strict=True) if count}

    @cached_property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """The first of each name."""
        is_serial = self.level is Level.CLOCK_SERIALIZABLE
        found = (anomaly(self.history, _NAMES[f[0]], f, is_serial=is_serial) for f in self.judged[1])
        return tuple(sorted(found, key=lambda anomaly: _NAMES.index(anomaly.name)))

    @cached_property
    def aside(self) -> str:
        """Why something may be wrong though nothing was found."""
        untimed, keys, deleted, mixed, range_reads = self.judged[3]
        reasons = [unjudged_reason(deleted_keys=deleted, mixed_keys=mixed, range_reads=range_reads)]
        if untimed:
            who = "1 transaction has" if untimed == 1 else f"{untimed:,} transactions have"
            wrote = f" and wrote {keys:,} keys" if keys > 1 else " and wrote 1 key" if keys else ""
            reasons.insert(0, f"{who} no timestamps{wrote}")
        return "; ".join(filter(None, reasons))

    def verdict(self) -> Verdict:
        """The answer for the level."""
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
