"""Anomalies of mechanisms: the operations that the intervals convict, when each was, and who committed when.

Li et al. 2023 (Leopard); `docs/explanation/intervals.md` says what each case is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.checkers.participants import with_participants
from isoscope.checkers.snapshots import snapshot
from isoscope.checkers.stream_excerpt import StreamExcerpt
from isoscope.checkers.witnesses import token, witness, witness_at
from isoscope.history import OperationKind
from isoscope.profiles import Snapshot
from isoscope.verdict import Anomaly, MechanismFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Transaction
    from isoscope.profiles import Profile
    from isoscope.verdict import Witness

    #: Number of the name; number of the case; operations.
    Finding: TypeAlias = tuple[int, int, list[int]]

__all__ = ["CASES", "NAMES", "anomaly"]

#: What orders two versions, by the numbers that the native core gives them.
_ORDERED_BY = ("intervals", "locks", "snapshots", "reads")
#: The cases of each name, both by the numbers that the native core gives them.
CASES = {
    "inconsistent-read": (
        "stale",
        "future",
        "aborted",
        "intermediate",
        "thin-air",
        "own",
        "missing-row",
        "torn",
    ),
    "lock-violation": ("row", "predicate", "commit"),
    "first-updater-violation": ("overlap",),
    "certifier-violation": ("ssi", "timestamp-order", "optimistic-reads", "optimistic-writes"),
    "contradictory-dependencies": tuple(f"{one}-{other}" for one in _ORDERED_BY for other in _ORDERED_BY),
}
NAMES = tuple(CASES)
_UNKNOWN = (None, None)
_ENDS = (OperationKind.COMMIT, OperationKind.ABORT)


def anomaly(history: Recorded, profile: Profile, finding: Finding) -> Anomaly:
    """A finding of the native core as data for reports."""
    name = NAMES[finding[0]]
    places = [history.columns.locate(operation) for operation in finding[2]]
    involved = {number: history.transaction(number) for number, _ in places}
    witnesses = tuple(witness(history, operation) for operation in finding[2])
    ends = tuple(_end(history, transaction) for transaction in involved.values())
    snapshots = tuple(_snapshot(history, involved[number], place, profile) for number, place in places)
    found = Anomaly(
        name=name,
        transactions=tuple(dict.fromkeys(one.transaction for one in witnesses)),
        keys=tuple(_keys(witnesses)),
        witnesses=witnesses,
        facts=MechanismFacts(
            case=CASES[name][finding[1]],
            ends=ends,
            snapshots=snapshots,
            is_stream=isinstance(history, StreamExcerpt),
        ),
    )
    return with_participants(history, found, involved, also=(*ends, *_taken_apart(snapshots, witnesses)))


def _end(history: Recorded, transaction: Transaction) -> Witness:
    """The operation inside which it committed or aborted: the last if it has none of its own."""
    places = [place for place, one in enumerate(transaction.operations) if one.kind in _ENDS]
    last = len(transaction.operations) - 1
    return witness_at(history, transaction, places[-1] if places else last)


def _snapshot(history: Recorded, transaction: Transaction, place: int, profile: Profile) -> Witness:
    """The statement that took the snapshot of another; if that is of any instant, with the whole interval."""
    taken = witness_at(history, transaction, snapshot(transaction, place, profile))
    if profile.snapshot is not Snapshot.TRANSACTION:
        return taken
    first, end = witness_at(history, transaction, 0), _end(history, transaction)
    return replace(taken, interval=((first.interval or _UNKNOWN)[0], (end.interval or _UNKNOWN)[1]))


def _taken_apart(snapshots: Iterable[Witness], witnesses: Sequence[Witness]) -> Iterator[Witness]:
    """The statements that took a snapshot for others."""
    shown = {(one.transaction, one.index) for one in witnesses}
    return (one for one in snapshots if (one.transaction, one.index) not in shown)


def _keys(witnesses: Iterable[Witness]) -> Iterator[object]:
    """The keys, each once; a range read has none."""
    known = set()
    for one in witnesses:
        if one.kind != OperationKind.RANGE_READ and token(one.key) not in known:
            known.add(token(one.key))
            yield one.key
