"""Findings of the kernel in the form of those of the specification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope import _native
from isoscope.reference.mechanisms import Finding, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History
    from isoscope.profiles import Profile

__all__ = ["Mirrored", "counted", "mirrored"]

#: More findings than a history of these tests has.
ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """Counts by name, and what was found."""

    counts: dict[str, int]
    findings: tuple[Finding, ...]

    def cases(self) -> set[tuple[str, str]]:
        """The names and cases that were found."""
        return {(finding.name, finding.case) for finding in self.findings}


def mirrored(history: History, profile: Profile, clock_error: int = 0) -> Mirrored:
    """What is found in a history as a whole."""
    judgement = _native.judge_intervals(
        history.columns, profile.native, clock_error=clock_error, max_anomalies=ALL
    )
    findings = (
        Finding(
            found.anomaly, found.case, tuple(Place(*history.columns.locate(one)) for one in found.operations)
        )
        for found in judgement.findings
    )
    return Mirrored(counts=counted(judgement.checks), findings=tuple(findings))


def counted(checks: Iterable[_native.MechanismCheck]) -> dict[str, int]:
    """Counts by name, without zeros."""
    return {check.anomaly: check.count for check in checks if check.count}
