"""Equality of histories: every recorded difference counts, lines and files do not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import UNKNOWN, Initial, Timestamp
from isoscope.history import (
    Interval,
    Operation,
    OperationKind,
    Range,
    Source,
    Status,
    Transaction,
    VersionSource,
)
from isoscope.recorder import build
from tests.small_transactions import read, transaction, write

if TYPE_CHECKING:
    from isoscope.history import Scalar

# Equality.

WHOLE = transaction(
    1,
    replace(
        write("x", 1),
        interval=Interval(1, 2),
        table="t",
        columns=("c",),
        statement="update",
        tombstone=True,
        lock_mode="l",
        read_mode="r",
        predicate="p",
    ),
    read("y", (1, 2)),
    Operation(kind=OperationKind.RANGE_READ, value=Range(low=1, high=2, rows=(("x", 1),))),
    sequence=1,
    start=Timestamp(1, 1),
    commit=Timestamp(2, 2),
    interval=Interval(1, 9),
    positions=Interval(0, 1),
)


def test_equality_ignores_lines() -> None:
    elsewhere = replace(
        WHOLE, line=9, operations=tuple(replace(operation, line=9) for operation in WHOLE.operations)
    )
    history = build([elsewhere], source=Source(path="other.txt", format="plume"))
    assert history[1].line == 9
    assert history == build([WHOLE])
    assert history[1] == build([WHOLE])[1]


def changed(place: int, **fields: Any) -> Transaction:
    operations = list(WHOLE.operations)
    operations[place] = replace(operations[place], **fields)
    return replace(WHOLE, operations=tuple(operations))


@pytest.mark.parametrize(
    "other",
    [
        [],
        [WHOLE, transaction(2, sequence=2)],
        [replace(WHOLE, id="1")],
        [replace(WHOLE, session_id=2)],
        [replace(WHOLE, session_id=None)],
        [replace(WHOLE, status=Status.ABORTED)],
        [replace(WHOLE, sequence=2)],
        [replace(WHOLE, start=Timestamp(1, 0))],
        [replace(WHOLE, commit=None)],
        [replace(WHOLE, interval=Interval(1, None))],
        [replace(WHOLE, positions=None)],
        [replace(WHOLE, operations=WHOLE.operations[:2])],
        [changed(0, kind=OperationKind.INSERT)],
        [changed(0, key="z")],
        [changed(0, value=2)],
        [changed(0, value=True)],
        [changed(0, value=1.0)],
        [changed(0, value="1")],
        [changed(0, interval=None)],
        [changed(0, table=None)],
        [changed(0, columns=("c", "d"))],
        [changed(0, statement="insert")],
        [changed(0, lock_mode=None)],
        [changed(0, read_mode=None)],
        [changed(0, predicate=None)],
        [changed(0, tombstone=False)],
        [changed(1, value=(2, 1))],
        [changed(1, value=(1,))],
        [changed(1, value=UNKNOWN)],
        [changed(2, value=Range(low=1, high=3, rows=(("x", 1),)))],
        [changed(2, value=Range(low=1, high=2, rows=(("x", 2),)))],
        [changed(2, value=Range(low=1, high=2, tombstones=(("x", 1),)))],
    ],
)
def test_any_recorded_difference_makes_histories_differ(other: list[Transaction]) -> None:
    assert build([WHOLE]) != build(other)
    assert build(other) == build(other)


def test_sessions_and_their_order_are_part_of_a_history() -> None:
    one, two = transaction(1), transaction(2)
    alone = [replace(one, session_id=None), replace(two, session_id=None)]
    assert build([one, two]) != build(alone)
    assert build([one, two]) != build([two, one])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"initial": Initial(value=0)}, {"initial": Initial(value=None)}),
        ({"initial": Initial(value=0)}, {"initial": Initial(value=0, replaceable=True)}),
        ({"initial": Initial(of_key={"x": 1})}, {"initial": Initial(of_key={"x": 2})}),
        ({"initial": Initial(of_key={"x": 1})}, {"initial": Initial(of_key={"y": 1})}),
        ({"versions": [(VersionSource.LOG, "x", 1)]}, {"versions": []}),
        ({"versions": [(VersionSource.LOG, "x", 1)]}, {"versions": [(VersionSource.DECLARED, "x", 1)]}),
        ({"versions": [(VersionSource.LOG, "x", 1)]}, {"versions": [(VersionSource.LOG, "y", 1)]}),
    ],
)
def test_initial_values_and_version_orders_are_part_of_a_history(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    assert build([WHOLE], **left) == build([WHOLE], **left)
    assert build([WHOLE], **left) != build([WHOLE], **right)


def test_the_order_in_which_keys_get_their_initial_values_does_not_matter() -> None:
    one: dict[Scalar, Scalar] = {"x": 1, "y": 2}
    other: dict[Scalar, Scalar] = {"y": 2, "x": 1}
    assert build([], initial=Initial(of_key=one)) == build([], initial=Initial(of_key=other))


def test_a_history_differs_from_everything_that_is_none() -> None:
    assert build([]) != 5
    assert (build([]) == None) is False  # noqa: E711 - the comparison is the point


# Values.
