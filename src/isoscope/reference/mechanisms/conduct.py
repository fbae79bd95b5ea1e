"""What an operation does by the profile of its database: which statement it is, what it locks and reads.

Labels of the trace overrule the profile's table for that operation.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.history import OperationKind
from isoscope.profiles import Conduct, Lock, Read, Statement

if TYPE_CHECKING:
    from isoscope.history import Operation
    from isoscope.profiles import Profile

__all__ = ["MARKERS", "READS", "WRITES", "conduct_of", "conflicts", "statement_of"]

READS = (OperationKind.READ, OperationKind.RANGE_READ)
WRITES = (OperationKind.WRITE, OperationKind.APPEND, OperationKind.INSERT, OperationKind.DELETE)
MARKERS = (OperationKind.BEGIN, OperationKind.COMMIT, OperationKind.ABORT)

_BY_KIND = {
    OperationKind.READ: Statement.SELECT,
    OperationKind.RANGE_READ: Statement.SELECT,
    OperationKind.WRITE: Statement.UPDATE,
    OperationKind.APPEND: Statement.UPDATE,
    OperationKind.INSERT: Statement.INSERT,
    OperationKind.DELETE: Statement.DELETE,
}
_BY_WORD = {
    "select": Statement.SELECT,
    "insert": Statement.INSERT,
    "update": Statement.UPDATE,
    "delete": Statement.DELETE,
}
_LOCKS = {
    "NON_LOCK": Lock.NONE,
    "SHARE_LOCK": Lock.SHARE,
    "UPDATE_LOCK": Lock.UPDATE,
    "EXCLUSIVE_LOCK": Lock.EXCLUSIVE,
}
_READS = {
    "UNCOMMITTED_READ": Read.UNCOMMITTED,
    "CONSISTENT_READ": Read.CONSISTENT,
    "LOCKING_READ": Read.LOCKING,
}


def conduct_of(operation: Operation, profile: Profile) -> Conduct:
    """What the operation locks and reads; a marker does neither."""
    if operation.kind in MARKERS:
        return Conduct()
    conduct = profile.statements[statement_of(operation)]
    lock = _LOCKS.get((operation.lock_mode or "").upper(), conduct.lock)
    read = _READS.get((operation.read_mode or "").upper(), conduct.read)
    return replace(conduct, lock=lock, read=read)


def statement_of(operation: Operation) -> Statement:
    """The statement that the operation is a part of: what its label says, else the usual one."""
    words = _words(operation.statement or "")
    named = _BY_WORD.get(words[0]) if words else None
    if named is not Statement.SELECT:
        return named or _BY_KIND[operation.kind]
    said = f" {' '.join(words)} "
    if " for key share " in said:
        return Statement.SELECT  # PostgreSQL: an update of anything but the key may go on
    if " for share " in said or " in share mode " in said:
        return Statement.SELECT_FOR_SHARE
    is_for_update = " for update " in said or " for no key update " in said
    return Statement.SELECT_FOR_UPDATE if is_for_update else Statement.SELECT


def _words(label: str) -> list[str]:
    """In SQL `last_update` is one; a label without spaces may be `select_for_update`."""
    said = label.strip().lower()
    return re.findall("[a-z0-9_]+" if re.search(r"\s", said) else "[a-z0-9]+", said)


def conflicts(one: Lock, other: Lock) -> bool:
    """Whether two transactions cannot hold these at the same time."""
    if Lock.NONE in (one, other):
        return False
    return Lock.EXCLUSIVE in (one, other) or one is other is Lock.UPDATE
