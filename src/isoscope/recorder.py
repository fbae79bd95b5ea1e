"""Record a history of your own: one `with` block per transaction."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Self, TypeAlias

from isoscope._native import Builder, ParseError
from isoscope.history import (
    UNKNOWN,
    History,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Range,
    Scalar,
    Source,
    Status,
    Timestamp,
    Transaction,
    Unknown,
    Value,
    VersionSource,
)
from isoscope.scalars import key_scalar, scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date, time, timedelta
    from decimal import Decimal
    from types import TracebackType
    from typing import Any
    from uuid import UUID

    #: What drivers return; `scalars.scalar` says what a history keeps of it.
    DriverValue: TypeAlias = (
        Scalar | Decimal | bytes | bytearray | memoryview | UUID | date | time | timedelta
    )
    Recordable: TypeAlias = DriverValue | tuple[Any, ...]

__all__ = ["RecordedTransaction", "Recorder", "build", "with_scalars"]


class Recorder:
    """Collects transactions from any number of threads.

    Session order is the order in which transactions end. `clock` (for instance `time.monotonic_ns`)
    records the interval of each transaction.
    """

    def __init__(
        self, *, initial: Initial | Recordable | Unknown = UNKNOWN, clock: Callable[[], int] | None = None
    ) -> None:
        self._initial = _initial(initial)
        self._clock = clock
        self._lock = Lock()
        self._numbers = count(1)
        self._ids: set[tuple[type, Scalar]] = set()
        self._transactions: list[Transaction] = []
        self._versions: list[tuple[VersionSource, Scalar, Scalar]] = []

    def transaction(
        self,
        *,
        session: Recordable = None,
        id: Recordable = None,  # noqa: A002 - the word of the field
    ) -> RecordedTransaction:
        """A transaction to be used in a `with` block; it aborts if the block raises.

        Without a session it is its own; without an id it is numbered. Raises ValueError if the id is taken.
        """
        return RecordedTransaction(self, key_scalar(session), self._taken(key_scalar(id)), self._clock)

    def _taken(self, transaction_id: Scalar) -> Scalar:
        """The id, which is taken from now on; the next free number for None."""
        with self._lock:
            if transaction_id is None:
                free = (number for number in self._numbers if (int, number) not in self._ids)
                transaction_id = next(free)
            if (type(transaction_id), transaction_id) in self._ids:
                raise _used_twice(transaction_id)
            self._ids.add((type(transaction_id), transaction_id))
        return transaction_id

    def version_order(
        self,
        key: Recordable,
        values: Iterable[Recordable],
        *,
        source: VersionSource = VersionSource.DECLARED,
    ) -> None:
        """Declares the order in which the versions of `key` were installed."""
        of_key = key_scalar(key)
        versions = [(source, of_key, scalar(value)) for value in values]
        with self._lock:
            self._versions.extend(versions)

    def add(self, transaction: Transaction) -> None:
        """Adds a transaction that was recorded elsewhere. Raises ValueError if its id is taken."""
        known = with_scalars(transaction)
        self._taken(known.id)
        self._ended(known)

    def _ended(self, transaction: Transaction) -> None:
        with self._lock:
            self._transactions.append(transaction)

    def history(self) -> History:
        """Everything recorded so far."""
        with self._lock:
            return build(self._transactions, initial=self._initial, versions=self._versions)


class RecordedTransaction:
    """A transaction under way: call the methods in program order."""

    def __init__(
        self,
        recorder: Recorder,
        session: Scalar,
        transaction_id: Scalar,
        clock: Callable[[], int] | None,
    ) -> None:
        self._recorder = recorder
        self._clock = clock
        self._operations: list[Operation] = []
        self._is_open: bool | None = None
        self._transaction = Transaction(
            number=0, id=transaction_id, session=0, session_id=session, status=Status.COMMITTED
        )

    def read(self, key: Recordable, value: Value | Recordable | list[DriverValue], **details: Any) -> None:
        """It read `value`: a scalar, a list or tuple of them, or `UNKNOWN` if the result never came."""
        self._add(OperationKind.READ, key, value, details)

    def write(self, key: Recordable, value: DriverValue, *, rows: int | None = None, **details: Any) -> None:
        """It wrote `value`; `rows` is how many rows the database says it changed."""
        self._change(OperationKind.WRITE, key, value, rows, details)

    def append(self, key: Recordable, value: DriverValue, **details: Any) -> None:
        """It appended `value` to a list."""
        self._add(OperationKind.APPEND, key, value, details)

    def insert(self, key: Recordable, value: DriverValue, *, rows: int | None = None, **details: Any) -> None:
        """It inserted a row; with `rows` 0 there was one, and it changed nothing."""
        if rows != 0:
            self._add(OperationKind.INSERT, key, value, details)
        else:
            self._add(OperationKind.READ, key, UNKNOWN, {"statement": "insert", **details})

    def delete(self, key: Recordable, *, rows: int | None = None, **details: Any) -> None:
        """It deleted a row; `rows` is how many rows the database says it deleted."""
        self._change(OperationKind.DELETE, key, None, rows, details)

    def range_read(self, result: Range, **details: Any) -> None:
        """It read a range of keys."""
        self._add(OperationKind.RANGE_READ, None, result, details)

    def timestamps(self, start: Timestamp | int, commit: Timestamp | int) -> None:
        """The database's own clock at start and commit."""
        self._set(start=_timestamp(start), commit=_timestamp(commit))

    def abort(self) -> None:
        """It did not commit."""
        self._set(status=Status.ABORTED)

    def indeterminate(self) -> None:
        """It is unknown whether it committed."""
        self._set(status=Status.INDETERMINATE)

    def __enter__(self) -> Self:
        if self._is_open is not None:
            raise RuntimeError(f"transaction {self._transaction.id!r} has been in a `with` block already")
        self._is_open = True
        if self._clock:
            self._set(interval=Interval(self._clock(), None))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._clock and self._transaction.interval:
            self._set(interval=Interval(self._transaction.interval.invoke, self._clock()))
        if error is not None and self._transaction.status is Status.COMMITTED:
            self.abort()
        self._recorder._ended(replace(self._transaction, operations=tuple(self._operations)))  # noqa: SLF001
        self._is_open = False

    def _change(
        self,
        kind: OperationKind,
        key: Recordable,
        value: DriverValue,
        rows: int | None,
        details: dict[str, Any],
    ) -> None:
        """A statement that changed no row has seen that there is none."""
        if rows != 0:
            self._add(kind, key, value, details)
            return
        statement = "delete" if kind is OperationKind.DELETE else "update"
        self._add(OperationKind.READ, key, None, {"statement": statement, **details})

    def _add(self, kind: OperationKind, key: Recordable, value: object, details: dict[str, Any]) -> None:
        # Checked now: a mistake must not cost the transactions before it.
        self._refuse_outside()
        self._operations.append(
            Operation(kind=kind, key=key_scalar(key), value=_value(kind, value), **details)
        )

    def _refuse_outside(self) -> None:
        if not self._is_open:
            why = "is not in a `with` block" if self._is_open is None else "has ended"
            raise RuntimeError(
                f"transaction {self._transaction.id!r} {why}: nothing was recorded\n\n"
                "hint: with recorder.transaction(session=...) as t: t.read(...)"
            )

    def _set(self, **changes: Any) -> None:
        self._refuse_outside()
        self._transaction = replace(self._transaction, **changes)


