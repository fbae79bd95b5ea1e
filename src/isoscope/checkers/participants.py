"""The transactions that take part in an anomaly, each with the operations that a reader needs to see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.checkers.itemised import ItemisedHistory
from isoscope.checkers.witnesses import token, witness_at
from isoscope.verdict import Anomaly, Participant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope._native import ProofStep
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Interval, Transaction
    from isoscope.verdict import Step, Witness

__all__ = ["named_by", "with_participants"]

#: So many operations are shown although not all of them matter.
_FEW = 6


def named_by(history: Recorded, steps: Iterable[ProofStep], *operations: int) -> Iterator[int]:
    """The numbers of all transactions that steps of the native core, and these operations, are about."""
    found = list(operations)
    for step in steps:
        yield from (end for end in (step.before, step.after) if end is not None)
        found += step.operations
    yield from (history.columns.locate(operation)[0] for operation in found)


def with_participants(
    history: Recorded, anomaly: Anomaly, numbers: Iterable[int], *, also: Sequence[Witness] = ()
) -> Anomaly:
    """The anomaly with an account of its transactions, which are among those of `numbers`.

    `also` are operations that matter beside those that the anomaly names.
    """
    matters = (*_witnesses(anomaly), *also)
    if isinstance(history, ItemisedHistory):
        history = history.recorded
    known = {t.label: t for t in map(history.transaction, sorted(set(numbers), reverse=True))}
    accounts = (_account(history, anomaly, known[label], matters) for label in anomaly.transactions)
    return replace(anomaly, participants=tuple(accounts))


def _account(
    history: Recorded, anomaly: Anomaly, transaction: Transaction, witnesses: Sequence[Witness]
) -> Participant:
    label = transaction.label
    matters = {w.index for w in witnesses if w.transaction == label}
    kept = _kept(transaction, matters, {token(key) for key in anomaly.keys})
    clock, times = _times(transaction)
    return Participant(
        transaction=label,
        lane=transaction.session,
        session=transaction.session_id,
        position=history.columns.place_in_session(transaction.number),
        status=str(transaction.status),
        operations=tuple(witness_at(history, transaction, index) for index in kept),
        matters=frozenset(matters),
        left_out=len(transaction.operations) - len(kept),
        clock=clock,
        times=times,
        place=history.source.place(transaction.line) if transaction.line else "",
        node=history.source.deployment.node(transaction.session_id),
        faults=_faults(history, transaction.interval),
    )


def _faults(history: Recorded, interval: Interval | None) -> tuple[str, ...]:
    """The faults that went on while the transaction did, each once."""
    if interval is None or interval.invoke is None:
        return ()
    last = interval.invoke if interval.complete is None else interval.complete
    found = (
        f"{fault.kind} of {fault.node}"
        for fault in history.source.deployment.faults
        if fault.start <= last and (fault.stop is None or interval.invoke <= fault.stop)
    )
    return tuple(dict.fromkeys(found))


def _witnesses(anomaly: Anomaly) -> Iterator[Witness]:
    yield from anomaly.witnesses
    for step in anomaly.steps:
        yield from _witnesses_of(step)


def _witnesses_of(step: Step) -> Iterator[Witness]:
    yield from step.witnesses
    for other in step.sight:
        yield from _witnesses_of(other)


def _kept(transaction: Transaction, matters: set[int], keys: set[tuple[type, str]]) -> list[int]:
    """The places of what is shown: what matters, and if they are few all, or those of the same keys."""
    operations = transaction.operations
    if len(operations) <= _FEW:
        return list(range(len(operations)))
    same_keys = {place for place, one in enumerate(operations) if token(one.key) in keys}
    return sorted(same_keys | matters if len(same_keys) <= _FEW else matters)


def _times(transaction: Transaction) -> tuple[str, tuple[int | None, int | None]]:
    """Begin and end by the clock that says most about real time."""
    if known := _known(transaction.interval):
        return "intervals", known
    if known := _known(transaction.positions):
        return "events", known
    if transaction.start is not None and transaction.commit is not None:
        return "timestamps", (transaction.start.physical, transaction.commit.physical)
    return "", (None, None)


def _known(interval: Interval | None) -> Interval | None:
    return interval if interval and (interval.invoke, interval.complete) != (None, None) else None
