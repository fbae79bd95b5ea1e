"""What a sentence about an anomaly needs beside its witnesses and steps, by kind of anomaly."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from isoscope.verdict.evidence import Step, Witness

__all__ = [
    "ABSENT",
    "AlternativesFacts",
    "ClockFacts",
    "ConflictFacts",
    "Facts",
    "LostUpdateFacts",
    "MechanismFacts",
    "ReadFacts",
    "StaleReadFacts",
    "Timestamps",
]

#: Start and commit of one transaction by the database's clock, each physical and logical.
Timestamps: TypeAlias = tuple[tuple[int, int], tuple[int, int]]


class _Absent(Enum):
    ABSENT = "absent"


#: Stands for a value that the history does not show; None is a value.
ABSENT: Final = _Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of an anomaly whose steps and witnesses say everything; every other kind extends it.

    `axiom` is the axiom of the clock levels that the anomaly breaks, `case` tells apart the ways to have an
    anomaly of this name. Both are empty for most names.
    """

    axiom: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFacts(Facts):
    """A read that is wrong by itself: `value` is what is wrong about it, in a list one of its elements.

    `initial` is the initial value of the key. `is_logged`: a log shows the value as committed.
    """

    value: object
    initial: object = ABSENT
    is_logged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleReadFacts(Facts):
    """A read that differs from `expected`, the value that the key had by the database's clock.

    `case` says where the value that was read comes from; it is empty if that is no longer in memory.
    `is_serial`: the clock level reads at the commit of a transaction, not at its start. `unfinished` says why
    a value that is not a committed version is none. `value` is the first element of a list that was never
    written.
    """

    is_serial: bool
    expected: object = ABSENT
    unfinished: str = ""
    value: object = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockFacts(Facts):
    """Timestamps that contradict each other: of the first transactions of the anomaly, in their order."""

    times: tuple[Timestamps, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictFacts(Facts):
    """A read that missed `write`, although the writer was in sight of the reader by the steps of `sight`.

    `served` is the read as a step from the transaction that wrote the value, None for the initial value.
    `order` are the steps from that transaction to the writer of `write`.
    """

    served: Step | None
    write: Witness
    order: tuple[Step, ...]
    sight: tuple[Step, ...]

    @property
    def older(self) -> str | None:
        """The transaction that wrote the value that was read; None for the initial value."""
        return None if self.served is None else self.served.before

    @property
    def newer(self) -> str:
        """The transaction whose write was missed."""
        return self.write.transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class LostUpdateFacts(Facts):
    """A lost update: `rival` is the other transaction's read of the same version, if it has one."""

    rival: Witness | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativesFacts(Facts):
    """No order of the versions satisfies `level`: each of the `alternatives` supposes one and is a cycle.

    An alternative begins with the orders of two versions that it supposes. There are no alternatives if the
    search tried more orders than a proof can show.
    """

    alternatives: tuple[tuple[Step, ...], ...]
    level: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismFacts(Facts):
    """A mechanism that did not work: the statements that bound the times of its transactions.

    `ends` has, for each transaction, the operation inside which it ended; `snapshots` has, for each witness,
    the statement that took its snapshot; `clauses` has the lock clauses of statements, each with its
    transaction and its place there. `is_stream`: operations that are settled are no longer in memory.
    """

    ends: tuple[Witness, ...]
    snapshots: tuple[Witness, ...]
    clauses: tuple[tuple[str, int, str], ...] = ()
    is_stream: bool = False
