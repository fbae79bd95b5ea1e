"""Judgements of the clock levels as counts, anomalies and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from isoscope import levels as lattice
from isoscope._native import CLOCK_AXIOMS as AXIOMS
from isoscope.checkers.clock_anomalies import anomaly
from isoscope.checkers.unjudged import unjudged_reason
from isoscope.levels import Level
from isoscope.verdict import Method, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.checkers.clock_anomalies import Contradiction
    from isoscope.checkers.witnesses import Recorded
    from isoscope.verdict import Anomaly

__all__ = ["AXIOMS", "LEVELS", "METHOD", "NO_TIMESTAMPS", "ByClock", "Judged", "concerned", "untimed"]

METHOD = Method.TIMESTAMPS
LEVELS = (Level.CLOCK_SNAPSHOT_ISOLATION, Level.CLOCK_SERIALIZABLE)
NO_TIMESTAMPS = "the history has no timestamps of the database"


def concerned(levels: Sequence[Level]) -> list[Level]:
    """The clock levels on which some of `levels` depend."""
    return [level for level in LEVELS if any(asked in lattice.implied(level) for asked in levels)]


def untimed(verdict: Verdict) -> Verdict:
    """The verdict on a history without timestamps: unknown, unless there is nothing to judge."""
    if verdict.outcome is Outcome.HOLDS:
        return verdict
    return Verdict(level=verdict.level, outcome=Outcome.UNKNOWN, method=METHOD, reason=NO_TIMESTAMPS)


class ByClock(Protocol):
    """What the clock says of one level, of a history or of all its parts."""

    @property
    def level(self) -> str:
        """The level."""
        ...

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each anomaly."""
        ...

    @property
    def findings(self) -> Sequence[Contradiction]:
        """The first of each anomaly."""
        ...

    @property
    def ties(self) -> int:
        """Timestamps of several transactions."""
        ...

    @property
    def untimed(self) -> int:
        """Transactions without a timestamp."""
        ...

    @property
    def untimed_keys(self) -> int:
        """Keys that these wrote."""
        ...

    @property
    def deleted_keys(self) -> Sequence[Any]:
        """Keys that some transaction deletes."""
        ...

    @property
    def mixed_keys(self) -> Sequence[Any]:
        """Keys that are both written and appended to."""
        ...

    @property
    def repeated_reads(self) -> int:
        """Reads that are right if a transaction took effect of which the client never learned the end."""
        ...

    @property
    def repeated_keys(self) -> Sequence[Any]:
        """The keys of these reads."""
        ...

    @property
    def range_reads(self) -> int:
        """Range reads."""
        ...


@dataclass(frozen=True)
class Judged:
    """A judgement of the native core; `history` has at least the transactions that it names."""

    history: Recorded
    judgement: ByClock

    @property
    def level(self) -> Level:
        """The level that was judged."""
        return Level(self.judgement.level)

    @property
    def ties(self) -> int:
        """How many timestamps belong to several transactions."""
        return self.judgement.ties

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each anomaly that was found."""
        return self.judgement.counts

    @cached_property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """The first of each name."""
        is_serial = self.level is Level.CLOCK_SERIALIZABLE
        return tuple(anomaly(self.history, one, is_serial=is_serial) for one in self.judgement.findings)

    @cached_property
    def unjudged(self) -> str:
        """Why something may be wrong though nothing was found."""
        judged = self.judgement
        reasons = [
            unjudged_reason(
                repeated_reads=judged.repeated_reads,
                repeated_keys=judged.repeated_keys,
                deleted_keys=judged.deleted_keys,
                mixed_keys=judged.mixed_keys,
                range_reads=judged.range_reads,
            )
        ]
        if untimed := judged.untimed:
            have = "1 transaction has" if untimed == 1 else f"{untimed:,} transactions have"
            count = judged.untimed_keys
            wrote = f" and wrote {count:,} keys" if count > 1 else " and wrote 1 key" if count else ""
            reasons.insert(0, f"{have} no timestamps{wrote}")
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
        outcome = Outcome.UNKNOWN if self.unjudged else Outcome.HOLDS
        return Verdict(level=self.level, outcome=outcome, method=METHOD, reason=self.unjudged)
