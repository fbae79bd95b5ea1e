"""What the judges of parts found, in the positions of the whole history, and how it is merged.

Every finding has a place in the order in which the native checker reports: the first of a whole history are
among the first of its parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope._native import CLOCK_AXIOMS
from isoscope.checkers.reads import NAMES as READ_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.cluster.part_history import RawNames

__all__ = [
    "ClockPart",
    "DistributedClock",
    "DistributedClockFinding",
    "DistributedReadFinding",
    "DistributedReads",
    "KeyList",
    "ReadsPart",
    "merged_clock",
    "merged_reads",
]

_OF_SESSIONS = ("session-order", "timestamp-inversion")


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedClockFinding:
    """A contradiction with the clock; as `ClockFinding`, with positions of rows in the place of numbers.

    `order` is its place among all of its name, `ids` are the transactions that it names. If it was found in a
    slice of a key, `slice_initial` is the initial value of the key, as EDN.
    """

    name: str
    axiom: str
    transaction: int
    other: int | None
    key: Any
    operation: int | None
    against: int | None
    expected: list[Any]
    version_class: str | None
    version_write: int | None
    order: tuple[Any, ...] = field(repr=False)
    ids: tuple[RawNames, ...] = field(repr=False)
    slice_initial: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedReadFinding:
    """A wrong read; as `ReadFinding`, with positions of rows in the place of numbers."""

    anomaly: str
    read: int
    other: int | None
    value: Any
    is_logged: bool
    order: tuple[Any, ...] = field(repr=False)
    ids: tuple[RawNames, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyList:
    """How many keys there are of some kind, and the first by their first row."""

    #: So many keys are named in reports.
    named: ClassVar[int] = 3
    count: int = 0
    first: tuple[tuple[int, Any], ...] = ()

    def __add__(self, other: KeyList) -> KeyList:
        first = sorted((*self.first, *other.first), key=lambda one: one[0])
        return KeyList(self.count + other.count, tuple(first[: KeyList.named]))

    @property
    def keys(self) -> list[Any]:
        """As many entries as there are keys; only the first of them are named in reports."""
        return [*(key for _, key in self.first), *([None] * (self.count - len(self.first)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockPart:
    """What one part says of one level of the clock."""

    level: str
    counts: dict[str, int]
    findings: tuple[DistributedClockFinding, ...]
    untimed: int = 0
    untimed_keys: int = 0
    deleted_keys: KeyList = field(default_factory=KeyList)
    mixed_keys: KeyList = field(default_factory=KeyList)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedClock:
    """What all parts say of one level of the clock; as `ClockJudgement`."""

    level: str
    counts: dict[str, int]
    findings: list[DistributedClockFinding]
    ties: int
    untimed: int
    untimed_keys: int
    deleted_keys: list[Any]
    mixed_keys: list[Any]
    repeated_reads: int = 0
    repeated_keys: list[Any] = field(default_factory=list)
    range_reads: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadsPart:
    """What one part says of reads."""

    counts: dict[str, int]
    findings: tuple[DistributedReadFinding, ...]
    repeated_reads: int = 0
    repeated_keys: KeyList = field(default_factory=KeyList)
    deleted_keys: KeyList = field(default_factory=KeyList)
    mixed_keys: KeyList = field(default_factory=KeyList)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedReads:
    """What all parts say of reads; as `ValuesJudgement` and `UnjudgedReads`."""

    read_counts: dict[str, int]
    read_findings: list[DistributedReadFinding]
    repeated_reads: int
    repeated_keys: list[Any]
    deleted_keys: list[Any]
    mixed_keys: list[Any]
    range_reads: int = 0

    @property
    def unjudged(self) -> DistributedReads:
        """The reads and keys that were not judged."""
        return self


def merged_clock(
    by_key: Sequence[ClockPart], by_session: Sequence[ClockPart], *, level: str, ties: int, shown: int
) -> DistributedClock:
    """One judgement of a level: sessions say what timestamps alone show, keys the rest."""
    counts: dict[str, int] = {}
    findings: list[DistributedClockFinding] = []
    for name in CLOCK_AXIOMS:
        parts = by_session if name in _OF_SESSIONS else by_key
        if count := sum(part.counts.get(name, 0) for part in parts):
            counts[name] = count
        found = (finding for part in parts for finding in part.findings if finding.name == name)
        findings += sorted(found, key=lambda finding: finding.order)[:shown]
    return DistributedClock(
        level=level,
        counts=counts,
        findings=findings,
        ties=ties,
        untimed=sum(part.untimed for part in by_session),
        untimed_keys=sum(part.untimed_keys for part in by_key),
        deleted_keys=_all_keys(part.deleted_keys for part in by_key),
        mixed_keys=_all_keys(part.mixed_keys for part in by_key),
    )


def merged_reads(parts: Sequence[ReadsPart], *, shown: int) -> DistributedReads:
    """One judgement of all reads."""
    counts = {name: count for name in READ_NAMES if (count := sum(p.counts.get(name, 0) for p in parts))}
    ordered = sorted((one for part in parts for one in part.findings), key=lambda finding: finding.order)
    return DistributedReads(
        read_counts=counts,
        read_findings=[*_first_of_each(ordered, shown)],
        repeated_reads=sum(part.repeated_reads for part in parts),
        repeated_keys=_all_keys(part.repeated_keys for part in parts),
        deleted_keys=_all_keys(part.deleted_keys for part in parts),
        mixed_keys=_all_keys(part.mixed_keys for part in parts),
    )


def _first_of_each(
    findings: Iterable[DistributedReadFinding], shown: int
) -> Iterator[DistributedReadFinding]:
    seen: dict[str, int] = {}
    for finding in findings:
        seen[finding.anomaly] = seen.get(finding.anomaly, 0) + 1
        if seen[finding.anomaly] <= shown:
            yield finding


def _all_keys(lists: Iterable[KeyList]) -> list[Any]:
    return sum(lists, start=KeyList()).keys
