"""The content of a report as rows: an answer for each mechanism and level, and each anomaly once.

An answer *counts* if it decides the exit status, so that a file and the status never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.levels import MINIMUM, Level
from isoscope.reports.plain_text import counted
from isoscope.verdict import Outcome, Presence, Report, Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.verdict import Anomaly

__all__ = [
    "OUTCOMES",
    "SIZES",
    "Answer",
    "Finding",
    "Result",
    "Unreadable",
    "answers",
    "examples",
    "findings",
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
class Answer:
    """The outcome for one mechanism, level or anomaly; `part` is the report reduced to it."""

    name: str
    outcome: Outcome
    reason: str
    counts: bool
    anomalies: tuple[str, ...]
    part: Report | Search


def answers(report: Report | Search, asked: Sequence[Level]) -> Iterator[Answer]:
    """One answer for each mechanism and level, or anomaly; `asked` are the levels that the user named."""
    if isinstance(report, Search):
        for sighting in report.sightings:
            yield Answer(
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
        yield Answer(
            name=str(verdict.level),
            outcome=verdict.outcome,
            reason=verdict.reason,
            counts=_counts(report, verdict.level, verdict.outcome, asked),
            anomalies=tuple(verdict.anomaly_counts),
            part=replace(report, verdicts=(verdict,), mechanisms=None),
        )


def _of_mechanisms(report: Report) -> Iterator[Answer]:
    """One answer for each mechanism; a check that overlapping intervals leave open does not count."""
    if report.mechanisms is None:
        return
    for verdict in report.mechanisms.verdicts:
        is_silent = verdict.outcome is Outcome.UNKNOWN and not verdict.checked
        yield Answer(
            name=str(verdict.mechanism),
            outcome=verdict.outcome,
            reason=verdict.reason,
            counts=verdict.outcome is Outcome.VIOLATED or is_silent,
            anomalies=tuple(verdict.anomaly_counts),
            part=replace(report, verdicts=(), mechanisms=replace(report.mechanisms, verdicts=(verdict,))),
        )


def _counts(report: Report, level: Level, outcome: Outcome, asked: Sequence[Level]) -> bool:
    """A violation of a level that was asked for or promised counts, or else of the minimum.

    Unknown counts only for an asked level.
    """
    if outcome is Outcome.VIOLATED:
        return level in ({*asked, *report.promises} if asked else report.promised or MINIMUM)
    return outcome is Outcome.UNKNOWN and level in asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The anomalies of one name: their number, the first of them, and the levels that they break."""

    name: str
    count: int
    anomalies: tuple[Anomaly, ...]
    levels: tuple[Level, ...]
    counts: bool


def findings(report: Report | Search, asked: Sequence[Level] = ()) -> Iterator[Finding]:
    """One row for each name, although every level that it breaks reports it."""
    if isinstance(report, Search):
        for s in report.sightings:
            if s.anomalies:
                yield Finding(name=s.name, count=s.count, anomalies=s.anomalies, levels=(), counts=True)
        return
    for verdict in report.mechanisms.verdicts if report.mechanisms else ():
        for name, count in verdict.anomaly_counts.items():
            yield Finding(name=name, count=count, anomalies=verdict.anomalies, levels=(), counts=True)
    # The verdict with the most names has them in the order in which the text shows them.
    widest = sorted(report.verdicts, key=lambda verdict: -len(verdict.anomaly_counts))
    for name in dict.fromkeys(name for verdict in widest for name in verdict.anomaly_counts):
        first = next(verdict for verdict in widest if name in verdict.anomaly_counts)
        levels = tuple(verdict.level for verdict in report.verdicts if name in verdict.anomaly_counts)
        yield Finding(
            name=name,
            count=first.anomaly_counts[name],
            anomalies=tuple(anomaly for anomaly in first.anomalies if anomaly.name == name),
            levels=levels,
            counts=any(_counts(report, level, Outcome.VIOLATED, asked) for level in levels),
        )


def examples(report: Report | Search) -> Iterator[Anomaly]:
    """The counterexamples that a report shows: all of one name, then all of the next."""
    for finding in findings(report):
        yield from finding.anomalies


def sizes_in_words(history: Mapping[str, Any]) -> str:
    """`2 sessions, 1 transaction, ...`."""
    return ", ".join(counted(history[name], name.removesuffix("s")) for name in SIZES)
