"""Transactions of a run go into the native builder as short rows, and mean the same as `Transaction`s."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope._native import UNKNOWN, Builder
from isoscope.history import (
    KINDS,
    STATUSES,
    History,
    Interval,
    Operation,
    OperationKind,
    Range,
    Status,
    Timestamp,
    Transaction,
)

READ, WRITE, RANGE_READ, BEGIN, COMMIT = (
    KINDS.index(kind)
    for kind in (
        OperationKind.READ,
        OperationKind.WRITE,
        OperationKind.RANGE_READ,
        OperationKind.BEGIN,
        OperationKind.COMMIT,
    )
)
ROWS: list[tuple[int, Any, Any, int, int]] = [
    (BEGIN, None, None, 10, 11),
    (READ, 1, 5, 12, 13),
    (READ, 2, (3, 4), 14, 15),
    (READ, 3, UNKNOWN, 16, 17),
    (WRITE, 1, 2**70, 18, 19),
    (RANGE_READ, None, (1, 9, [(1, 5)], ()), 20, 21),
    (COMMIT, None, None, 22, 23),
]
TIMESTAMPS = (Timestamp(7), Timestamp(8, 1))


def recorded(status: Status = Status.COMMITTED, rows: list[Any] = ROWS) -> History:
    builder = Builder()
    builder.recorded(1, 4, STATUSES.index(status), rows, TIMESTAMPS)
    return History(builder.finish())


def test_short_rows_make_the_same_history_as_a_transaction() -> None:
    builder = Builder()
    builder.add(
        Transaction(
            number=0,
            id=1,
            session=0,
            session_id=4,
            status=Status.COMMITTED,
            operations=tuple(map(operation, ROWS)),
            start=TIMESTAMPS[0],
            commit=TIMESTAMPS[1],
            interval=Interval(10, 23),
        )
    )
    assert builder.finish().same(recorded().columns)


def operation(row: tuple[int, Any, Any, int, int]) -> Operation:
    kind, key, value, start, end = row
    if kind == RANGE_READ:
        low, high, rows, tombstones = value
        value = Range(low=low, high=high, rows=tuple(rows), tombstones=tombstones)
    return Operation(kind=KINDS[kind], key=key, value=value, interval=Interval(start, end))


def test_a_recorded_transaction_has_all_of_its_operations() -> None:
    [transaction] = recorded()
    assert (transaction.id, transaction.session_id) == (1, 4)
    assert (transaction.start, transaction.commit) == TIMESTAMPS
    assert transaction.interval == Interval(10, 23)
    assert [operation.interval for operation in transaction.operations] == [
        Interval(start, end) for *_, start, end in ROWS
    ]
    values = [operation.value for operation in transaction.operations]
    assert values == [None, 5, (3, 4), UNKNOWN, 2**70, Range(low=1, high=9, rows=((1, 5),)), None]


def test_an_indeterminate_transaction_has_no_known_end() -> None:
    [transaction] = recorded(Status.INDETERMINATE)
    assert transaction.interval == Interval(10, None)


@pytest.mark.parametrize(
    "row", [(99, 1, 2, 3, 4), (READ, 1, 2, 3), (READ, 1, 2, None, 4)], ids=["kind", "short", "no instant"]
)
def test_a_malformed_row_is_rejected(row: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        recorded(rows=[row])


def test_an_id_is_recorded_once() -> None:
    builder = Builder()
    builder.recorded(1, 4, 0, [])
    with pytest.raises(KeyError):
        builder.recorded(1, 5, 0, [])
