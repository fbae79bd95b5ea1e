"""Transactions of a run go into the native builder in five columns, and mean the same as in twelve."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope._native import UNKNOWN, Builder
from isoscope.history import KINDS, STATUSES, History, Interval, OperationKind, Range, Status, Timestamp

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


def test_five_columns_make_the_same_history_as_twelve() -> None:
    builder = Builder()
    nothing = (None, (), None, None, None, None, False, None)
    builder.transaction(
        1,
        4,
        named=True,
        status=STATUSES.index(Status.COMMITTED),
        operations=[(kind, key, value, (start, end), *nothing) for kind, key, value, start, end in ROWS],
        start=TIMESTAMPS[0],
        commit=TIMESTAMPS[1],
        interval=(10, 23),
    )
    assert builder.finish().same(recorded().columns)


def test_what_was_recorded_is_there() -> None:
    [transaction] = recorded()
    assert (transaction.id, transaction.session_id) == (1, 4)
    assert (transaction.start, transaction.commit) == TIMESTAMPS
    assert transaction.interval == Interval(10, 23)
    assert [operation.interval for operation in transaction.operations] == [
        Interval(start, end) for *_, start, end in ROWS
    ]
    values = [operation.value for operation in transaction.operations]
    assert values == [None, 5, (3, 4), UNKNOWN, 2**70, Range(low=1, high=9, rows=((1, 5),)), None]


def test_nobody_knows_when_an_indeterminate_transaction_ended() -> None:
    [transaction] = recorded(Status.INDETERMINATE)
    assert transaction.interval == Interval(10, None)


@pytest.mark.parametrize(
    "row", [(99, 1, 2, 3, 4), (READ, 1, 2, 3), (READ, 1, 2, None, 4)], ids=["kind", "short", "no instant"]
)
def test_a_row_that_makes_no_sense_is_refused(row: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        recorded(rows=[row])


def test_an_id_is_recorded_once() -> None:
    builder = Builder()
    builder.recorded(1, 4, 0, [])
    with pytest.raises(KeyError):
        builder.recorded(1, 5, 0, [])
