"""The content of a report as rows: one for each mechanism and level, or for each anomaly that was looked for.

A row *counts* if it decides the exit status, so that a file and the status never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.reports.plain_text import counted
from isoscope.verdict import Outcome, Presence, Report, Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.levels import Level
    from isoscope.verdict import Anomaly

__all__ = [
    "OUTCOMES",
    "SIZES",
    "Result",
    "Row",
    "Unreadable",
    "examples",
    "rows",
    "sizes_in_words",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A history that could not be read, and why."""

    path: str
    error: str

    @property
    def message(self) -> str:
        """The error without its excerpt and hint."""
        return self.error.partition("\n")[0]


Result: TypeAlias = Report | Search | Unreadable

#: The numbers of a history that every report shows.
SIZES = ("sessions", "transactions", "operations", "keys")
#: The presence of an anomaly as the outcome for a level.
OUTCOMES = {
    Presence.FOUND: Outcome.VIOLATED,
    Presence.ABSENT: Outcome.HOLDS,
    Presence.UNKNOWN: Outcome.UNKNOWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The outcome for one mechanism, level or anomaly; `part` is the report reduced to it."""

    name: str
    outcome: Outcome
    reason: str
    counts: bool
    anomalies: tuple[str, ...]
    part: Report | Search


def rows(report: Report | Search) -> Iterator[Row]:
    """One row for each mechanism and level, or anomaly."""
    if isinstance(report, Search):
        for sighting in report.sightings:
            yield Row(
                name=sighting.name,
                outcome=OUTCOMES[sighting.presence],
                reason=sighting.reason,
                counts=sighting.presence is not Presence.ABSENT,
                anomalies=(sighting.name,) if sighting.count else (),
                part=replace(report, sightings=(sighting,)),
            )
        return
    yield from _of_mechanisms(report)
    for verdict in report.verdicts:
        yield Row(
            name=str(verdict.level),
            outcome=verdict.outcome,
            reason=verdict.reason,
            counts=_counts(report, verdict.level, verdict.outcome),
            anomalies=tuple(verdict.anomaly_counts),
            part=replace(report, verdicts=(verdict,), mechanisms=None, asked=(verdict.level,), promises=()),
        )


def _of_mechanisms(report: Report) -> Iterator[Row]:
    """One row for each mechanism; a check that overlapping intervals leave open does not count."""
    if report.mechanisms is None:
        return
    for verdict in report.mechanisms.verdicts:
        is_silent = verdict.outcome is Outcome.UNKNOWN and not verdict.checked
        yield Row(
            name=str(verdict.mechanism),
            outcome=verdict.outcome,
            reason=verdict.reason,
            counts=report.mechanisms_decide and (verdict.outcome is Outcome.VIOLATED or is_silent),
            anomalies=tuple(verdict.anomaly_counts),
            part=replace(
                report,
                verdicts=(),
                mechanisms=replace(report.mechanisms, verdicts=(verdict,)),
                asked=(),
                promises=(),
            ),
        )


def _counts(report: Report, level: Level, outcome: Outcome) -> bool:
    if outcome is Outcome.VIOLATED:
        return level in report.deciding
    return outcome is Outcome.UNKNOWN and level in report.deciding_unknown


def examples(report: Report | Search) -> Iterator[Anomaly]:
    """The counterexamples that a report shows: all of one name, then all of the next."""
    for finding in report.findings:
        yield from finding.anomalies


def sizes_in_words(history: Mapping[str, Any]) -> str:
    """`2 sessions, 1 transaction, ...`."""
    return ", ".join(counted(history[name], name.removesuffix("s")) for name in SIZES)
