"""The versions of each key: what transactions left of it when they committed, and what it held at first.

A transaction has at most one version of a key: its last write, or all that it appended to a list. A delete
leaves a version without a value. Keys and values are `reads.token`s.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import UNKNOWN, OperationKind, Range, Status
from isoscope.reference.mechanisms.conduct import WRITES, conduct_of
from isoscope.reference.mechanisms.times import Times
from isoscope.reference.mechanisms.worlds import Span
from isoscope.reference.observations import INITIAL
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.history import History, Operation, Scalar, Transaction, Unknown
    from isoscope.profiles import Profile

__all__ = [
    "NOTHING",
    "Place",
    "Store",
    "Version",
    "Write",
    "found_rows",
    "is_inside",
    "keys_of",
    "shown_value",
]

#: What a key holds that was deleted, or that was never there: a read shows nil.
NOTHING = token(None)
_FIRST = Span(-inf, -inf)


class Place(NamedTuple):
    """An operation by the number of its transaction and its place there."""

    transaction: int
    operation: int


class Write(NamedTuple):
    """A write of a key, of whatever became of it."""

    place: Place
    value: object


class Version(NamedTuple):
    """What others see of a transaction's writes; `span`: when it appeared. The first one has no `place`.

    `value` of a list is what was appended. `is_certain`: its transaction did commit; a delete found a row.
    """

    transaction: int
    value: object
    span: Span
    place: Place | None = None
    is_certain: bool = True


class Store:
    """What transactions did to the keys of a history, and when.

    `shown`: transactions whose end was not answered, and which a read shows to have committed by then.
    """

    def __init__(
        self,
        history: History,
        profile: Profile,
        clock_error: int = 0,
        shown: Mapping[int, float] = MappingProxyType({}),
    ) -> None:
        self.history = history
        self.profile = profile
        self.transactions = list(history)
        self.times = {
            t.number: Times(t, profile, clock_error, shown.get(t.number)) for t in self.transactions
        }
        self.keys: dict[object, Scalar] = {token(key): key for key in history.keys}

    @cached_property
    def committed(self) -> list[Transaction]:
        """Transactions whose commit was answered."""
        return [t for t in self.transactions if t.status is Status.COMMITTED]

    @cached_property
    def readers(self) -> list[Transaction]:
        """Transactions that did commit: their reads are judged."""
        return [t for t in self.transactions if self.times[t.number].is_certain]

    def operation(self, place: Place) -> Operation:
        """The operation at a place."""
        return self.transactions[place.transaction].operations[place.operation]

    def writes(self, key: object, transaction: int, before: int | None = None) -> list[Write]:
        """What a transaction wrote to a key, in program order; `before` one of its operations."""
        operations = self.transactions[transaction].operations[:before]
        return [
            Write(Place(transaction, place), _written(operation))
            for place, operation in enumerate(operations)
            if operation.kind in WRITES and self._concerns(operation, key)
        ]

    def versions(self, key: object) -> list[Version]:
        """The first state of a key and what each transaction that may have committed left of it."""
        found = [Version(INITIAL, (), _FIRST)]
        for t in self.transactions:
            span, writes = self.times[t.number].appears, self.writes(key, t.number)
            if span is not None and writes:
                appended = tuple(write.value for write in writes)
                value = appended if self.shape(key) == "list" else writes[-1].value
                is_certain = self.times[t.number].is_certain and any(self.finds(w.place) for w in writes)
                found.append(Version(t.number, value, span, writes[-1].place, is_certain))
        return found

    def shape(self, key: object) -> str:
        """`register`, `list`, or `mixed`, which is not judged."""
        kinds = {self.operation(w.place).kind for t in self.transactions for w in self.writes(key, t.number)}
        is_list = OperationKind.APPEND in kinds or any(
            isinstance(o.value, tuple) and o.kind is OperationKind.READ and token(o.key) == key
            for t in self.transactions
            for o in t.operations
        )
        if not is_list:
            return "register"
        return "list" if kinds <= {OperationKind.APPEND} else "mixed"

    def is_initial(self, key: object, value: object) -> bool:
        """Whether a register may have held `value` at first.

        If the history does not say, it was the one value that a read shows and no transaction wrote; without
        such a value, it may have held any value, also one that was written later.
        """
        told = self._told(key)
        if told is not UNKNOWN:
            return token(told) == value
        return value in (self._never_written(key) or [value])[:1]

    def finds(self, place: Place) -> bool:
        """Whether a write certainly changed a row: a delete that finds none does nothing.

        It finds one if a version with a value was certainly there, and no other delete can have come between.
        """
        if self.operation(place).kind is not OperationKind.DELETE:
            return True
        key = token(self.operation(place).key)
        own = self.writes(key, place.transaction, before=place.operation)
        if own:
            return own[-1].value != NOTHING
        if self.shape(key) != "register" or self.row(key) != key:
            return True
        times = self.times[place.transaction]
        look, statement = times.snapshot(place.operation), times.operation(place.operation)
        deletes = [
            span
            for number, span in self._deletes(key)
            if number != place.transaction
            if self.writes(key, number)[-1].value == NOTHING or span.overlaps(statement)
        ]
        return any(
            all(gone.precedes(there) or look.precedes(gone) for gone in deletes) and there.precedes(look)
            for there in self._there(key, place)
        )

    def deletes(self, key: object, transaction: int) -> bool:
        """Whether a transaction deleted the key, whatever it did with it then."""
        places = (write.place for write in self.writes(key, transaction))
        return any(self.operation(place).kind is OperationKind.DELETE for place in places)

    def _deletes(self, key: object) -> list[tuple[int, Span]]:
        """Transactions that may have committed a delete of a key, and when."""
        spans = {t.number: self.times[t.number].appears for t in self.transactions}
        return [(n, span) for n, span in spans.items() if span is not None and self.deletes(key, n)]

    def _there(self, key: object, delete: Place) -> list[Span]:
        """When versions of a key appeared that certainly have a value."""
        told = self._told(key)
        is_told = told is not UNKNOWN and token(told) != NOTHING and not self._is_left_out(delete)
        spans = [
            self.times[t.number].appears
            for t in self.committed
            for last in [self.writes(key, t.number)[-1:]]
            if last and last[0].value != NOTHING
        ]
        return [*([_FIRST] if is_told else []), *(span for span in spans if span is not None)]

    def _is_left_out(self, delete: Place) -> bool:
        """Whether a range read that cannot show the delete leaves out its key: a row may be missing."""
        deleted, sent = self.operation(delete), self.times[delete.transaction].sent
        return any(
            is_inside(deleted.key, o.value.low, o.value.high) and deleted.key not in keys_of(o)
            for t in self.committed
            for place, o in enumerate(t.operations)
            if isinstance(o.value, Range) and o.predicate is None and o.table == deleted.table
            if not conduct_of(o, self.profile).skips_locked
            if (t.number != delete.transaction and self.times[t.number].operation(place).complete <= sent)
            or (t.number == delete.transaction and place < delete.operation)
        )

    def _told(self, key: object) -> Scalar | Unknown:
        """The first value of a key as the history says."""
        of_key = {token(other): own for other, own in self.history.initial.of_key.items()}
        return of_key.get(key, self.history.initial.value)

    def row(self, key: object) -> object:
        """The row that a key is a cell of; any other key is its own row."""
        return self._rows.get(key, key)

    def _never_written(self, key: object) -> list[object]:
        """Values that reads of others' writes show and no transaction wrote, in the order of the history."""
        written = {w.value for t in self.transactions for w in self.writes(key, t.number)}
        return [
            value
            for t in self.committed
            for place, operation in enumerate(t.operations)
            for value in _values(operation, key)
            if value not in written and not self.writes(key, t.number, before=place)
        ]

    def _concerns(self, operation: Operation, key: object) -> bool:
        """Whether it writes the key; the delete of a row as a whole writes all of its cells."""
        if operation.kind is OperationKind.DELETE and not operation.columns:
            return self.row(token(operation.key)) == self.row(key)
        return token(operation.key) == key

    @cached_property
    def _rows(self) -> dict[object, object]:
        named = [o for t in self.transactions for o in t.operations if isinstance(o.key, str)]
        return {token(o.key): ("row", row) for o in named for row in [_row_of(o)] if row is not None}


