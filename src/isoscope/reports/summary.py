"""Many histories in one table: how many keep each level, and how many show each anomaly.

As Table 4 of Liu et al. 2024 (Plume) counts anomalies by database.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isoscope import __version__
from isoscope.levels import Level
from isoscope.reports.json import dumps
from isoscope.reports.plain_text import counted
from isoscope.reports.terminal import table
from isoscope.verdict import Outcome, Presence, Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isoscope.verdict import Search

__all__ = ["Summary"]

#: Columns of words; the others hold numbers.
_WORDS = ("level", "anomaly", "first in")


@dataclass(slots=True)
class _Shown:
    """One anomaly over all histories."""

    histories: int = 0
    count: int = 0
    unknown: int = 0
    first: str = ""

    def add(self, path: str, count: int) -> None:
        self.histories += 1
        self.count += count
        self.first = self.first or path


@dataclass(slots=True)
class Summary:
    """Counts over many histories; the reports themselves are not kept."""

    histories: int = 0
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    levels: dict[Level, dict[Outcome, int]] = field(default_factory=dict)
    anomalies: dict[str, _Shown] = field(default_factory=dict)

    def add(self, report: Report | Search) -> None:
        """Counts one history."""
        self.histories += 1
        path = str(report.history["path"])
        if isinstance(report, Report):
            self._add_verdicts(path, report)
            return
        for sighting in report.sightings:
            shown = self.anomalies.setdefault(sighting.name, _Shown())
            if sighting.presence is Presence.FOUND:
                shown.add(path, sighting.count)
            shown.unknown += sighting.presence is Presence.UNKNOWN

    def _add_verdicts(self, path: str, report: Report) -> None:
        counts: dict[str, int] = {}
        for verdict in report.verdicts:
            outcomes = self.levels.setdefault(verdict.level, dict.fromkeys(Outcome, 0))
            outcomes[verdict.outcome] += 1
            counts |= verdict.anomaly_counts
        for mechanism in report.mechanisms.verdicts if report.mechanisms else ():
            counts |= mechanism.anomaly_counts
        for name, count in counts.items():
            self.anomalies.setdefault(name, _Shown()).add(path, count)

    def add_unreadable(self, path: str, error: str) -> None:
        """Notes a history that could not be read."""
        self.unreadable.append((path, error))

    def render_json(self) -> str:
        """One document for all histories."""
        return dumps(self.document())

    def document(self) -> dict[str, Any]:
        """The counts as data."""
        return {
            "isoscope": __version__,
            "summary": {
                "histories": self.histories,
                "unreadable": [{"path": path, "error": error} for path, error in self.unreadable],
                "levels": [
                    {"level": str(level)} | {str(outcome): count for outcome, count in counts.items()}
                    for level, counts in self._levels()
                ],
                "anomalies": [
                    {
                        "name": name,
                        "histories": shown.histories,
                        "count": shown.count,
                        "unknown": shown.unknown,
                        "first": shown.first,
                    }
                    for name, shown in self._anomalies()
                ],
            },
        }

    def render_text(self) -> str:
        """The counts as tables."""
        read = counted(self.histories, "history", "histories")
        lost = f", {len(self.unreadable):,} could not be read" if self.unreadable else ""
        blocks = [f"{read}{lost}", *self._level_table(), *self._anomaly_table()]
        return "\n\n".join(blocks) + "\n"

    def _level_table(self) -> Iterator[str]:
        silent = [level for level, counts in self._levels() if not _decided(counts)]
        rows = [
            [str(level), *(f"{counts[outcome]:,}" for outcome in Outcome)]
            for level, counts in self._levels()
            if level not in silent
        ]
        if rows:
            yield _table(["level", *map(str, Outcome)], rows)
        if silent:
            what = "1 level is" if len(silent) == 1 else f"{len(silent)} levels are"
            yield f"{what} unknown for every history"

    def _anomaly_table(self) -> Iterator[str]:
        head = ["anomaly", "histories", "found", "unknown", "first in"]
        rows = [
            [name, f"{shown.histories:,}", f"{shown.count:,}", f"{shown.unknown:,}", shown.first]
            for name, shown in self._anomalies()
        ]
        if not self._may_be_unknown:
            head, *rows = ([*row[:3], row[4]] for row in (head, *rows))
        if rows:
            yield _table(head, rows)
        elif self.histories:
            yield "no anomaly found"

    @property
    def _may_be_unknown(self) -> bool:
        return any(shown.unknown for shown in self.anomalies.values())

    def _levels(self) -> list[tuple[Level, dict[Outcome, int]]]:
        return [(level, self.levels[level]) for level in Level if level in self.levels]

    def _anomalies(self) -> list[tuple[str, _Shown]]:
        """By how many histories show it, then by name."""
        return sorted(self.anomalies.items(), key=lambda item: (-item[1].histories, item[0]))


def _decided(counts: dict[Outcome, int]) -> int:
    return sum(count for outcome, count in counts.items() if outcome is not Outcome.UNKNOWN)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    numbers = [place for place, name in enumerate(head) if name not in _WORDS]
    return table([head, *rows], numbers=numbers)
