"""The steps of the server: snapshots, rows that are locked or read, commits, rollbacks.

Each step happened at one instant of its span. Which rows a statement found is taken from its answer, except
for a delete, whose answer is not recorded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, auto
from typing import TYPE_CHECKING

from isoscope.profiles import Lock, Read

if TYPE_CHECKING:
    from isoscope.reference.mechanisms.worlds import Span

__all__ = ["Action", "Change", "Look", "Step", "Trace", "related"]


class Action(StrEnum):
    """What the server does in one step."""

    SNAPSHOT = auto()
    ROW = auto()
    COMMIT = auto()
    ROLLBACK = auto()


@dataclass(frozen=True, slots=True)
class Look:
    """A read at `place` shows `value` of `key`.

    `may_lack`: the row need not have been there at first. `complete`: when the answer had arrived.
    """

    place: int
    key: object
    value: object
    complete: float
    may_lack: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A write at `place` of `value` to `key`; `kind` is write, insert or delete."""

    place: int
    key: object
    value: object
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of transaction `number`.

    A snapshot shows its `looks`; `statement`: the place of the only statement that it is for. A row is
    locked, read or changed. `is_gap`: the lock is on the place of a row that is not there. `is_hybrid`: the
    statement finds rows in a snapshot of its own, and then waits for them. `keys`: rows that are compared
    with a snapshot, besides its looks.
    """

    number: int
    action: Action
    span: Span
    looks: tuple[Look, ...] = ()
    statement: int | None = None
    change: Change | None = None
    key: object = None
    lock: Lock = Lock.NONE
    read: Read = Read.CONSISTENT
    is_gap: bool = False
    is_hybrid: bool = False
    keys: frozenset[object] = frozenset()

    @property
    def place(self) -> int:
        """The operation that the step is part of."""
        if self.change is not None:
            return self.change.place
        return self.looks[0].place if self.looks else -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What is known of a history: its steps, and for each transaction what it changed and read.

    `before` has for each step, as bits, the steps that came before it. `late`: reads of the transaction's
    snapshot that follow an own write of the key.
    """

    steps: tuple[Step, ...]
    before: tuple[int, ...]
    changes: dict[int, tuple[Change, ...]]
    late: dict[int, tuple[Look, ...]]
    sent: dict[int, float]
    committed: frozenset[int]
    initial: dict[object, tuple[object, ...] | None]


def related(one: Step, other: Step, keys: dict[int, frozenset[object]]) -> bool:
    """Whether two steps concern the same key; a commit concerns all `keys` that were changed or locked."""
    touched = [{*step.keys, *(look.key for look in step.looks), step.key} - {None} for step in (one, other)]
    for step, own in zip((one, other), touched, strict=True):
        if step.action in (Action.COMMIT, Action.ROLLBACK):
            own.update(keys[step.number])
    return bool(touched[0] & touched[1])
