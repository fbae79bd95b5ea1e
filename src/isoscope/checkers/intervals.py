"""The method of intervals: were the mechanisms of a profile at work?

Li et al. 2023 (Leopard), without its false alarms: `docs/explanation/intervals.md` has the rules,
`rust/kernel/src/intervals` the engine. Cost: near linear. The order of versions that the mechanisms show
becomes part of a copy of the history, which the method of version orders judges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from isoscope import _native
from isoscope.checkers.mechanism_anomalies import anomaly
from isoscope.history import EvidenceKind, History, VersionSource
from isoscope.profiles import Certifier, Lock, Read
from isoscope.verdict import (
    AlternativesFacts,
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

    from isoscope._native import MechanismCheck, MechanismsJudgement
    from isoscope.checkers.witnesses import Recorded
    from isoscope.levels import Level
    from isoscope.profiles import Profile
    from isoscope.verdict import Anomaly, Ordered, Step

__all__ = [
    "INEXACT",
    "METHOD",
    "NAMES",
    "NO_INTERVALS",
    "Findings",
    "find",
    "judge",
    "mechanisms_of",
    "renamed",
    "under_own_name",
    "unknown",
]

METHOD = Method.INTERVALS
NO_INTERVALS = "the history has no intervals of operations: it does not say when each was sent and answered"
INEXACT = "clocks that are not exact do not tell which transaction was over when another began"
#: The anomaly of each mechanism.
NAMES = MappingProxyType(
    {
        "inconsistent-read": Mechanism.CONSISTENT_READ,
        "lock-violation": Mechanism.MUTUAL_EXCLUSION,
        "first-updater-violation": Mechanism.FIRST_UPDATER_WINS,
        "certifier-violation": Mechanism.SERIALIZATION_CERTIFIER,
        "contradictory-dependencies": Mechanism.AGREEMENT,
    }
)


def judge(
    history: History, profile: Profile, *, clock_error: int = 0, max_anomalies: int = 10
) -> tuple[Mechanisms, History | str]:
    """The verdicts on the mechanisms of the profile, and the history with the order of versions.

    If nothing can be judged, the second is the reason.
    """
    found = _judged(history, profile, clock_error, max_anomalies, orders_versions=True)
    ordered = found if isinstance(found, str) else found.ordered(history)
    return mechanisms_of(profile, found, clock_error), ordered


def mechanisms_of(profile: Profile, found: Findings | str, clock_error: int) -> Mechanisms:
    """The findings, or the reason why nothing was judged, as data for reports."""
    return Mechanisms(
        profile=profile.name,
        title=f"{profile.database} {profile.level}",
        verdicts=tuple(_unknown_mechanisms(profile, found) if isinstance(found, str) else found.verdicts()),
        dependencies=() if isinstance(found, str) else found.dependencies(),
        clock_error=clock_error,
    )


def find(
    history: History, names: Sequence[str], profile: Profile, *, clock_error: int = 0, max_anomalies: int = 10
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    found = _judged(history, profile, clock_error, max_anomalies)
    for name in names:
        if isinstance(found, str):
            yield Sighting(name=name, presence=Presence.UNKNOWN, method=METHOD, reason=found)
        else:
            yield found.sighting(name)


def under_own_name(verdict: Verdict) -> Verdict:
    """A verdict on the history with deduced versions, as one of this method."""
    anomalies = tuple(map(_undeclared, verdict.anomalies))
    return replace(verdict, method=METHOD, anomalies=anomalies)


def _undeclared(found: Anomaly) -> Anomaly:
    facts = found.facts
    if isinstance(facts, AlternativesFacts):
        every = tuple(tuple(map(_by_mechanisms, steps)) for steps in facts.alternatives)
        facts = replace(facts, alternatives=every)
    return replace(found, steps=tuple(map(_by_mechanisms, found.steps)), facts=facts)


def _by_mechanisms(step: Step) -> Step:
    return replace(step, source=METHOD.value) if step.source == VersionSource.DECLARED else step


def renamed(rows: Sequence[Ordered]) -> tuple[Ordered, ...]:
    """The sources of the order of versions: the mechanisms, not a declaration."""
    return tuple(
        replace(row, source=METHOD.value) if row.source == VersionSource.DECLARED else row for row in rows
    )


def unknown(level: Level, reason: str) -> Verdict:
    """The verdict on a level that cannot be judged."""
    return Verdict(level=level, outcome=Outcome.UNKNOWN, method=METHOD, reason=reason)


def _unknown_mechanisms(profile: Profile, reason: str) -> Iterator[MechanismVerdict]:
    """The verdicts if no mechanism can be judged."""
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


def _judged(
    history: History,
    profile: Profile,
    clock_error: int,
    max_anomalies: int,
    *,
    orders_versions: bool = False,
) -> Findings | str:
    """The findings of the native core, or the reason why it cannot judge the history."""
    if EvidenceKind.INTERVALS not in history.evidence.present:
        return NO_INTERVALS
    try:
        judgement = _native.judge_intervals(
            history.columns,
            profile.native,
            clock_error=clock_error,
            max_anomalies=max_anomalies,
            orders_versions=orders_versions,
        )
    except ValueError as error:
        return _refusal(history, error)
    return Findings(history, profile, judgement)


@dataclass(frozen=True)
class Findings:
    """A judgement of the native core, and the transactions that it is about."""

    history: Recorded
    profile: Profile
    judgement: MechanismsJudgement

    @cached_property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """The first of each name."""
        return tuple(anomaly(self.history, finding) for finding in self.judgement.findings)

    def of(self, name: str) -> tuple[Anomaly, ...]:
        """Those of one name."""
        return tuple(found for found in self.anomalies if found.name == name)

    def ordered(self, history: History) -> History:
        """The history with the order of versions that is certain."""
        assert self.judgement.ordered is not None
        return History(self.judgement.ordered, history.source)

    def verdicts(self) -> Iterator[MechanismVerdict]:
        """An answer for each mechanism of the profile, and for locks that only labels of the trace name."""
        for check in self.judgement.checks:
            mechanism = Mechanism(check.mechanism)
            is_labelled = mechanism is Mechanism.MUTUAL_EXCLUSION and check.checked > 0
            if _has(self.profile, mechanism) or is_labelled or check.count:
                yield self._verdict(mechanism, check)

    def _verdict(self, mechanism: Mechanism, check: MechanismCheck) -> MechanismVerdict:
        violated, is_open = bool(check.count), bool(check.undecided) and not check.count
        return MechanismVerdict(
            mechanism=mechanism,
            outcome=Outcome.VIOLATED if violated else Outcome.UNKNOWN if is_open else Outcome.HOLDS,
            reason=_undecided(check) if is_open else "",
            checked=check.checked,
            undecided=check.undecided,
            anomaly_counts={check.anomaly: check.count} if violated else {},
            anomalies=self.of(check.anomaly),
        )

    def dependencies(self) -> tuple[Dependencies, ...]:
        """How many there are of each kind, and how many stay open."""
        return tuple(
            Dependencies(kind=one.kind, total=one.total, overlapping=one.overlapping, uncertain=one.uncertain)
            for one in self.judgement.dependencies
        )

    def sighting(self, name: str) -> Sighting:
        """Whether there are anomalies of one name."""
        [check] = [one for one in self.judgement.checks if one.anomaly == name]
        if check.count:
            return Sighting(
                name=name, presence=Presence.FOUND, method=METHOD, count=check.count, anomalies=self.of(name)
            )
        presence = Presence.UNKNOWN if check.undecided else Presence.ABSENT
        reason = _undecided(check) if check.undecided else ""
        return Sighting(name=name, presence=presence, method=METHOD, reason=reason)


def _undecided(check: MechanismCheck) -> str:
    """Why nothing is proved though nothing was found."""
    return f"{check.undecided:,} of {check.checked:,} may be right or wrong, because intervals overlap"
