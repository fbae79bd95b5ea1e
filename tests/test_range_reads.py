"""Range reads of a table whose rows neither come nor go: judged as reads of their rows, and only then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoscope import checkers
from isoscope.history import Initial, Operation, OperationKind, Range, Status, Transaction
from isoscope.recorder import build
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

READ, WRITE, RANGE_READ = OperationKind.READ, OperationKind.WRITE, OperationKind.RANGE_READ
ZERO = Initial(value=0)


def rows(low: int, high: int, values: dict[int, int]) -> Range:
    return Range(low=low, high=high, rows=tuple((key, values[key]) for key in range(low, high + 1)))


def transaction(number: int, *operations: Operation) -> Transaction:
    return Transaction(
        number=0, id=number, session=0, session_id=number % 3, status=Status.COMMITTED, operations=operations
    )


@st.composite
def transactions(draw: DrawFn) -> list[Transaction]:
    """Writes of unique values, and range reads that show any of the values written so far."""
    written: dict[int, list[int]] = {key: [0] for key in range(4)}
    made = []
    for number in range(1, draw(st.integers(2, 7))):
        operations = []
        for _ in range(draw(st.integers(1, 3))):
            if draw(st.booleans()):
                key = draw(st.integers(0, 3))
                value = number * 10 + len(operations)
                written[key].append(value)
                operations.append(Operation(kind=WRITE, key=key, value=value))
            else:
                low = draw(st.integers(0, 3))
                high = draw(st.integers(low, 3))
                shown = {key: draw(st.sampled_from(values)) for key, values in written.items()}
                operations.append(Operation(kind=RANGE_READ, value=rows(low, high, shown)))
        made.append(transaction(number, *operations))
    # Every key is known, so that every range read shows all there is.
    final = {key: values[-1] for key, values in written.items()}
    return [*made, transaction(len(made) + 1, Operation(kind=RANGE_READ, value=rows(0, 3, final)))]


def itemised(one: Transaction) -> Transaction:
    operations: list[Operation] = []
    for operation in one.operations:
        if isinstance(operation.value, Range):
            operations += [Operation(kind=READ, key=key, value=value) for key, value in operation.value.rows]
        else:
            operations.append(operation)
    return replace(one, operations=tuple(operations))


@given(transactions())
def test_a_range_read_is_as_good_as_reads_of_its_rows(recorded: list[Transaction]) -> None:
    ranges = checkers.check(build(recorded, initial=ZERO))
    items = checkers.check(build([itemised(one) for one in recorded], initial=ZERO))
    assert [(v.level, v.outcome, dict(v.anomaly_counts)) for v in ranges.verdicts] == [
        (v.level, v.outcome, dict(v.anomaly_counts)) for v in items.verdicts
    ]


def test_the_report_says_so_and_counts_what_was_recorded() -> None:
    recorded = [transaction(1, Operation(kind=RANGE_READ, value=rows(0, 3, dict.fromkeys(range(4), 0))))]
    report = checkers.check(build(recorded, initial=ZERO))
    assert report.history["operations"] == 1
    said = "1 range read is reads of the rows: none comes or goes, and every key in the range is shown"
    assert said in report.assumptions
    assert report.verdicts
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}


@pytest.mark.parametrize(
    "another",
    [
        Operation(kind=OperationKind.INSERT, key=9, value=1),
        Operation(kind=OperationKind.DELETE, key=1),
        Operation(kind=RANGE_READ, value=Range(low=0, high=3, rows=((0, 0), (1, 0)))),
        Operation(kind=RANGE_READ, value=Range(low=0, high=None, rows=())),
        Operation(kind=RANGE_READ, value=Range(low=7, high=8, rows=()), predicate=":true"),
        Operation(kind=RANGE_READ, value=Range(low=7, high=8, tombstones=((7, 0),))),
        Operation(kind=READ, key="a", value=0),
    ],
    ids=[
        "an insert",
        "a delete",
        "a row missing",
        "an open bound",
        "a predicate",
        "a tombstone",
        "a word as key",
    ],
)
def test_where_rows_may_come_and_go_range_reads_stay_what_they_are(another: Operation) -> None:
    whole = Operation(kind=RANGE_READ, value=rows(0, 3, dict.fromkeys(range(4), 0)))
    report = checkers.check(build([transaction(1, whole), transaction(2, another)], initial=ZERO))
    assert not any("reads of the rows" in assumption for assumption in report.assumptions)
