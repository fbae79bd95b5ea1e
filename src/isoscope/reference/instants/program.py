"""What the server did for one transaction, as far as its profile and the answers tell."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from isoscope.history import UNKNOWN, OperationKind, Range, Status
from isoscope.profiles import Certifier, Granularity, Lock, Read, Snapshot, Statement
from isoscope.reference.instants.steps import Action, Change, Look, Step
from isoscope.reference.mechanisms.conduct import MARKERS, READS, WRITES, conduct_of
from isoscope.reference.mechanisms.versions import NOTHING, shown_value
from isoscope.reference.mechanisms.worlds import Span
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import Operation, Scalar, Transaction
    from isoscope.profiles import Profile
    from isoscope.reference.mechanisms.conduct import OperationConduct

__all__ = ["Program"]


def _span_of(operation: Operation) -> Span:
    assert operation.interval is not None
    invoke, complete = operation.interval
    return Span(-inf if invoke is None else invoke, inf if complete is None else complete)


@dataclass(frozen=True)
class Program:
    """The steps of one transaction, in stages: those of one stage are in any order.

    `finishes`: its last statement did its work, although the transaction was rolled back.
    """

    transaction: Transaction
    profile: Profile
    keys: dict[object, Scalar]
    commits: bool
    finishes: bool = False

    @property
    def number(self) -> int:
        """The transaction's."""
        return self.transaction.number

    @property
    def is_judged(self) -> bool:
        """Reads of a transaction that did not commit are not judged."""
        return self.commits

    @property
    def is_serial(self) -> bool:
        """By timestamp ordering reads and writes are at one instant, unless reads lock."""
        is_ordered = self.profile.certifier is Certifier.TIMESTAMP_ORDER
        return is_ordered and self.profile.statements[Statement.SELECT].lock is Lock.NONE

    @property
    def commit(self) -> Span:
        """When its versions appeared; by timestamp ordering at any instant since it began."""
        asked = self._places(OperationKind.COMMIT)
        last = self.transaction.operations[asked[-1] if asked else -1]
        span = _span_of(last)
        complete = inf if self.transaction.status is Status.INDETERMINATE else span.complete
        return Span(self._begin if self.is_serial else span.invoke, complete)

    @property
    def sent(self) -> float:
        """When it asked to commit, at the earliest."""
        asked = self._places(OperationKind.COMMIT)
        return _span_of(self.transaction.operations[asked[-1] if asked else -1]).invoke

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it writes, in program order."""
        return tuple(_change(place, o) for place, o in self._operations if o.kind in WRITES)

    @property
    def late(self) -> tuple[Look, ...]:
        """Reads of the transaction's snapshot that follow an own write of their key."""
        return tuple(look for look in self._of_snapshot() if self._is_written(look))

    def stages(self) -> list[list[Step]]:
        """Its steps; those of a stage come after all of the stage before."""
        if not self.commits:
            return self._undone()
        stages = [stage for place, _ in self._statements for stage in self._statement(place)]
        looks = tuple(look for look in self._of_snapshot() if not self._is_written(look))
        if self.is_serial:
            return [*stages, [self._step(Action.COMMIT, self.commit, looks=looks)]]
        if self._taken is not None:
            changed = frozenset(change.key for change in self.changes)
            snapshot = self._step(Action.SNAPSHOT, self._taken[1], looks=looks, keys=changed)
            stages = self._with_snapshot(stages, snapshot)
        return [*stages, [self._step(Action.COMMIT, self.commit)]]

    def _with_snapshot(self, stages: list[list[Step]], snapshot: Step) -> list[list[Step]]:
        """The snapshot comes before the steps of the statement that takes it; one that floats comes first."""
        assert self._taken is not None
        place = self._taken[0]
        if place is None:
            return [[snapshot], *stages]
        at = next((n for n, stage in enumerate(stages) if stage[0].place >= place), len(stages))
        return [*stages[:at], [snapshot], *stages[at:]]

    def _undone(self) -> list[list[Step]]:
        """Of a transaction that did not commit: what it certainly locked, until it was rolled back.

        The last statement may have failed. A transaction that asked to commit had all its statements
        answered.
        """
        places = [place for place, _ in self._statements]
        answered = places if self._places(OperationKind.COMMIT) else places[:-1]
        done = places if self.finishes else answered
        stages = [stage for place in done for stage in self._statement(place)]
        if not stages:
            return []
        held = _span_of(self.transaction.operations[answered[-1]]).complete if answered else self._begin
        released = Span(held if held != inf else -inf, max(self._rolled_back, held))
        return [*stages, [self._step(Action.ROLLBACK, released)]]

    def _statement(self, place: int) -> list[list[Step]]:
        operation = self.transaction.operations[place]
        conduct = conduct_of(operation, self.profile)
        if operation.kind in WRITES:
            return self._write(place, operation, conduct)
        looks = self._looks(place)
        span = _span_of(operation)
        stages = []
        is_own = self.profile.snapshot is Snapshot.STATEMENT and not self.is_serial
        if conduct.read is Read.CONSISTENT and is_own and self.is_judged:
            stages.append([self._step(Action.SNAPSHOT, span, looks=looks, statement=place)])
        if self._is_hybrid(conduct) and any(look.value == NOTHING for look in looks):
            keys = frozenset(look.key for look in looks)
            stages.append([self._step(Action.SNAPSHOT, span, statement=place, keys=keys)])
        rows = [row for look in looks for row in self._row(look, span, conduct)]
        return [*stages, rows] if rows else stages

    def _row(self, look: Look, span: Span, conduct: OperationConduct) -> Iterator[Step]:
        """The row that a statement locks, or reads at an instant of its own."""
        is_there = look.value != NOTHING
        is_gap = conduct.predicate and not is_there and self.profile.granularity is Granularity.ROW
        lock = conduct.lock if is_there or is_gap else Lock.NONE
        reads = conduct.read is not Read.CONSISTENT and self.is_judged
        is_silent = conduct.read is Read.UNCOMMITTED and look.may_lack and not self._is_written(look)
        if is_silent and not is_there:
            return
        if lock is not Lock.NONE or reads:
            yield self._step(
                Action.ROW,
                span,
                looks=(look,),
                key=look.key,
                lock=lock,
                read=conduct.read if reads else Read.CONSISTENT,
                is_gap=is_gap,
                is_hybrid=self._is_hybrid(conduct),
            )

    def _write(self, place: int, operation: Operation, conduct: OperationConduct) -> list[list[Step]]:
        change, span = _change(place, operation), _span_of(operation)
        is_delete = operation.kind is OperationKind.DELETE
        sees_now = conduct.read is not Read.CONSISTENT or self.profile.snapshot is Snapshot.STATEMENT
        # A write without a lock is a step where others may read it before its commit. `cassandra/quorum` says
        # so: a read may show some writes of a batch before the others, so a write is there at an instant
        # of its own. Where all reads are of committed data, no read can tell when an unlocked write was made.
        is_read_early = any(other.read is Read.UNCOMMITTED for other in self.profile.statements.values())
        if conduct.lock is Lock.NONE and not (is_delete and sees_now) and not is_read_early:
            return []
        is_hybrid = is_delete and self._is_hybrid(conduct)
        row = self._step(
            Action.ROW,
            span,
            change=change,
            key=change.key,
            lock=conduct.lock,
            read=Read.LOCKING if sees_now else Read.CONSISTENT,
            is_hybrid=is_hybrid,
        )
        return [
            *(
                [[self._step(Action.SNAPSHOT, span, statement=place, keys=frozenset([change.key]))]]
                if is_hybrid
                else []
            ),
            [row],
        ]

    def _is_hybrid(self, conduct: OperationConduct) -> bool:
        """Whether a statement finds rows in its own snapshot and then waits for their newest versions."""
        selects = self.profile.statements[Statement.SELECT].read
        is_of_statement = self.profile.snapshot is Snapshot.STATEMENT and selects is Read.CONSISTENT
        return is_of_statement and conduct.read is Read.LOCKING

    def _of_snapshot(self) -> list[Look]:
        """What its consistent reads show of the transaction's snapshot."""
        if not self.is_judged or (self.profile.snapshot is Snapshot.STATEMENT and not self.is_serial):
            return []
        return [
            look
            for place, o in self._statements
            if o.kind in READS and conduct_of(o, self.profile).read is Read.CONSISTENT
            for look in self._looks(place)
        ]

    def _is_written(self, look: Look) -> bool:
        return any(change.key == look.key and change.place < look.place for change in self.changes)

    def _looks(self, place: int) -> tuple[Look, ...]:
        operation = self.transaction.operations[place]
        complete = _span_of(operation).complete
        skips = conduct_of(operation, self.profile).skips_locked
        if isinstance(operation.value, Range):
            shown = {token(key): token(value) for key, value in operation.value.rows}
            found = [Look(place, key, value, complete) for key, value in shown.items()]
            lacking = [key for key in self._asked(operation.value) if key not in shown]
            found += [Look(place, key, NOTHING, complete, may_lack=True) for key in lacking if not skips]
            return tuple(found)
        is_silent = operation.value is UNKNOWN or (skips and shown_value(operation) == NOTHING)
        return () if is_silent else (Look(place, token(operation.key), shown_value(operation), complete),)

    def _asked(self, asked: Range) -> list[object]:
        gone = [token(key) for key, _ in asked.tombstones]
        inside = [key for key, own in self.keys.items() if _is_inside(own, asked)]
        return list(dict.fromkeys([*gone, *inside]))

    @property
    def _taken(self) -> tuple[int | None, Span] | None:
        """Which statement takes the snapshot of the transaction, and when; None if it has none."""
        statements = [place for place, _ in self._statements]
        reads = [
            place
            for place, o in self._statements
            if o.kind in READS and conduct_of(o, self.profile).read is Read.CONSISTENT
        ]
        begins = self._places(OperationKind.BEGIN)
        sent = [place for place in statements if not self._is_kept_by_client(place)]
        whole = Span(self._begin, self.commit.complete)
        match self.profile.snapshot:
            case Snapshot.STATEMENT:
                return None
            case Snapshot.FIRST_READ:
                return (reads[0], self._span_at(reads[0])) if reads else None
            case Snapshot.FIRST_STATEMENT:
                return (statements[0], self._span_at(statements[0])) if statements else None
            case Snapshot.BEGIN if begins:
                return begins[0], self._span_at(begins[0])
            case Snapshot.START if sent:
                return sent[0], Span(self._begin, self._span_at(sent[0]).complete)
        return None, whole

    def _is_kept_by_client(self, place: int) -> bool:
        """Whether the server need not hear of a write before the commit: reads alone are certified."""
        operation = self.transaction.operations[place]
        is_unlocked = conduct_of(operation, self.profile).lock is Lock.NONE
        of_reads = self.profile.certifier is Certifier.OPTIMISTIC_READS
        return of_reads and is_unlocked and operation.kind in WRITES

    def _step(self, action: Action, span: Span, **details: object) -> Step:
        return Step(number=self.number, action=action, span=span, **details)  # type: ignore[arg-type]

    def _span_at(self, place: int) -> Span:
        return _span_of(self.transaction.operations[place])

    @property
    def _operations(self) -> list[tuple[int, Operation]]:
        return list(enumerate(self.transaction.operations))

    @property
    def _statements(self) -> list[tuple[int, Operation]]:
        return [(place, o) for place, o in self._operations if o.kind not in MARKERS]

    @property
    def _begin(self) -> float:
        return _span_of(self.transaction.operations[0]).invoke

    @property
    def _rolled_back(self) -> float:
        places = self._places(OperationKind.ABORT)
        is_known = self.transaction.status is Status.ABORTED and places
        return self._span_at(places[-1]).complete if is_known else inf

    def _places(self, kind: OperationKind) -> list[int]:
        return [place for place, o in self._operations if o.kind is kind]


def _change(place: int, operation: Operation) -> Change:
    is_gone = operation.kind is OperationKind.DELETE or operation.tombstone
    value = NOTHING if is_gone else token(operation.value)
    return Change(place, token(operation.key), value, str(operation.kind))


def _is_inside(key: Scalar, asked: Range) -> bool:
    return all(
        bound is None or (type(bound) is type(key) and is_kept(key, bound))
        for bound, is_kept in ((asked.low, _at_least), (asked.high, _at_most))
    )


def _at_least(key: Scalar, bound: Scalar) -> bool:
    return bound <= key  # type: ignore[operator]


def _at_most(key: Scalar, bound: Scalar) -> bool:
    return key <= bound  # type: ignore[operator]
