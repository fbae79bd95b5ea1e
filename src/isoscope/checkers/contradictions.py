"""Anomalies of the clock: what a read should have shown, who overlaps whom, and when.

Li et al. 2025; every anomaly carries the axiom that it breaks and, where there is one, the circle that the
clock and the data make together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.checkers.participants import with_participants
from isoscope.checkers.witnesses import token, witness
from isoscope.history import UNKNOWN
from isoscope.verdict import Anomaly, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Timestamp, Transaction

    #: Number of the name; transaction; other transaction; key; operation; operation that it is held against;
    #: elements of the list that was expected; class and write of what was found.
    Finding: TypeAlias = tuple[
        int, int, int | None, Any, int | None, int | None, list[Any], tuple[int, int | None] | None
    ]

__all__ = ["AXIOMS", "CLASSES", "anomaly"]

#: Where what a stale read shows comes from, by the numbers that the native core gives them.
CLASSES = ("never-written", "older-version", "newer-version", "uncommitted")
AXIOMS = {
    "stale-read": "ext",
    "session-order": "session",
    "write-conflict": "noconflict",
    "timestamp-inversion": "start-commit",
    "not-my-own-write": "int",
    "not-my-last-write": "int",
    "non-repeatable-read": "int",
}


def anomaly(history: Recorded, name: str, finding: Finding, *, is_serial: bool) -> Anomaly:
    """A finding of the native core as data for reports."""
    return _Contradiction(history, name, finding, is_serial=is_serial).anomaly()


class _Contradiction:
    """One finding of the native core."""

    def __init__(self, history: Recorded, name: str, finding: Finding, *, is_serial: bool) -> None:
        _, number, other, self.key, operation, against, self.expected, found = finding
        self.history = history
        self.name = name
        self.is_serial = is_serial
        self.transaction = history.transaction(number)
        self.other = None if other is None else history.transaction(other)
        self.read = None if operation is None else witness(history, operation)
        self.against = None if against is None else witness(history, against)
        self.kind = CLASSES[found[0]] if found else ""
        self.source = witness(history, found[1]) if found and found[1] is not None else None
        located = (history.columns.locate(o)[0] for o in (against, found and found[1]) if o is not None)
        self.numbers = {number, *([] if other is None else [other]), *located}

    def anomaly(self) -> Anomaly:
        witnesses = tuple(dict.fromkeys(w for w in (self.read, self.against, self.source) if w is not None))
        others = [] if self.other is None else [self.other.label]
        names = dict.fromkeys([self.transaction.label, *others, *(w.transaction for w in witnesses)])
        found = Anomaly(
            name=self.name,
            transactions=tuple(names),
            keys=() if self.read is None else (self.key,),
            witnesses=witnesses,
            steps=self._steps(),
            facts={"axiom": AXIOMS[self.name], **self._facts()},
        )
        return with_participants(self.history, found, self.numbers)

    def _facts(self) -> Mapping[str, object]:
        if self.name == "stale-read":
            return {"class": self.kind, "expected": self._demanded(), "serial": self.is_serial}
        if self.name in ("not-my-own-write", "not-my-last-write", "non-repeatable-read"):
            assert self.read is not None
            return {"value": self.read.value}
        return {"times": {t.label: (_reading(t.start), _reading(t.commit)) for t in self._both()}}

    def _both(self) -> list[Transaction]:
        return [self.transaction, *([] if self.other is None else [self.other])]

    def _demanded(self) -> object:
        """What the read should have shown."""
        assert self.read is not None
        if isinstance(self.read.value, tuple):
            return tuple(self.expected)
        if self.against is not None:
            return self.against.value
        initial = self.history.initial
        own = (value for key, value in initial.of_key.items() if token(key) == token(self.key))
        demanded = next(own, initial.value)
        return None if demanded is UNKNOWN else demanded

    def _steps(self) -> tuple[Step, ...]:
        if self.name == "session-order" and self.other is not None:
            return self._out_of_session(self.other)
        if self.name != "stale-read" or self.read is None:
            return ()
        if self.kind == "older-version" and self.against is not None:
            return self._missed(self.read, self.against)
        if self.source is None or self.source.transaction == self.transaction.label:
            return ()
        return self._too_early(self.read, self.source)

    def _out_of_session(self, before: Transaction) -> tuple[Step, ...]:
        """It follows in its session, and by the clock it does not."""
        after = self.transaction
        session = Step(before=before.label, after=after.label, relation="session", session=after.session_id)
        return session, self._clock(after, before, "start", "commit")

    def _missed(self, read: Witness, write: Witness) -> tuple[Step, ...]:
        """By the clock it comes after a write that it did not see."""
        writer = self._of(write)
        served = () if self.source is None else (self.source,)
        missed = Step(
            before=read.transaction,
            after=write.transaction,
            relation="rw",
            key=self.key,
            witnesses=(read, write, *served),
            source="timestamps" if served or isinstance(read.value, tuple) else "initial",
        )
        return self._clock(writer, self.transaction, "commit", self._when), missed

    def _too_early(self, read: Witness, write: Witness) -> tuple[Step, ...]:
        """It saw a write of somebody who by the clock had not committed."""
        writer = self._of(write)
        seen = Step(
            before=write.transaction,
            after=read.transaction,
            relation="wr",
            key=self.key,
            witnesses=(read, write),
        )
        if writer.commit is None or str(writer.status) == "aborted":
            return (seen,)
        if self.is_serial and writer.commit < (self.transaction.commit or writer.commit):
            return (seen,)
        if not self.is_serial and self.transaction.start and writer.commit <= self.transaction.start:
            return (seen,)
        return seen, self._clock(self.transaction, writer, self._when, "commit")

    @property
    def _when(self) -> str:
        """The event at which a transaction reads."""
        return "commit" if self.is_serial else "start"

    def _of(self, operation: Witness) -> Transaction:
        [transaction] = [
            t for t in map(self.history.transaction, self.numbers) if t.label == operation.transaction
        ]
        return transaction

    def _clock(self, before: Transaction, after: Transaction, first: str, second: str) -> Step:
        times = (_reading(getattr(before, first)), _reading(getattr(after, second)))
        return Step(
            before=before.label,
            after=after.label,
            relation="clock",
            source=f"{first} {second}",
            timestamps=times,
        )


def _reading(timestamp: Timestamp | None) -> tuple[int, int]:
    """A reading as data; where there is none, nobody asks."""
    return (0, 0) if timestamp is None else (timestamp.physical, timestamp.logical)
