"""The transactions that count as committed: an indeterminate one only if something proves that it did."""

from __future__ import annotations

import pytest

from isoscope.history import UNKNOWN, Initial, Operation, OperationKind, Range, Status, Transaction
from isoscope.recorder import build
from isoscope.reference.counted import counted


def write(value: int) -> Operation:
    return Operation(kind=OperationKind.WRITE, key="x", value=value)


def append(value: int) -> Operation:
    return Operation(kind=OperationKind.APPEND, key="x", value=value)


def read(value: int | None) -> Operation:
    return Operation(kind=OperationKind.READ, key="x", value=value)


DELETE = Operation(kind=OperationKind.DELETE, key="x")


def which_count(*transactions: list[Operation], initial: Initial) -> frozenset[int]:
    """Of these, of which the first is indeterminate and all others committed."""
    statuses = [Status.INDETERMINATE, *[Status.COMMITTED] * len(transactions)]
    return counted(
        build(
            (
                Transaction(
                    number=0, id=n, session=0, session_id=n, operations=tuple(operations), status=status
                )
                for n, (operations, status) in enumerate(zip(transactions, statuses, strict=False))
            ),
            initial=initial,
        )
    )


ZERO = Initial(value=0)
ANYTHING = Initial(value=UNKNOWN)


@pytest.mark.parametrize(
    ("reader", "counts"),
    [
        ([read(2)], {0, 1}),
        ([write(1), read(2)], {1}),
        ([read(1)], {1}),
    ],
)
def test_only_a_read_of_another_transaction_proves_that_this_one_committed(
    reader: list[Operation], counts: set[int]
) -> None:
    """What a transaction wrote itself says nothing about others, whatever it reads then."""
    assert which_count([write(2)], reader, initial=ZERO) == counts


@pytest.mark.parametrize(("shown", "counts"), [((1,), {1}), ((2, 1), {0, 1})])
def test_a_list_proves_what_it_shows_beside_own_appends(shown: tuple[int, ...], counts: set[int]) -> None:
    """In a list, the value may stand anywhere in the read."""
    read_list = Operation(kind=OperationKind.READ, key="x", value=shown)
    assert which_count([append(2)], [append(1), read_list], initial=ZERO) == counts


@pytest.mark.parametrize(("initial", "counts"), [(0, {0, 1}), (None, {1})])
def test_a_read_of_nil_proves_the_only_delete_of_a_key_that_existed_at_first(
    initial: int | None, counts: set[int]
) -> None:
    """If the initial value is known, and is not nil, then the read cannot show that instead."""
    assert which_count([DELETE], [read(None)], initial=Initial(value=initial)) == counts


@pytest.mark.parametrize(("initial", "counts"), [(5, {1}), (1, {0, 1})])
def test_a_delete_is_proven_by_a_search_only_if_nothing_else_can_have_left_the_row_out(
    initial: int, counts: set[int]
) -> None:
    """The initial value 5 does not match either."""
    search = Operation(kind=OperationKind.RANGE_READ, value=Range(rows=()), predicate="[:= 1]")
    assert which_count([DELETE], [search], initial=Initial(value=initial)) == counts


@pytest.mark.parametrize(
    ("written", "shown", "counts"),
    [(write(5), 5, {0, 1, 2}), (DELETE, None, {1, 2}), (write(5), None, {1, 2})],
)
def test_a_deleted_key_of_unknown_initial_value_may_have_held_nothing_and_only_nothing(
    written: Operation, shown: int | None, counts: set[int]
) -> None:
    """A read of nil may then show the initial state; a read of a value can only show its writer."""
    assert which_count([written], [read(shown)], [DELETE], initial=ANYTHING) == counts
