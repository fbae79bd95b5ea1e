"""Findings of the clock levels as anomalies.

Li et al. 2025; every anomaly carries the axiom that it breaks and, where there is one, the cycle of steps
that the clock and the data make together.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol

from isoscope.checkers.participants import with_participants
from isoscope.checkers.witnesses import token, witness
from isoscope.history import UNKNOWN, OperationKind, Status, Timestamp
from isoscope.verdict import ABSENT, Anomaly, ClockFacts, ReadFacts, StaleReadFacts, Step, Witness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.checkers.witnesses import Recorded
    from isoscope.history import Timestamp, Transaction
    from isoscope.verdict import Facts

__all__ = ["Contradiction", "anomaly"]

_INSTALLS = (OperationKind.WRITE, OperationKind.APPEND, OperationKind.INSERT)


class Contradiction(Protocol):
    """A contradiction with the clock, as the native core or a part of a history shows it."""

    @property
    def name(self) -> str:
        """The anomaly."""
        ...

    @property
    def axiom(self) -> str:
        """The axiom that it breaks."""
        ...

    @property
    def transaction(self) -> int:
        """The transaction that reads, or starts too early."""
        ...

    @property
    def other(self) -> int | None:
        """The other transaction, or operation."""
        ...

    @property
    def key(self) -> Any:
        """The key."""
        ...

    @property
    def operation(self) -> int | None:
        """The read, or the first write."""
        ...

    @property
    def against(self) -> int | None:
        """The operation that it contradicts."""
        ...

    @property
    def expected(self) -> Sequence[Any]:
        """The list that was due."""
        ...

    @property
    def version_class(self) -> str | None:
        """The class of the version that was shown."""
        ...

    @property
    def version_write(self) -> int | None:
        """The write of that version."""
        ...


def anomaly(history: Recorded, finding: Contradiction, *, is_serial: bool) -> Anomaly:
    """A finding of the native core as data for reports."""
    return _Contradiction(history, finding, is_serial=is_serial).anomaly()


class _Contradiction:
    """One finding, with the transactions and operations that it names."""

    def __init__(self, history: Recorded, finding: Contradiction, *, is_serial: bool) -> None:
        self.history = history
        self.finding = finding
        self.is_serial = is_serial
        self.name, self.key, self.expected = finding.name, finding.key, finding.expected
        self.transaction = history.transaction(finding.transaction)
        self.other = None if finding.other is None else history.transaction(finding.other)
        self.read = self._witness(finding.operation)
        self.against = self._witness(finding.against)
        self.version_class = finding.version_class
        self.source = self._witness(finding.version_write)
        operations = (finding.against, finding.version_write)
        located = (history.columns.locate(one)[0] for one in operations if one is not None)
        self.numbers = {finding.transaction, *([] if finding.other is None else [finding.other]), *located}

    def _witness(self, operation: int | None) -> Witness | None:
        return None if operation is None else witness(self.history, operation)

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
        axiom = self.finding.axiom
        if self.name == "stale-read":
            return StaleReadFacts(
                axiom=axiom,
                case=self.version_class or "",
                is_serial=self.is_serial,
                expected=self._due(),
                unfinished=self._unfinished() if self.version_class == "uncommitted" else "",
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
        if self.version_class != "never-written" or not isinstance(shown, tuple):
            return ABSENT
        pairs = zip_longest(shown, self.expected, fillvalue=...)
        return next(one for one, other in pairs if token(one) != token(other))

    def _unfinished(self) -> str:
        """Why the value that was read is no version that was committed by then."""
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
        # A read at one instant does not see a commit at the same time that comes later in the order.
        if self._is_before(writer) or (is_final and writer.status is Status.COMMITTED):
            return "running"
        return "left out" if is_final else "replaced"

    @property
    def _is_torn(self) -> bool:
        """Whether the write is an append that the read lacks, though it shows others of its transaction."""
        assert self.read is not None
        assert self.source is not None
        shown = self.read.value
        return isinstance(shown, tuple) and token(self.source.value) not in map(token, shown)

    def _is_before(self, writer: Transaction) -> bool:
        """Whether the read comes before the commit of the writer; serially, that is a newer version."""
        started, committed = self.transaction.start, writer.commit
        return not self.is_serial and None not in (started, committed) and committed > started  # type: ignore[operator]

    def _steps(self) -> tuple[Step, ...]:
        if self.name == "session-order" and self.other is not None:
            return self._out_of_session(self.other)
        if self.name != "stale-read" or self.read is None:
            return ()
        if self.version_class == "older-version" and self.against is not None:
            return self._missed(self.read, self.against)
        if self.source is None or self.source.transaction == self.transaction.label or self._is_torn:
            return ()
        return self._too_early(self.read, self.source)

    def _out_of_session(self, before: Transaction) -> tuple[Step, ...]:
        """The transaction follows another in its session, and does not follow it by the clock."""
        after = self.transaction
        session = Step(before=before.label, after=after.label, relation="session", session=after.session_id)
        return session, self._clock(after, before, "start", "commit")

    def _missed(self, read: Witness, write: Witness) -> tuple[Step, ...]:
        """By the clock the read comes after a write that it does not show."""
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
        """The source of the order of the two versions; of equal commits only our rule orders them."""
        assert self.read is not None
        if self.source is None and not isinstance(self.read.value, tuple):
            return "initial"
        is_tie = self.source is not None and self._of(self.source).commit == writer.commit
        return "" if is_tie else "timestamps"

    def _too_early(self, read: Witness, write: Witness) -> tuple[Step, ...]:
        """The read shows a write that by the clock was not committed then, or never was."""
        writer = self._of(write)
        seen = Step(
            before=write.transaction,
            after=read.transaction,
            relation="wr",
            key=self.key,
            witnesses=(read, write),
        )
        if self.version_class == "uncommitted" and self._unfinished() != "running":
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
    """A reading as data; a missing one, which no report shows, is zero."""
    return (0, 0) if timestamp is None else (timestamp.physical, timestamp.logical)
