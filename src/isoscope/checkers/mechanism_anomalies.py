"""Anomalies of mechanisms: the operations that show each, their snapshots, and when their transactions ended.

Li et al. 2023 (Leopard); `docs/explanation/intervals.md` describes the cases.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.checkers.participants import with_participants
from isoscope.checkers.stream_excerpt import StreamExcerpt
from isoscope.checkers.witnesses import token, witness, witness_at
from isoscope.history import Interval, OperationKind
from isoscope.verdict import Anomaly, MechanismFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope._native import MechanismFinding, SnapshotUsed
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Transaction
    from isoscope.verdict import Witness

__all__ = ["anomaly"]

_ENDS = (OperationKind.COMMIT, OperationKind.ABORT)
_CLAUSE = re.compile(r"\b(for (no key update|key share|update|share)|lock in share mode)\b")


def anomaly(history: Recorded, finding: MechanismFinding) -> Anomaly:
    """A finding of the native core as data for reports."""
    numbers = (history.columns.locate(operation)[0] for operation in finding.operations)
    involved = {number: history.transaction(number) for number in numbers}
    witnesses = tuple(witness(history, operation) for operation in finding.operations)
    ends = tuple(_end(history, transaction) for transaction in involved.values())
    snapshots = tuple(_snapshot(history, used) for used in finding.snapshots)
    found = Anomaly(
        name=finding.anomaly,
        transactions=tuple(dict.fromkeys(one.transaction for one in witnesses)),
        keys=tuple(_keys(witnesses)),
        witnesses=witnesses,
        facts=MechanismFacts(
            case=finding.case,
            ends=ends,
            snapshots=snapshots,
            clauses=tuple(clause for one in involved.values() for clause in _clauses(one)),
            is_stream=isinstance(history, StreamExcerpt),
        ),
    )
    return with_participants(history, found, involved, also=(*ends, *_taken_apart(snapshots, witnesses)))


def _clauses(transaction: Transaction) -> Iterator[tuple[str, int, str]]:
    """The lock clauses of its statements, by their places."""
    for place, operation in enumerate(transaction.operations):
        found = _CLAUSE.search((operation.statement or "").lower().replace("_", " "))
        if found:
            yield transaction.label, place, found[0]
        elif operation.lock_mode and not operation.lock_mode.lower().startswith("no"):
            yield transaction.label, place, operation.lock_mode.lower().replace("_", " ")


def _end(history: Recorded, transaction: Transaction) -> Witness:
    """The operation inside which the transaction ended: its last one if it has no commit or abort."""
    places = [place for place, one in enumerate(transaction.operations) if one.kind in _ENDS]
    last = len(transaction.operations) - 1
    return witness_at(history, transaction, places[-1] if places else last)


def _snapshot(history: Recorded, used: SnapshotUsed) -> Witness:
    """The operation that took a snapshot, with the interval of the snapshot."""
    taken = witness(history, used.operation)
    return taken if used.interval is None else replace(taken, interval=Interval(*used.interval))


def _taken_apart(snapshots: Iterable[Witness], witnesses: Sequence[Witness]) -> Iterator[Witness]:
    """The operations that took a snapshot for others."""
    shown = {(one.transaction, one.index) for one in witnesses}
    return (one for one in snapshots if (one.transaction, one.index) not in shown)


def _keys(witnesses: Iterable[Witness]) -> Iterator[object]:
    """The keys, each once; a range read has none."""
    known = set()
    for one in witnesses:
        if one.kind != OperationKind.RANGE_READ and token(one.key) not in known:
            known.add(token(one.key))
            yield one.key
