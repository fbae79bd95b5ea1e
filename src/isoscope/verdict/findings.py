"""The anomalies of a report, each name once, although every level that an anomaly breaks reports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from isoscope.levels import Level
    from isoscope.verdict.anomaly import Anomaly
    from isoscope.verdict.answers import MechanismVerdict, Sighting, Verdict

__all__ = ["Finding", "of_mechanisms", "of_sightings", "of_verdicts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The anomalies of one name: their number, the first of them, and the levels that they break.

    `counts` if they decide the exit status.
    """

    name: str
    count: int
    anomalies: tuple[Anomaly, ...]
    levels: tuple[Level, ...]
    counts: bool


def of_sightings(sightings: Sequence[Sighting]) -> Iterator[Finding]:
    """The anomalies that were looked for and found."""
    for one in sightings:
        if one.anomalies:
            yield Finding(name=one.name, count=one.count, anomalies=one.anomalies, levels=(), counts=True)


def of_mechanisms(verdicts: Sequence[MechanismVerdict], *, counts: bool) -> Iterator[Finding]:
    """The anomalies that convict mechanisms."""
    for verdict in verdicts:
        for name, count in verdict.anomaly_counts.items():
            anomalies = tuple(anomaly for anomaly in verdict.anomalies if anomaly.name == name)
            yield Finding(name=name, count=count, anomalies=anomalies, levels=(), counts=counts)


def of_verdicts(verdicts: Sequence[Verdict], deciding: Collection[Level]) -> Iterator[Finding]:
    """The anomalies that break levels; they count if one of the `deciding` levels is among these."""
    # The verdict with the most names has them in the order in which the text shows them.
    widest = sorted(verdicts, key=lambda verdict: -len(verdict.anomaly_counts))
    for name in dict.fromkeys(name for verdict in widest for name in verdict.anomaly_counts):
        first = next(verdict for verdict in widest if name in verdict.anomaly_counts)
        broken = tuple(verdict.level for verdict in verdicts if name in verdict.anomaly_counts)
        yield Finding(
            name=name,
            count=first.anomaly_counts[name],
            anomalies=tuple(anomaly for anomaly in first.anomalies if anomaly.name == name),
            levels=broken,
            counts=any(level in deciding for level in broken),
        )
