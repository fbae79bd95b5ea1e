"""What the kernel's mirror of a database says, in the words of the specification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope import _native
from isoscope.checkers.intervals import NAMES
from isoscope.reference.mechanisms import Finding, Place

if TYPE_CHECKING:
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

    def cases(self) -> set[tuple[str, int]]:
        """The names and cases that were found."""
        return {(finding.name, finding.case) for finding in self.findings}


def mirrored(history: History, profile: Profile, clock_error: int = 0) -> Mirrored:
    """What is found in a history as a whole."""
    counts, found, _, _ = _native.judge_intervals(
        history.columns, profile.native, clock_error=clock_error, most=ALL
    )
    findings = (
        Finding(list(NAMES)[name], case, tuple(Place(*history.columns.locate(one)) for one in operations))
        for name, case, operations in found
    )
    return Mirrored(counts=counted(counts), findings=tuple(findings))


def counted(counts: list[int]) -> dict[str, int]:
    """Counts by name, without those that are not there."""
    return {name: count for name, count in zip(NAMES, counts, strict=True) if count}
