"""Range reads as reads of single keys: which keys they leave out, and in which order they are read."""

from __future__ import annotations

import pytest

from isoscope.history import Operation, OperationKind, Range, Transaction
from isoscope.recorder import build
from isoscope.reference.accesses import LEFT_OUT
from isoscope.reference.rows import Rows


def single_reads(*operations: Operation) -> list[tuple[object, object, str | None]]:
    """Key, value and predicate of the reads that the last of these transactions is made of."""
    transactions = (
        Transaction(number=0, id=number, session=0, session_id=number, operations=(operation,))
        for number, operation in enumerate(operations)
    )
    *_, last = Rows(build(transactions)).history
    return [(o.key, o.value, o.predicate) for o in last.operations]


@pytest.mark.parametrize(
    ("predicate", "said"),
    [(None, [("l", (), LEFT_OUT)]), (":true", [("l", (), LEFT_OUT)]), ("[:= 1]", [])],
)
def test_a_list_matches_nothing_but_true(
    predicate: str | None, said: list[tuple[object, object, str | None]]
) -> None:
    """It has no single value: a range read that asks for values says nothing of a list that it leaves out."""
    found = single_reads(
        Operation(kind=OperationKind.APPEND, key="l", value=1),
        Operation(kind=OperationKind.RANGE_READ, value=Range(rows=()), predicate=predicate),
    )
    assert found == said


def test_rows_are_read_in_the_order_of_keys() -> None:
    """Integers, then texts by code points, then all others by their texts."""
    rows = tuple((key, 1) for key in (True, 1.5, "b", "B", 10, 2))
    found = single_reads(Operation(kind=OperationKind.RANGE_READ, value=Range(rows=rows)))
    assert [(type(key), key) for key, *_ in found] == [
        (int, 2),
        (int, 10),
        (str, "B"),
        (str, "b"),
        (float, 1.5),
        (bool, True),
    ]
