"""Range reads as reads of single keys: which keys they leave out, and in which order they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.history import Operation, OperationKind, Range, Transaction
from isoscope.recorder import build
from isoscope.reference.accesses import LEFT_OUT
from isoscope.reference.rows import Rows

if TYPE_CHECKING:
    from isoscope.history import Scalar


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


@pytest.mark.parametrize(
    ("low", "high", "left_out"),
    [
        (None, None, [1, 2, 3, "a", "b", 1.5, 2.5]),
        (2, None, [2, 3]),
        (None, 2, [1, 2]),
        (2, 2, [2]),
        ("b", None, ["b"]),
        (None, "a", ["a"]),
        (1, "b", []),
        (1.5, 1.5, [1.5]),
    ],
)
def test_a_key_lies_between_bounds_of_its_kind_or_open_ones(
    low: Scalar, high: Scalar, left_out: list[Scalar]
) -> None:
    """The bounds included; a key that is no integer and no text, between two open ones or two that are it."""
    keys: list[Scalar] = [1, 2, 3, "a", "b", 1.5, 2.5]
    found = single_reads(
        *(Operation(kind=OperationKind.WRITE, key=key, value=1) for key in keys),
        Operation(kind=OperationKind.RANGE_READ, value=Range(low=low, high=high)),
    )
    assert [key for key, *_ in found] == left_out
