"""The method of intervals: were the mechanisms of a profile at work, however the instants are chosen?

Li et al. 2023 (Leopard), without its false alarms: `docs/explanation/intervals.md` has the rules,
`rust/kernel/src/intervals` the engine. Cost: near linear. What the mechanisms deduce of the order of versions
is a history of its own, which the method of version orders judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope import _native
from isoscope.checkers.violations import NAMES, anomaly
from isoscope.history import EvidenceKind, History
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
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from isoscope.checkers.violations import Finding
    from isoscope.checkers.witnesses import Recorded
    from isoscope.profiles import Profile
    from isoscope.verdict import Anomaly

    #: Counts by name; findings; checked and undecided by mechanism; total, overlapping, uncertain by kind.
    Judged: TypeAlias = tuple[list[int], list[Finding], list[tuple[int, int]], list[tuple[int, int, int]]]

__all__ = ["METHOD", "NAMES", "SILENT", "Found", "deduced", "find", "is_silent", "mechanisms"]

METHOD = Method.INTERVALS
SILENT = "the history has no intervals of operations: nobody recorded when each was sent and answered"
_KINDS = ("wr", "ww", "rw")
#: What a mechanism decides, one and several.
_UNITS = {
    Mechanism.CONSISTENT_READ: ("read", "reads"),
    Mechanism.MUTUAL_EXCLUSION: ("pair of locks", "pairs of locks"),
    Mechanism.FIRST_UPDATER_WINS: ("pair of writes", "pairs of writes"),
    Mechanism.SERIALIZATION_CERTIFIER: ("pattern of dependencies", "patterns of dependencies"),
    Mechanism.AGREEMENT: ("order of two versions", "orders of two versions"),
}


def mechanisms(history: History, profile: Profile, *, clock_error: int = 0, most: int = 10) -> Mechanisms:
    """What the intervals say of the mechanisms that the profile has."""
    if not is_silent(history):
        return _found(history, profile, clock_error, most).mechanisms(clock_error)
    return _mechanisms(profile, _silent(profile), (), clock_error)


def _mechanisms(
    profile: Profile,
    verdicts: Iterable[MechanismVerdict],
    dependencies: tuple[Dependencies, ...],
    clock_error: int,
) -> Mechanisms:
    return Mechanisms(
        profile=profile.name,
        title=f"{profile.database} {profile.level}",
        verdicts=tuple(verdicts),
        dependencies=dependencies,
        clock_error=clock_error,
    )


def find(
    history: History, names: Sequence[str], profile: Profile, *, clock_error: int = 0, most: int = 10
) -> Iterator[Sighting]:
    """Whether the history shows the anomalies of these names."""
    if is_silent(history):
        unknown = Presence.UNKNOWN
        yield from (Sighting(name=name, presence=unknown, method=METHOD, reason=SILENT) for name in names)
        return
    found = _found(history, profile, clock_error, most)
    for name in names:
        yield found.sighting(name)


def deduced(history: History, profile: Profile, *, clock_error: int = 0) -> History:
    """The history with the order of versions that the mechanisms and the intervals show for certain."""
    if is_silent(history):
        return history
    columns = _native.deduced_versions(history.columns, profile.row(), clock_error=clock_error)
    return History(columns, history.source)


def is_silent(history: History) -> bool:
    """Whether nobody recorded when anything was."""
    return EvidenceKind.INTERVALS not in history.evidence.present


def _silent(profile: Profile) -> Iterator[MechanismVerdict]:
    """No mechanism can be judged."""
    for mechanism in Mechanism:
        if _has(profile, mechanism):
            yield MechanismVerdict(mechanism=mechanism, outcome=Outcome.UNKNOWN, reason=SILENT)


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


def _found(history: History, profile: Profile, clock_error: int, most: int) -> Found:
    judged = _native.judge_intervals(history.columns, profile.row(), clock_error=clock_error, most=most)
    return Found(history, profile, judged)


@dataclass(frozen=True)
class Found:
    """What the native core found; it has names and mechanisms in one order."""

    history: Recorded
    profile: Profile
    judged: Judged

    @cached_property
    def counts(self) -> dict[str, int]:
        return dict(zip(NAMES, self.judged[0], strict=True))

    @cached_property
    def anomalies(self) -> tuple[Anomaly, ...]:
        return tuple(anomaly(self.history, self.profile, finding) for finding in self.judged[1])

    def of(self, name: str) -> tuple[Anomaly, ...]:
        return tuple(found for found in self.anomalies if found.name == name)

    def mechanisms(self, clock_error: int) -> Mechanisms:
        """All that was found."""
        return _mechanisms(self.profile, self.verdicts(), self.dependencies(), clock_error)

    def verdicts(self) -> Iterator[MechanismVerdict]:
        """An answer for each mechanism of the profile, and for others that the trace itself asks for."""
        for mechanism, name in zip(Mechanism, NAMES, strict=True):
            checked, undecided = self._decided(mechanism)
            if _has(self.profile, mechanism) or checked or self.counts[name]:
                yield self._verdict(mechanism, name, checked, undecided)

    def _decided(self, mechanism: Mechanism) -> tuple[int, int]:
        """How many were checked, and how many of them are open; what nobody deduced nobody contradicts."""
        if mechanism is Mechanism.AGREEMENT:
            total, _, uncertain = self.judged[3][_KINDS.index("ww")]
            return total - uncertain, 0
        return self.judged[2][list(Mechanism).index(mechanism)]

    def _verdict(self, mechanism: Mechanism, name: str, checked: int, undecided: int) -> MechanismVerdict:
        count = self.counts[name]
        violated, open_ = bool(count), bool(undecided) and not count
        return MechanismVerdict(
            mechanism=mechanism,
            outcome=Outcome.VIOLATED if violated else Outcome.UNKNOWN if open_ else Outcome.HOLDS,
            reason=_open(mechanism, checked, undecided) if open_ else "",
            checked=checked,
            undecided=undecided,
            anomaly_counts={name: count} if violated else {},
            anomalies=self.of(name),
        )

    def dependencies(self) -> tuple[Dependencies, ...]:
        rows = zip(_KINDS, self.judged[3], strict=True)
        return tuple(
            Dependencies(kind=kind, total=total, overlapping=overlapping, uncertain=uncertain)
            for kind, (total, overlapping, uncertain) in rows
        )

    def sighting(self, name: str) -> Sighting:
        if count := self.counts[name]:
            return Sighting(
                name=name, presence=Presence.FOUND, method=METHOD, count=count, anomalies=self.of(name)
            )
        mechanism = list(Mechanism)[NAMES.index(name)]
        checked, undecided = self._decided(mechanism)
        presence = Presence.UNKNOWN if undecided else Presence.ABSENT
        reason = _open(mechanism, checked, undecided) if undecided else ""
        return Sighting(name=name, presence=presence, method=METHOD, reason=reason)


def _open(mechanism: Mechanism, checked: int, undecided: int) -> str:
    """Why nothing is proved though nothing was found."""
    one, many = _UNITS[mechanism]
    of_all = f"1 {one}" if checked == 1 else f"{checked:,} {many}"
    return f"{undecided:,} of {of_all} could not be decided: their intervals overlap"
