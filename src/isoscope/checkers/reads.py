"""Anomalies that one transaction's reads show by themselves: TAP-a to TAP-f and TAP-j, and wrong lists.

Liu et al. 2024 (Plume), Table 1; DESIGN's rules for lists, repeated values and unknown initial values.
`reference/reads.py` is the specification, `rust/kernel/src/reads.rs` the engine. Cost: near linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from isoscope.checkers.participants import with_participants
from isoscope.checkers.witnesses import installs, token, witness_of
from isoscope.levels import Level
from isoscope.verdict import Anomaly, ReadFacts, Step, Witness

if TYPE_CHECKING:
    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Operation, Transaction

__all__ = ["NAMES", "WrongRead", "anomaly"]

#: The anomalies and the weakest level that each breaks.
NAMES = {
    "thin-air-read": Level.PL_2,
    "aborted-read": Level.PL_2,
    "future-read": Level.PL_2,
    "not-my-own-write": Level.PL_2,
    "not-my-last-write": Level.PL_2,
    "intermediate-read": Level.PL_2,
    "non-repeatable-read": Level.CUT_ISOLATION,
    "incompatible-order": Level.PL_2,
    "duplicate-elements": Level.PL_1,
    "predicate-read-miss": Level.PL_2,
}


class WrongRead(Protocol):
    """A read that no order of transactions explains, as the native core or a part of a history shows it."""

    @property
    def anomaly(self) -> str:
        """The anomaly."""
        ...

    @property
    def read(self) -> int:
        """The read."""
        ...

    @property
    def other(self) -> int | None:
        """The other transaction, or operation."""
        ...

    @property
    def value(self) -> Any:
        """The wrong value, or element."""
        ...

    @property
    def is_logged(self) -> bool:
        """Whether a log shows the value as committed."""
        ...


def anomaly(history: Recorded, finding: WrongRead) -> Anomaly:
    """A finding of the native core as data for reports."""
    return _ReadAnomaly(history, finding).anomaly()


class _ReadAnomaly:
    """One finding of the native core, with the transactions that it is about."""

    def __init__(self, history: Recorded, finding: WrongRead) -> None:
        self.history = history
        self.name = finding.anomaly
        self.value = finding.value
        self.is_logged = finding.is_logged
        self.reader, self.read = self._locate(finding.read)
        self.writer: Transaction | None = None
        self.other: Operation | None = None
        if finding.other is not None:
            self.writer, self.other = self._locate(finding.other)

    def _locate(self, operation: int) -> tuple[Transaction, Operation]:
        number, place = self.history.columns.locate(operation)
        transaction = self.history.transaction(number)
        return transaction, transaction.operations[place]

    def anomaly(self) -> Anomaly:
        witnesses = [witness_of(self.history, self.reader, self.read)]
        if self.writer is not None and self.other is not None:
            witnesses.append(witness_of(self.history, self.writer, self.other))
        if replacement := self._replacement():
            witnesses.append(replacement)
        names = dict.fromkeys(witness.transaction for witness in witnesses)
        found = Anomaly(
            name=self.name,
            transactions=tuple(names),
            keys=(self.read.key,),
            witnesses=tuple(witnesses),
            steps=self._steps(tuple(witnesses)),
            facts=ReadFacts(value=self.value, initial=self._initial(), is_logged=self.is_logged),
        )
        involved = [self.reader, *([self.writer] if self.writer is not None else [])]
        return with_participants(self.history, found, (transaction.number for transaction in involved))

    def _replacement(self) -> Witness | None:
        """The last write of the key by the transaction whose intermediate write was read."""
        if self.name != "intermediate-read" or self.writer is None:
            return None
        return witness_of(self.history, self.writer, installs(self.writer, self.read.key)[-1])

    def _steps(self, witnesses: tuple[Witness, ...]) -> tuple[Step, ...]:
        if self.name not in ("aborted-read", "intermediate-read") or self.writer is None:
            return ()
        step = Step(
            before=self.writer.label,
            after=self.reader.label,
            relation="wr",
            key=self.read.key,
            witnesses=witnesses[:2],
        )
        return (step,)

    def _initial(self) -> object:
        initial = self.history.initial
        own = (value for key, value in initial.of_key.items() if token(key) == token(self.read.key))
        return next(own, initial.value)
