"""Operations of a history as the data that anomalies and steps rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from isoscope.checkers.itemised import ItemisedHistory
from isoscope.history import OperationKind, Range
from isoscope.verdict import AskedRange, Witness

if TYPE_CHECKING:
    from isoscope.history import Initial, Operation, Source, Transaction

__all__ = ["Recorded", "installs", "same", "token", "witness", "witness_at", "witness_of"]

_INSTALLS = (OperationKind.WRITE, OperationKind.INSERT, OperationKind.APPEND, OperationKind.DELETE)


class _Places(Protocol):
    """Where operations and transactions stand."""

    def locate(self, operation: int, /) -> tuple[int, int]: ...
    def place_in_session(self, transaction: int, /) -> int: ...


class Recorded(Protocol):
    """A history, or as much of one as anomalies are made of."""

    @property
    def source(self) -> Source:
        """Where it comes from."""
        ...

    @property
    def initial(self) -> Initial:
        """What keys hold before the first write."""
        ...

    @property
    def columns(self) -> _Places:
        """Where operations and transactions stand."""
        ...

    def transaction(self, number: int) -> Transaction:
        """The transaction with this number."""
        ...


def witness(history: Recorded, operation: int) -> Witness:
    """The operation with this number."""
    number, place = history.columns.locate(operation)
    return witness_at(history, history.transaction(number), place)


def witness_of(history: Recorded, transaction: Transaction, operation: Operation) -> Witness:
    """An operation of a transaction."""
    places = (place for place, other in enumerate(transaction.operations) if other is operation)
    return witness_at(history, transaction, next(places))


def witness_at(history: Recorded, transaction: Transaction, place: int) -> Witness:
    """The operation at this place of a transaction."""
    operation = transaction.operations[place]
    index, recorded, value = place, operation, operation.value
    if isinstance(history, ItemisedHistory):
        # The reader of a report sees what was recorded: the range, and which key it does not show.
        index, recorded = history.origin(transaction.number, place)
        value = None if history.is_left_out(transaction.number, place) else value
    is_shown = recorded is not operation and value is not None
    return Witness(
        transaction=transaction.label,
        kind=str(operation.kind),
        key=operation.key,
        value=value,
        place=history.source.place(operation.line) if operation.line else "",
        index=index,
        interval=operation.interval or transaction.interval,
        sql=history.source.sql(operation.line),
        asked=None if is_shown else _asked(recorded),
        item=_item(history, transaction, place),
    )


def _item(history: Recorded, transaction: Transaction, place: int) -> int:
    """The place of an operation among reads of single keys, -1 if range reads before it are none."""
    if isinstance(history, ItemisedHistory):
        return place
    before = (operation.kind for operation in transaction.operations[:place])
    return -1 if OperationKind.RANGE_READ in before else place


def _asked(operation: Operation) -> AskedRange | None:
    """What a range read asked for."""
    if not isinstance(operation.value, Range):
        return None
    return AskedRange(
        low=operation.value.low,
        high=operation.value.high,
        table=operation.table,
        predicate=operation.predicate,
    )


def token(value: object) -> tuple[type, str]:
    """What makes a key or value itself: 1, 1.0 and True are three, though Python calls them equal."""
    return type(value), str(value)


def same(value: object, shown: object) -> bool:
    """Whether a read of `shown` shows `value`: it is that value, or a list that holds it."""
    return any(token(value) == token(one) for one in (shown if isinstance(shown, tuple) else (shown,)))


def installs(transaction: Transaction, key: object) -> list[Operation]:
    """The operations of a transaction that install versions of a key, in program order."""
    return [o for o in transaction.operations if o.kind in _INSTALLS and token(o.key) == token(key)]
