"""Anomalies that one transaction's reads show by themselves: TAP-a to TAP-f and TAP-j, and wrong lists.

Liu et al. 2024 (Plume), Table 1; DESIGN's rules for lists, repeated values and unknown initial values.
`reference/reads.py` is the specification, `rust/kernel/src/reads.rs` the engine. Cost: near linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.checkers.participants import with_participants
from isoscope.checkers.witnesses import installs, token, witness_of
from isoscope.history import VERSION_SOURCES, History, Operation, Transaction, VersionSource
from isoscope.levels import Level
from isoscope.verdict import Anomaly, ReadFacts, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from isoscope.history import Scalar

    #: Number of the name; the read; another operation; the value that is wrong.
    Finding: TypeAlias = tuple[int, int, int | None, Scalar]
    #: A key and a value, each with its type.
    Version: TypeAlias = tuple[tuple[type, str], tuple[type, str]]

__all__ = ["NAMES", "anomalies"]

#: The anomalies and the weakest level that each breaks, by the numbers that the native core gives them.
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
}


def anomalies(history: History, findings: Iterable[Finding]) -> list[Anomaly]:
    """Findings of the native core as data for reports."""
    found = [_Finding(history, *finding) for finding in findings]
    aborted = {finding.version for finding in found if finding.name == "aborted-read"}
    logged = _logged(history, aborted) if aborted else set()
    return [finding.anomaly(is_logged=finding.version in logged) for finding in found]


def _logged(history: History, versions: set[Version]) -> set[Version]:
    """Those of `versions` that a log shows: only what was committed is there."""
    return {
        (token(key), token(value))
        for source, orders in history.columns.versions()
        if VERSION_SOURCES[source] is VersionSource.LOG
        for key, values in orders
        for value in values
        if (token(key), token(value)) in versions
    }


class _Finding:
    """One finding of the native core, with the transactions that it is about."""

    def __init__(self, history: History, name: int, read: int, other: int | None, value: Scalar) -> None:
        self.history = history
        self.name = list(NAMES)[name]
        self.value = value
        self.reader, self.read = self._locate(read)
        self.version = token(self.read.key), token(value)
        self.writer: Transaction | None = None
        self.other: Operation | None = None
        if other is not None:
            self.writer, self.other = self._locate(other)

    def _locate(self, operation: int) -> tuple[Transaction, Operation]:
        number, place = self.history.columns.locate(operation)
        transaction = self.history.transaction(number)
        return transaction, transaction.operations[place]

    def anomaly(self, *, is_logged: bool) -> Anomaly:
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
            facts=ReadFacts(value=self.value, initial=self._initial(), is_logged=is_logged),
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
