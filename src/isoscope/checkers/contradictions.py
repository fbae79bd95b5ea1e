"""Anomalies of the clock: what a read should have shown, who overlaps whom, and when.

Li et al. 2025; every anomaly carries the axiom that it breaks and, where there is one, the circle that the
clock and the data make together.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from isoscope.checkers.participants import with_participants
from isoscope.checkers.witnesses import token, witness
from isoscope.history import UNKNOWN, OperationKind, Status, Timestamp
from isoscope.verdict import ABSENT, Anomaly, ClockFacts, ReadFacts, StaleReadFacts, Step, Witness

if TYPE_CHECKING:
    from typing import TypeAlias

    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Timestamp, Transaction
    from isoscope.verdict import Facts

    #: Number of the name; transaction; other transaction; key; operation; operation that it is held against;
    #: elements of the list that was expected; class and write of what was found.
    Finding: TypeAlias = tuple[
        int, int, int | None, Any, int | None, int | None, list[Any], tuple[int, int | None] | None
    ]

__all__ = ["AXIOMS", "CLASSES", "anomaly"]

#: Where what a stale read shows comes from, by the numbers that the native core gives them.
CLASSES = ("never-written", "older-version", "newer-version", "uncommitted")
_INSTALLS = (OperationKind.WRITE, OperationKind.APPEND, OperationKind.INSERT)
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
            facts=self._facts(),
        )
        return with_participants(self.history, found, self.numbers)

    def _facts(self) -> Facts:
        axiom = AXIOMS[self.name]
        if self.name == "stale-read":
            return StaleReadFacts(
                axiom=axiom,
                case=self.kind,
                is_serial=self.is_serial,
                expected=self._due(),
                unfinished=self._unfinished() if self.kind == "uncommitted" else "",
                value=self._wrong_element(),
            )
        if self.name in ("not-my-own-write", "not-my-last-write", "non-repeatable-read"):
            assert self.read is not None
            return ReadFacts(axiom=axiom, value=self.read.value)
        times = tuple((_reading(t.start), _reading(t.commit)) for t in self._both())
        return ClockFacts(axiom=axiom, times=times)

    def _both(self) -> list[Transaction]:
        return [self.transaction, *([] if self.other is None else [self.other])]

    def _due(self) -> object:
        """What the read should have shown; absent if that is an initial value which may be another."""
        assert self.read is not None
        if isinstance(self.read.value, tuple):
            return tuple(self.expected)
        if self.against is not None:
            return self.against.value
        initial = self.history.initial
        own = (value for key, value in initial.of_key.items() if token(key) == token(self.key))
        value = next(own, initial.value)
        return ABSENT if value is UNKNOWN or initial.replaceable else value

    def _wrong_element(self) -> object:
        """Of a list that never was like that, the first element that differs from what is due."""
        shown = self.read.value if self.read else None
        if self.kind != "never-written" or not isinstance(shown, tuple):
            return ABSENT
        pairs = zip_longest(shown, self.expected, fillvalue=...)
        return next(one for one, other in pairs if token(one) != token(other))

    def _unfinished(self) -> str:
        """Why what was read is no version that was committed by then."""
        assert self.source is not None
        if self.source.transaction == self.transaction.label:
            return "own"
        if self._is_torn:
            return "torn"
        writer = self._of(self.source)
        if writer.status is Status.ABORTED:
            return "aborted"
        key = token(self.key)
        installs = (n for n, o in enumerate(writer.operations) if o.kind in _INSTALLS and token(o.key) == key)
        is_final = max(installs, default=0) == self.source.index
        # Who reads at one instant does not see who commits then and comes later.
        if self._is_before(writer) or (is_final and writer.status is Status.COMMITTED):
            return "running"
        return "left out" if is_final else "replaced"

    @property
    def _is_torn(self) -> bool:
        """Whether the write is an append that the read lacks, of somebody whose others it shows."""
        assert self.read is not None
        assert self.source is not None
        shown = self.read.value
        return isinstance(shown, tuple) and token(self.source.value) not in map(token, shown)

    def _is_before(self, writer: Transaction) -> bool:
        """Whether it read before the writer committed; for a replay that makes a version a newer one."""
        started, committed = self.transaction.start, writer.commit
        return not self.is_serial and None not in (started, committed) and committed > started  # type: ignore[operator]

    def _steps(self) -> tuple[Step, ...]:
        if self.name == "session-order" and self.other is not None:
            return self._out_of_session(self.other)
        if self.name != "stale-read" or self.read is None:
            return ()
        if self.kind == "older-version" and self.against is not None:
            return self._missed(self.read, self.against)
        if self.source is None or self.source.transaction == self.transaction.label or self._is_torn:
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
            source=self._ordered_by(writer),
        )
        return self._clock(writer, self.transaction, "commit", self._when), missed

    def _ordered_by(self, writer: Transaction) -> str:
        """How it is known that what was read is older; of equal commits nothing but a rule says it."""
        assert self.read is not None
        if self.source is None and not isinstance(self.read.value, tuple):
            return "initial"
        is_tie = self.source is not None and self._of(self.source).commit == writer.commit
        return "" if is_tie else "timestamps"

    def _too_early(self, read: Witness, write: Witness) -> tuple[Step, ...]:
        """It saw a write of somebody who by the clock had not committed, or never committed that."""
        writer = self._of(write)
        seen = Step(
            before=write.transaction,
            after=read.transaction,
            relation="wr",
            key=self.key,
            witnesses=(read, write),
        )
        if self.kind == "uncommitted" and self._unfinished() != "running":
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
