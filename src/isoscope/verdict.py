"""The answer for one level, with its proof: data here, sentences only in `explain`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

from isoscope import levels
from isoscope.anomalies import CATALOGUE, family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.levels import Level

__all__ = [
    "START",
    "Anomaly",
    "Claim",
    "Dependencies",
    "Mechanism",
    "MechanismVerdict",
    "Mechanisms",
    "Method",
    "Ordered",
    "Outcome",
    "Participant",
    "Presence",
    "Report",
    "Search",
    "Sighting",
    "Step",
    "Verdict",
    "Witness",
    "names_of",
]


#: What stands in a step for nobody's transaction: the state before the first one.
START = "the initial state"


def names_of(name: str) -> tuple[str, ...]:
    """The catalogue's names of what is called `name` there or in a paper; case does not matter."""
    return family(name)


class Outcome(StrEnum):
    """Three answers: the third is one too."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class Presence(StrEnum):
    """Three answers to whether a history shows an anomaly."""

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
    """What databases keep isolation with; `agreement`: what one of them shows, no other contradicts."""

    CONSISTENT_READ = "consistent-read"
    MUTUAL_EXCLUSION = "mutual-exclusion"
    FIRST_UPDATER_WINS = "first-updater-wins"
    SERIALIZATION_CERTIFIER = "serialization-certifier"
    AGREEMENT = "agreement"


class Claim(StrEnum):
    """What a user vouches for about the order of versions, beyond what the history shows."""

    SEQUENTIAL_KEYS = "sequential-keys"
    LINEARIZABLE_KEYS = "linearizable-keys"
    WRITES_FOLLOW_READS = "writes-follow-reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """An operation that an anomaly or a step rests on; `place` is `path:line` of the input, or empty.

    `index` is its place among the operations of its transaction, `interval` when its client sent it and had
    the answer: its own, else that of its transaction, None if neither is known.
    """

    transaction: str
    kind: str
    key: object
    value: object
    place: str = ""
    index: int = field(default=-1, compare=False)
    interval: tuple[int | None, int | None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`before` comes before `after`; relation, key and witnesses say how the history shows it.

    `session` is the id of the session that both ran in, where that is the relation. A step `cm` (somebody
    read the key from `after` although `before`, which wrote it too, was in sight) has as witnesses the read,
    the write that it showed and the write that it missed, and in `sight` how `before` came to the reader.

    A step `rw` (`before` did not see what `after` wrote) has the read, the write that it missed and, if the
    read was of a write and that is known, the write that it showed. `source` says how the order of the two
    versions is known, and for `real-time` what `times` counts: the completion of `before` and the invocation
    of `after`. For `clock` it names the two events, `commit start` or the like, whose `timestamps` these are.
    """

    before: str
    after: str
    relation: str
    key: object = None
    session: object = None
    witnesses: tuple[Witness, ...] = ()
    sight: tuple[Step, ...] = ()
    source: str = ""
    times: tuple[int, int] | None = None
    timestamps: tuple[tuple[int, int], tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """What a transaction of an anomaly did: the operations that matter, and few beside them.

    `lane` numbers its session, which the input calls `session` (None if it does not), and `position` says how
    many transactions came before it there. `left_out` counts the operations that are not among `operations`;
    each `index` says where. `times` are begin and end by `clock`: of its client (`intervals`), of the
    database (`timestamps`) or by the order of events (`events`); an end that nobody knows is None.
    """

    transaction: str
    lane: int
    session: object
    position: int
    status: str
    operations: tuple[Witness, ...]
    matters: frozenset[int]
    left_out: int = 0
    clock: str = ""
    times: tuple[int | None, int | None] = (None, None)
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """One counterexample: its transactions, keys, the operations to look at, and steps between them.

    `facts` are what a sentence about it needs beside the witnesses (see `explain`). `participants` are its
    transactions once more, with what each did.
    """

    name: str
    transactions: tuple[str, ...]
    keys: tuple[object, ...]
    witnesses: tuple[Witness, ...] = ()
    steps: tuple[Step, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    participants: tuple[Participant, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.name not in CATALOGUE:
            raise ValueError(f"{self.name!r} is not in the catalogue of anomalies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer for one level. UNKNOWN is an answer too; `reason` says what is missing."""

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


def _refuse_contradiction(verdict: Verdict | MechanismVerdict) -> None:
    """A violation has counterexamples, what is unknown has a reason, and nothing else has either."""
    if bool(verdict.anomalies) != (verdict.outcome is Outcome.VIOLATED):
        raise ValueError(f"{verdict.outcome} with {len(verdict.anomalies)} anomalies")
    if bool(verdict.reason) != (verdict.outcome is Outcome.UNKNOWN):
        raise ValueError(f"{verdict.outcome} with the reason {verdict.reason!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered:
    """Keys whose versions `source` orders, and none that is stronger; `whole`: to the last version.

    `source` is that of a `Step`, or empty for keys that nobody orders; those with one version are whole.
    """

    source: str
    keys: int
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismVerdict:
    """The answer for one mechanism: `checked` reads or pairs, of which `undecided` may be right or wrong.

    What is undecided depends on the instants inside intervals that overlap: with any of it, nothing `holds`.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """How many dependencies of one kind (wr, ww, rw) there are.

    Intervals of `overlapping` ones overlap, so that they alone decide nothing; of these the mechanisms leave
    `uncertain` ones open.
    """

    kind: str
    total: int
    overlapping: int
    uncertain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanisms:
    """The mechanisms of a profile, and what of the dependencies the intervals show.

    `title` is the profile in words; `clock_error` is by how many nanoseconds each interval was widened.
    """

    profile: str
    title: str
    verdicts: tuple[MechanismVerdict, ...]
    dependencies: tuple[Dependencies, ...]
    clock_error: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The verdicts on one history, what they were drawn from and what was assumed.

    `version_order` says who orders how many keys, the strongest first; it is empty if nobody orders any, or
    if no verdict asks for it. `mechanisms` is there if a profile was asked for.
    """

    history: Mapping[str, object]
    verdicts: tuple[Verdict, ...]
    assumptions: tuple[str, ...] = ()
    version_order: tuple[Ordered, ...] = ()
    mechanisms: Mechanisms | None = None
    seconds: Mapping[str, float] | None = None

    def levels(self, outcome: Outcome) -> tuple[Level, ...]:
        """The levels with this outcome, in the order of the lattice."""
        return tuple(verdict.level for verdict in self.verdicts if verdict.outcome is outcome)

    @property
    def strongest_holding(self) -> tuple[Level, ...]:
        """The levels that hold and that no other holding level implies."""
        return levels.strongest(self.levels(Outcome.HOLDS))

    @property
    def strongest_possible(self) -> tuple[Level, ...]:
        """The levels that are not violated and that no other such level implies: they hold or may hold."""
        return levels.strongest((*self.levels(Outcome.HOLDS), *self.levels(Outcome.UNKNOWN)))

    @property
    def weakest_violated(self) -> tuple[Level, ...]:
        """The levels that are violated and that imply no other violated level."""
        return levels.weakest(self.levels(Outcome.VIOLATED))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Which of the anomalies that were looked for one history shows; it says nothing about levels."""

    history: Mapping[str, object]
    sightings: tuple[Sighting, ...]
    assumptions: tuple[str, ...] = ()
    seconds: Mapping[str, float] | None = None
