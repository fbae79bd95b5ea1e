"""The method of intervals: were the mechanisms of a profile at work, however the instants are chosen?

Li et al. 2023 (Leopard), without its false alarms: `docs/explanation/intervals.md` has the rules,
`rust/kernel/src/intervals` the engine. Cost: near linear. What the mechanisms deduce of the order of versions
is a history of its own, which the method of version orders judges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from isoscope import _native
from isoscope.checkers.violations import NAMES, anomaly
from isoscope.history import EvidenceKind, History, VersionSource
from isoscope.profiles import Certifier, Lock, Read
from isoscope.verdict import (
    Dependencies,
    Mechanism,
    Mechanisms,
    MechanismVerdict,
    Method,
    Outcome,
    Presence,
    Sighting,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from isoscope.checkers.violations import Finding
    from isoscope.checkers.witnesses import Recorded
    from isoscope.levels import Level
    from isoscope.profiles import Profile
    from isoscope.verdict import Anomaly, Ordered, Step

    #: Counts by name; findings; checked and undecided by mechanism; total, overlapping, uncertain by kind.
    Judged: TypeAlias = tuple[list[int], list[Finding], list[tuple[int, int]], list[tuple[int, int, int]]]

__all__ = [
    "INEXACT",
    "METHOD",
    "NAMES",
    "Found",
    "deduced",
    "find",
    "mechanisms",
    "renamed",
    "told",
    "under_own_name",
    "unknown",
]

METHOD = Method.INTERVALS
SILENT = "the history has no intervals of operations: nobody recorded when each was sent and answered"
INEXACT = "clocks that are not exact do not tell which transaction was over when another began"
_KINDS = ("wr", "ww", "rw")


def mechanisms(history: History, profile: Profile, *, clock_error: int = 0, most: int = 10) -> Mechanisms:
    """What the intervals say of the mechanisms that the profile has."""
    return told(profile, _found(history, profile, clock_error, most), clock_error)


def told(profile: Profile, found: Found | str, clock_error: int) -> Mechanisms:
    """What was found, or why nobody could look, as data for reports."""
    return Mechanisms(
        profile=profile.name,
        title=f"{profile.database} {profile.level}",
        verdicts=tuple(_silent(profile, found) if isinstance(found, str) else found.verdicts()),
        dependencies=() if isinstance(found, str) else found.dependencies(),
        clock_error=clock_error,
    )


def find(
    history: History, names: Sequence[str], profile: Profile, *, clock_error: int = 0, most: int = 10
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    found = _found(history, profile, clock_error, most)
    for name in names:
        if isinstance(found, str):
            yield Sighting(name=name, presence=Presence.UNKNOWN, method=METHOD, reason=found)
        else:
            yield found.sighting(name)


def deduced(history: History, profile: Profile, *, clock_error: int = 0) -> History | str:
    """The history with the order of versions that the mechanisms and the intervals show for certain.

    Or why they show none.
    """
    if EvidenceKind.INTERVALS not in history.evidence.present:
        return SILENT
    try:
        columns = _native.deduced_versions(history.columns, profile.native, clock_error=clock_error)
    except ValueError as error:
        return _refusal(history, error)
    return History(columns, history.source)


def under_own_name(verdict: Verdict) -> Verdict:
    """A verdict on the deduced history, as one of this method: no declaration orders versions."""
    anomalies = tuple(map(_undeclared, verdict.anomalies))
    return replace(verdict, method=METHOD, anomalies=anomalies)


def _undeclared(found: Anomaly) -> Anomaly:
    facts = dict(found.facts)
    if "alternatives" in facts:
        every = cast("Sequence[Sequence[Step]]", facts["alternatives"])
        facts["alternatives"] = tuple(tuple(map(_by_mechanisms, steps)) for steps in every)
    return replace(found, steps=tuple(map(_by_mechanisms, found.steps)), facts=facts)


def _by_mechanisms(step: Step) -> Step:
    return replace(step, source=METHOD.value) if step.source == VersionSource.DECLARED else step


def renamed(rows: Sequence[Ordered]) -> tuple[Ordered, ...]:
    """Who orders versions of the deduced history."""
    return tuple(
        replace(row, source=METHOD.value) if row.source == VersionSource.DECLARED else row for row in rows
    )


def unknown(level: Level, reason: str) -> Verdict:
    """The verdict on a level that nothing can be said of."""
    return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=reason)


def _silent(profile: Profile, reason: str) -> Iterator[MechanismVerdict]:
    """No mechanism can be judged."""
    for mechanism in Mechanism:
        if _has(profile, mechanism):
            yield MechanismVerdict(mechanism=mechanism, outcome=Outcome.UNKNOWN, reason=reason)


def _refusal(history: History, error: ValueError) -> str:
    """Which transaction cannot be judged, in words."""
    number, problem = error.args
    return f"not every operation has an interval: {history.transaction(number).label}: {problem}"


def _has(profile: Profile, mechanism: Mechanism) -> bool:
    conducts = profile.statements.values()
    match mechanism:
        case Mechanism.CONSISTENT_READ:
            return any(conduct.read is not Read.UNCOMMITTED for conduct in conducts)
        case Mechanism.MUTUAL_EXCLUSION:
            locks = [profile.commit_lock, *(conduct.lock for conduct in conducts)]
            return any(lock is not Lock.NONE for lock in locks)
        case Mechanism.FIRST_UPDATER_WINS:
            return profile.first_updater_wins
        case Mechanism.SERIALIZATION_CERTIFIER:
            return profile.certifier is not Certifier.NONE
        case _:
            return True


def _found(history: History, profile: Profile, clock_error: int, most: int) -> Found | str:
    """What the native core found, or why it could not look."""
    if EvidenceKind.INTERVALS not in history.evidence.present:
        return SILENT
    row = profile.native
    try:
        judged = _native.judge_intervals(history.columns, row, clock_error=clock_error, most=most)
    except ValueError as error:
        return _refusal(history, error)
    return Found(history, profile, judged)


@dataclass(frozen=True)
class Found:
    """What the native core found; it has names and mechanisms in one order."""

    history: Recorded
    profile: Profile
    judged: Judged

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many there are of each name."""
        return dict(zip(NAMES, self.judged[0], strict=True))

    @cached_property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """The first of each name."""
        return tuple(anomaly(self.history, self.profile, finding) for finding in self.judged[1])

    def of(self, name: str) -> tuple[Anomaly, ...]:
        """Those of one name."""
        return tuple(found for found in self.anomalies if found.name == name)

    def verdicts(self) -> Iterator[MechanismVerdict]:
        """An answer for each mechanism of the profile, and for locks that only the trace tells of."""
        for mechanism, name in zip(Mechanism, NAMES, strict=True):
            checked, undecided = self._decided(mechanism)
            is_labelled = mechanism is Mechanism.MUTUAL_EXCLUSION and checked > 0
            if _has(self.profile, mechanism) or is_labelled or self.counts[name]:
                yield self._verdict(mechanism, name, checked, undecided)

    def _decided(self, mechanism: Mechanism) -> tuple[int, int]:
        """How many were checked, and how many of them are open; what nobody deduced nobody contradicts."""
        if mechanism is Mechanism.AGREEMENT:
            total, _, uncertain = self.judged[3][_KINDS.index("ww")]
            # An order that is contradicted may have become uncertain by that.
            return max(total - uncertain, self.counts["contradictory-dependencies"]), 0
        return self.judged[2][list(Mechanism).index(mechanism)]

    def _verdict(self, mechanism: Mechanism, name: str, checked: int, undecided: int) -> MechanismVerdict:
        count = self.counts[name]
        violated, open_ = bool(count), bool(undecided) and not count
        return MechanismVerdict(
            mechanism=mechanism,
            outcome=Outcome.VIOLATED if violated else Outcome.UNKNOWN if open_ else Outcome.HOLDS,
            reason=_open(checked, undecided) if open_ else "",
            checked=checked,
            undecided=undecided,
            anomaly_counts={name: count} if violated else {},
            anomalies=self.of(name),
        )

    def dependencies(self) -> tuple[Dependencies, ...]:
        """How many there are of each kind, and how many stay open."""
        rows = zip(_KINDS, self.judged[3], strict=True)
        return tuple(
            Dependencies(kind=kind, total=total, overlapping=overlapping, uncertain=uncertain)
            for kind, (total, overlapping, uncertain) in rows
        )

    def sighting(self, name: str) -> Sighting:
        """Whether there are anomalies of one name."""
        if count := self.counts[name]:
            return Sighting(
                name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=self.of(name)
            )
        mechanism = list(Mechanism)[NAMES.index(name)]
        checked, undecided = self._decided(mechanism)
        presence = Presence.UNKNOWN if undecided else Presence.ABSENT
        reason = _open(checked, undecided) if undecided else ""
        return Sighting(name=name, presence=presence, method=METHOD, reason=reason)


def _open(checked: int, undecided: int) -> str:
    """Why nothing is proved though nothing was found."""
    return f"{undecided:,} of {checked:,} may be right or wrong, because intervals overlap"