def with_scalars(transaction: Transaction) -> Transaction:
    """The transaction with each value of a driver as the scalar that stands for it."""
    operations = (
        replace(operation, key=key_scalar(operation.key), value=_value(operation.kind, operation.value))
        for operation in transaction.operations
    )
    return replace(
        transaction,
        id=key_scalar(transaction.id),
        session_id=key_scalar(transaction.session_id),
        operations=tuple(operations),
    )


def build(
    transactions: Iterable[Transaction],
    *,
    initial: Initial | None = None,
    versions: Iterable[tuple[VersionSource, Scalar, Scalar]] = (),
    source: Source | None = None,
) -> History:
    """The history of `transactions`, in this order; a session id of None is a session of its own.

    Raises ValueError if an id, or a sequence number of a session, is used twice.
    """
    builder = Builder()
    initial = initial or Initial()
    builder.initial(initial.value, replaceable=initial.replaceable)
    for transaction in transactions:
        _add(builder, transaction)
    for key, value in initial.of_key.items():
        builder.initial_of(key, value)
    for version_source, key, value in versions:
        builder.version(version_source, key, value)
    try:
        return History(builder.finish(), source)
    except ParseError as error:
        _, _, expected, found, *_ = error.args
        raise ValueError(f"expected {expected}, found {found}") from None


def _add(builder: Builder, transaction: Transaction) -> None:
    try:
        builder.add(transaction)
    except KeyError:
        raise _used_twice(transaction.id) from None


def _used_twice(transaction_id: Scalar) -> ValueError:
    return ValueError(f"the transaction id {transaction_id!r} is used twice")


def _value(kind: OperationKind, value: object) -> Value | Range:
    """The value of an operation as a history keeps it; only a read has a list or no known result."""
    if isinstance(value, Range):
        return Range(
            low=key_scalar(value.low),
            high=key_scalar(value.high),
            rows=tuple((key_scalar(key), scalar(row)) for key, row in value.rows),
            tombstones=tuple((key_scalar(key), scalar(row)) for key, row in value.tombstones),
        )
    if kind is not OperationKind.READ:
        return scalar(value)
    if isinstance(value, Unknown):
        return value
    return tuple(map(scalar, value)) if isinstance(value, list | tuple) else scalar(value)


def _initial(given: object) -> Initial:
    initial = given if isinstance(given, Initial) else Initial(value=_initial_value(given))
    return Initial(
        value=_initial_value(initial.value),
        of_key={key_scalar(key): _initial_value(value) for key, value in initial.of_key.items()},
        replaceable=initial.replaceable,
    )


def _initial_value(value: object) -> Scalar | Unknown:
    return value if isinstance(value, Unknown) else scalar(value)


def _timestamp(reading: Timestamp | int) -> Timestamp:
    return Timestamp(reading) if isinstance(reading, int) else reading
