"""What an operation does by the profile of its database: which statement it is, what it locks and reads.

Labels of the trace overrule the profile for that operation; `rust/kernel/src/intervals/labels.rs` interprets
them, for this specification as for the checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import OperationKind
from isoscope.profiles import Lock, Read, Snapshot, Statement

if TYPE_CHECKING:
    from isoscope.history import Operation
    from isoscope.profiles import Profile

__all__ = ["MARKERS", "READS", "WRITES", "OperationConduct", "conduct_of", "conflicts", "waits_for_rows"]

READS = (OperationKind.READ, OperationKind.RANGE_READ)
WRITES = (OperationKind.WRITE, OperationKind.APPEND, OperationKind.INSERT, OperationKind.DELETE)
MARKERS = (OperationKind.BEGIN, OperationKind.COMMIT, OperationKind.ABORT)


class OperationConduct(NamedTuple):
    """What one operation locks and reads.

    `predicate`: its lock covers also rows that do not exist. `skips_locked`: a row that it does not show may
    be one that another transaction has locked.
    """

    lock: Lock = Lock.NONE
    read: Read = Read.CONSISTENT
    predicate: bool = False
    skips_locked: bool = False


def conduct_of(operation: Operation, profile: Profile) -> OperationConduct:
    """What the operation locks and reads; a marker does neither."""
    if operation.kind in MARKERS:
        return OperationConduct()
    found = profile.native.conduct(
        operation.kind,
        statement=operation.statement,
        lock_mode=operation.lock_mode,
        read_mode=operation.read_mode,
    )
    return OperationConduct(Lock(found.lock), Read(found.read), found.locks_predicate, found.skips_locked)


def waits_for_rows(conduct: OperationConduct, profile: Profile) -> bool:
    """Whether a statement finds rows in a snapshot of its own, and then waits for their newest versions.

    A row that was deleted while it waited is lost to it, also if the row was inserted again.
    """
    is_of_statement = profile.snapshot is Snapshot.STATEMENT
    selects = profile.statements[Statement.SELECT].read
    return is_of_statement and selects is Read.CONSISTENT and conduct.read is Read.LOCKING


def conflicts(one: Lock, other: Lock) -> bool:
    """Whether two transactions cannot hold these locks at the same time."""
    if Lock.NONE in (one, other):
        return False
    return Lock.EXCLUSIVE in (one, other) or one is other is Lock.UPDATE
