"""The answer for one level, one mechanism or one anomaly, and the words that answers are given in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.levels import Level
    from isoscope.verdict.anomaly import Anomaly

__all__ = [
    "Claim",
    "Mechanism",
    "MechanismVerdict",
    "Method",
    "Outcome",
    "Presence",
    "Sighting",
    "Verdict",
]


class Outcome(StrEnum):
    """The three possible answers; `unknown` is an answer too."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class Presence(StrEnum):
    """The three answers to the question whether a history shows an anomaly."""

    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Method(StrEnum):
    """The evidence that an answer rests on."""

    VALUES = "values"
    VERSION_ORDER = "version-order"
    TIMESTAMPS = "timestamps"
    INTERVALS = "intervals"


class Mechanism(StrEnum):
    """How databases keep isolation; `agreement`: no mechanism contradicts what another one shows."""

    CONSISTENT_READ = "consistent-read"
    MUTUAL_EXCLUSION = "mutual-exclusion"
    FIRST_UPDATER_WINS = "first-updater-wins"
    SERIALIZATION_CERTIFIER = "serialization-certifier"
    AGREEMENT = "agreement"


class Claim(StrEnum):
    """A claim of the user about the order of versions, beyond what the history shows."""

    SEQUENTIAL_KEYS = "sequential-keys"
    LINEARIZABLE_KEYS = "linearizable-keys"
    WRITES_FOLLOW_READS = "writes-follow-reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer for one level; `reason` says what is missing for an unknown one."""

    level: Level
    outcome: Outcome
    method: Method
    reason: str = ""
    anomaly_counts: Mapping[str, int] = field(default_factory=dict)
    anomalies: tuple[Anomaly, ...] = ()

    def __post_init__(self) -> None:
        _refuse_contradiction(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has three outcomes: compare `.outcome`, not truth")


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismVerdict:
    """The answer for one mechanism: `checked` reads or pairs, of which `undecided` may be right or wrong.

    Undecided ones depend on the times inside intervals that overlap: with one of them, the mechanism does not
    `hold`.
    """

    mechanism: Mechanism
    outcome: Outcome
    reason: str = ""
    checked: int = 0
    undecided: int = 0
    anomaly_counts: Mapping[str, int] = field(default_factory=dict)
    anomalies: tuple[Anomaly, ...] = ()

    def __post_init__(self) -> None:
        _refuse_contradiction(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has three outcomes: compare `.outcome`, not truth")


def _refuse_contradiction(verdict: Verdict | MechanismVerdict) -> None:
    """Only a violation has counterexamples, and only an unknown answer has a reason."""
    if bool(verdict.anomalies) != (verdict.outcome is Outcome.VIOLATED):
        raise ValueError(f"{verdict.outcome} with {len(verdict.anomalies)} anomalies")
    if bool(verdict.reason) != (verdict.outcome is Outcome.UNKNOWN):
        raise ValueError(f"{verdict.outcome} with the reason {verdict.reason!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """The answer for one anomaly: whether the history shows it, how often, and the first of them."""

    name: str
    presence: Presence
    method: Method
    reason: str = ""
    count: int = 0
    anomalies: tuple[Anomaly, ...] = ()

    def __post_init__(self) -> None:
        is_found = self.presence is Presence.FOUND
        if bool(self.count) != is_found or bool(self.anomalies) != is_found:
            raise ValueError(f"{self.presence} with {self.count}, {len(self.anomalies)} of them shown")
        if bool(self.reason) != (self.presence is Presence.UNKNOWN):
            raise ValueError(f"{self.presence} with the reason {self.reason!r}")

    def __bool__(self) -> NoReturn:
        raise TypeError("a sighting has three answers: compare `.presence`, not truth")