def _row_of(operation: Operation) -> str | None:
    """The row of a key `table/row/column`, with its table; of a row as a whole the column is empty."""
    if not operation.columns and operation.table is None:
        return None
    column = "".join(operation.columns).replace("\\", "\\\\").replace("/", "\\/")
    row = str(operation.key).removesuffix(f"/{column}")
    return None if row == operation.key else row


def is_inside(key: Scalar, low: Scalar, high: Scalar) -> bool:
    """Whether a key is inside bounds of its type; an open bound is None."""
    return _is_at_most(low, key) and _is_at_most(key, high)


def _is_at_most(one: Scalar, other: Scalar) -> bool:
    if one is None or other is None:
        return True
    return type(one) is type(other) and one <= other  # type: ignore[operator]


def keys_of(operation: Operation) -> list[Scalar]:
    """The keys that an operation writes or shows."""
    if isinstance(operation.value, Range):
        return [key for key, _ in operation.value.rows]
    return [operation.key]


def found_rows(operation: Operation) -> list[object]:
    """Keys that it writes, or finds; an empty list need not be there."""
    if isinstance(operation.value, Range):
        return [token(key) for key, _ in operation.value.rows]
    is_there = operation.value not in (UNKNOWN, ()) and shown_value(operation) != NOTHING
    return [token(operation.key)] if operation.kind in WRITES or is_there else []


def shown_value(read: Operation) -> object:
    """What a read of a register shows; a deleted row is nothing."""
    return NOTHING if read.tombstone else token(read.value)


def _written(write: Operation) -> object:
    return NOTHING if write.tombstone or write.kind is OperationKind.DELETE else token(write.value)


def _values(operation: Operation, key: object) -> list[object]:
    """Values of a register that a read shows."""
    if operation.kind is OperationKind.READ and token(operation.key) == key:
        return [] if operation.value is UNKNOWN else [shown_value(operation)]
    if operation.kind is OperationKind.RANGE_READ and isinstance(operation.value, Range):
        return [token(value) for row, value in operation.value.rows if token(row) == key]
    return []
