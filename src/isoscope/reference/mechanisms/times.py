"""When the events of a transaction can have happened: operations, snapshot, commit, release of locks.

`docs/explanation/intervals.md` ("What is assumed of time") is spelt out here. Spans are computed from what
the client wrote down and widened by the error of the clocks at the very end: the *end* of one operation may
be the *beginning* of another span.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING

from isoscope.history import OperationKind, Status
from isoscope.profiles import Certifier, Lock, Read, Snapshot, Statement
from isoscope.reference.mechanisms.conduct import MARKERS, READS, WRITES, conduct_of
from isoscope.reference.mechanisms.worlds import EVER, Span

if TYPE_CHECKING:
    from isoscope.history import Interval, Operation, Transaction
    from isoscope.profiles import Profile

__all__ = ["Times"]


@dataclass(frozen=True)
class Times:
    """The spans of one transaction.

    `shown`: by when a read showed its write, although its end was not answered.
    """

    transaction: Transaction
    profile: Profile
    clock_error: int = 0
    shown: float | None = None

    def operation(self, place: int) -> Span:
        """When the operation at `place` happened."""
        return self._widened(self._told(place))

    @cached_property
    def begin(self) -> float:
        """Before this nothing of it happened."""
        return self._widened(self._whole).invoke

    @cached_property
    def commit(self) -> Span | None:
        """When its versions appeared to others; None if they never did.

        An indeterminate transaction may have committed at any instant since its last operation began: it may
        have asked to commit without recording it.
        """
        status = self.transaction.status
        asked = self._places(OperationKind.COMMIT)
        if status is Status.ABORTED or not self._operations:
            return None
        told = self._told(asked[-1]) if asked else self._last
        if status is not Status.INDETERMINATE:
            return self._widened(told)
        begin = self._widened(told).invoke
        return Span(begin, inf if self.shown is None else max(begin, self.shown))

    @cached_property
    def appears(self) -> Span | None:
        """When its versions appeared: by timestamp ordering at its timestamp, any instant since it began.

        Where reads lock, the timestamp is one of the commit: locks that are held then keep others away.
        """
        is_ordered = self.profile.certifier is Certifier.TIMESTAMP_ORDER
        locks = self.profile.statements[Statement.SELECT].lock is not Lock.NONE
        if self.commit is None or not is_ordered or locks:
            return self.commit
        return Span(self.begin, self.commit.complete)

    @cached_property
    def sent(self) -> float:
        """When it asked to commit, at the earliest: a read that was answered before does not show it."""
        return self.commit.invoke if self.commit else inf

    @cached_property
    def is_certain(self) -> bool:
        """Whether it did commit."""
        return self.transaction.status is Status.COMMITTED or self.shown is not None

    @cached_property
    def undone(self) -> float:
        """By when its rollback was over; infinity if that is not known."""
        rollbacks = self._places(OperationKind.ABORT)
        ends = [_ends(self._operations[place].interval)[1] for place in rollbacks[-1:]]
        told = next((end for end in [*ends, _ends(self.transaction.interval)[1]] if end is not None), inf)
        return told + self.clock_error if self.transaction.status is Status.ABORTED else inf

    def lock(self, place: int) -> tuple[Span, Span] | None:
        """When the operation at `place` took its lock and when that was released; None if it may have none.

        Of a transaction that did not commit it is not known which statement failed: the last one may never
        have got its lock, and the others' were released after the last but one had ended. If it asked to
        commit no statement failed; a connection that breaks before the commit arrives releases the locks.
        """
        if self.transaction.status is Status.COMMITTED:
            assert self.commit is not None
            return self.operation(place), self.commit
        statements, last = self._statements, 2
        if self.commit is not None and self._places(OperationKind.COMMIT):
            statements, last = [places for places in statements if self._is_statement(places[0])], 1
        if len(statements) < last or (last > 1 and place in statements[-1]):
            return None
        known = statements[-last][-1]
        ended = _ends(self._operations[known].interval)[1]
        held = self._told(known).invoke if ended is None else ended
        return self.operation(place), self._widened(_span(held, inf))

    def _is_statement(self, place: int) -> bool:
        return self._operations[place].kind not in MARKERS

    def snapshot(self, place: int) -> Span:
        """When the snapshot was taken that the read at `place` shows."""
        if self.is_of_transaction(place) and self.of_transaction is not None:
            return self.of_transaction
        return self.operation(place)

    def is_of_transaction(self, place: int) -> bool:
        """Whether the operation reads the snapshot of its transaction: told by its mode, not by its times."""
        mode = conduct_of(self._operations[place], self.profile).read
        return mode is Read.CONSISTENT and self.of_transaction is not None

    @cached_property
    def of_transaction(self) -> Span | None:
        """When the snapshot of the transaction was taken; None if it has none."""
        match self.profile.snapshot:
            case Snapshot.STATEMENT:
                return None
            case Snapshot.TRANSACTION | Snapshot.BEGIN | Snapshot.START if not self._has_taken:
                # The instant is not known.
                end = self.commit.complete if self.commit else inf
                return Span(self.begin, max(end, self.begin))
            case Snapshot.START:
                assert self._taken is not None
                return Span(self.begin, self.operation(self._taken).complete)
        return None if self._taken is None else self.operation(self._taken)

    @cached_property
    def _has_taken(self) -> bool:
        """Whether an operation is known to have taken the snapshot."""
        return self.profile.snapshot is not Snapshot.TRANSACTION and self._taken is not None

    def before_write(self, place: int) -> Span | None:
        """The snapshot that the write at `place` is held against: one taken later counts as taken with it."""
        if self.profile.snapshot is Snapshot.STATEMENT:
            return None
        is_chosen = self.profile.snapshot in (Snapshot.TRANSACTION, Snapshot.BEGIN, Snapshot.START)
        if not is_chosen and (self._taken is None or self._taken > place):
            return self.operation(place)
        return self.of_transaction

    @cached_property
    def _taken(self) -> int | None:
        """The place of the operation that takes the snapshot of the transaction."""
        if self.profile.snapshot is Snapshot.BEGIN:
            places = self._places(OperationKind.BEGIN)
        elif self.profile.snapshot is Snapshot.FIRST_READ:
            places = self._consistent_reads
        else:
            places = [place for place, o in enumerate(self._operations) if o.kind not in MARKERS]
        if self.profile.snapshot is Snapshot.START:
            places = [place for place in places if not self._waits_in_client(place)]
        return places[0] if places else None

    def _waits_in_client(self, place: int) -> bool:
        """Whether a write may reach the database with the commit alone, and so takes no snapshot.

        FoundationDB fetches the version to read at with the first read, and keeps writes in the client.
        """
        operation = self._operations[place]
        is_certified = self.profile.certifier is Certifier.OPTIMISTIC_READS
        is_free = conduct_of(operation, self.profile).lock is Lock.NONE
        return is_certified and is_free and operation.kind in WRITES

    @cached_property
    def _consistent_reads(self) -> list[int]:
        """Reads of a snapshot: a locking read needs none, and takes none."""
        return [
            place
            for place, o in enumerate(self._operations)
            if o.kind in READS and conduct_of(o, self.profile).read is Read.CONSISTENT
        ]

    # What the client wrote down.

    @property
    def _operations(self) -> tuple[Operation, ...]:
        return self.transaction.operations

    def _places(self, kind: OperationKind) -> list[int]:
        return [place for place, o in enumerate(self._operations) if o.kind is kind]

    def _told(self, place: int) -> Span:
        """An operation without an interval happened somewhere inside that of its transaction."""
        invoke, complete = _ends(self._operations[place].interval)
        return _span(
            self._whole.invoke if invoke is None else invoke,
            self._whole.complete if complete is None else complete,
        )

    @cached_property
    def _last(self) -> Span:
        """A transaction without a commit of its own commits inside its last operation, or after it."""
        if not self._operations:
            return self._whole
        last = self._told(len(self._operations) - 1)
        return Span(last.invoke, max(last.complete, self._whole.complete))

    @cached_property
    def _whole(self) -> Span:
        """Its own interval; a missing end is that of its first or last operation, else infinity."""
        first, last = (self._operations[i].interval if self._operations else None for i in (0, -1))
        begins = (_ends(self.transaction.interval)[0], _ends(first)[0], -inf)
        ends = (_ends(self.transaction.interval)[1], _ends(last)[1], inf)
        return _span(*(next(end for end in some if end is not None) for some in (begins, ends)))

    @cached_property
    def _statements(self) -> list[list[int]]:
        """Places of operations by statement: those of one have one interval."""
        asked = [
            i
            for i, o in enumerate(self._operations)
            if o.kind not in MARKERS or o.kind is OperationKind.COMMIT
        ]
        return [list(places) for _, places in groupby(asked, key=lambda i: self._operations[i].interval)]

    def _widened(self, span: Span) -> Span:
        return Span(span.invoke - self.clock_error, span.complete + self.clock_error)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Both ends as they were told; an interval that ends before it begins tells nothing."""
    if interval is None:
        return None, None
    invoke, complete = interval
    is_inverted = invoke is not None and complete is not None and complete < invoke
    return (None, None) if is_inverted else (invoke, complete)


def _span(invoke: float, complete: float) -> Span:
    return Span(invoke, complete) if invoke <= complete else EVER
