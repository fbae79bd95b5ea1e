"""Which statement takes the snapshot that another of its transaction reads, as a profile has it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from isoscope.history import OperationKind
from isoscope.profiles import Read, Snapshot, Statement

if TYPE_CHECKING:
    from isoscope.history import Operation, Transaction
    from isoscope.profiles import Profile

__all__ = ["snapshot"]

_READS = (OperationKind.READ, OperationKind.RANGE_READ)
_MARKERS = (OperationKind.BEGIN, OperationKind.COMMIT, OperationKind.ABORT)
_MODES = {
    "UNCOMMITTED_READ": Read.UNCOMMITTED,
    "CONSISTENT_READ": Read.CONSISTENT,
    "LOCKING_READ": Read.LOCKING,
}
_UPDATE = re.compile(r"\bfor (no key )?update\b")
_SHARE = re.compile(r"\b(for share|in share mode)\b")
_BY_KIND = {
    OperationKind.INSERT: Statement.INSERT,
    OperationKind.DELETE: Statement.DELETE,
    OperationKind.WRITE: Statement.UPDATE,
    OperationKind.APPEND: Statement.UPDATE,
}


def snapshot(transaction: Transaction, place: int, profile: Profile) -> int:
    """The place of the statement whose snapshot the operation at `place` reads: perhaps its own."""
    operations = transaction.operations
    if operations[place].kind in _READS and not _is_consistent(operations[place], profile):
        return place
    match profile.snapshot:
        case Snapshot.FIRST_READ:
            takes = [_is_consistent(one, profile) for one in operations[:place]]
        case Snapshot.FIRST_STATEMENT:
            takes = [one.kind not in _MARKERS for one in operations[:place]]
        case Snapshot.BEGIN:
            return 0
        case _:
            return place
    return takes.index(True) if True in takes else place


def _is_consistent(operation: Operation, profile: Profile) -> bool:
    return operation.kind in _READS and _mode(operation, profile) is Read.CONSISTENT


def _mode(operation: Operation, profile: Profile) -> Read:
    """What the trace says of the read, else what the profile says of such statements."""
    said = (operation.read_mode or "").upper()
    return _MODES.get(said) or profile.statements[_statement(operation)].read


def _statement(operation: Operation) -> Statement:
    said = (operation.statement or "").strip().lower()
    words = re.findall("[a-z0-9_]+" if re.search(r"\s", said) else "[a-z0-9]+", said)
    if words[:1] == ["select"] and _UPDATE.search(" ".join(words)):
        return Statement.SELECT_FOR_UPDATE
    if words[:1] == ["select"] and _SHARE.search(" ".join(words)):
        return Statement.SELECT_FOR_SHARE
    return _BY_KIND.get(operation.kind, Statement.SELECT)
