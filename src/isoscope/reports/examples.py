"""The counterexamples that a report shows, each once, although every level that one breaks has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.verdict import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.verdict import Anomaly, Search

__all__ = ["examples"]


def examples(report: Report | Search) -> Iterator[Anomaly]:
    """In the order of the text report: all of one name, then all of the next."""
    if not isinstance(report, Report):
        for sighting in report.sightings:
            yield from sighting.anomalies
        return
    seen: set[str] = set()
    # The verdict with the most names has them in the order in which the text shows them.
    for verdict in sorted(report.verdicts, key=lambda verdict: -len(verdict.anomaly_counts)):
        for name in verdict.anomaly_counts:
            if name not in seen:
                yield from (anomaly for anomaly in verdict.anomalies if anomaly.name == name)
        seen |= verdict.anomaly_counts.keys()
