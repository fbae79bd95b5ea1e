"""The answer for every level: what it needs of real time, and what levels say of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.history import Initial, Interval, Operation, OperationKind, Status, Transaction
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import explanations, verdicts
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from isoscope.history import History

WRITE = Operation(kind=OperationKind.WRITE, key="x", value=1)
READ = Operation(kind=OperationKind.READ, key="x", value=1)


def run(
    operation: Operation, begin: int | None, end: int | None, status: Status = Status.COMMITTED
) -> Transaction:
    interval = Interval(begin, end)
    return Transaction(
        number=0,
        id=None,
        session=0,
        session_id=None,
        operations=(operation,),
        interval=interval,
        status=status,
    )


def in_order(*transactions: Transaction, initial: int = 0) -> History:
    """Each in a session of its own."""
    numbered = (
        Transaction(
            number=0,
            id=number,
            session=0,
            session_id=number,
            operations=t.operations,
            interval=t.interval,
            positions=t.positions,
            status=t.status,
        )
        for number, t in enumerate(transactions)
    )
    return build(numbered, initial=Initial(value=initial))


@pytest.mark.parametrize(
    ("writer", "reader", "outcome"),
    [
        (run(WRITE, 0, 1), run(READ, 2, 3), Outcome.HOLDS),
        (run(WRITE, 0, None), run(READ, 2, 3), Outcome.UNKNOWN),
        (run(WRITE, None, 1), run(READ, 2, 3), Outcome.UNKNOWN),
        (run(WRITE, 0, None, Status.INDETERMINATE), run(READ, 2, 3), Outcome.HOLDS),
        (run(WRITE, None, None, Status.INDETERMINATE), run(READ, 2, 3), Outcome.UNKNOWN),
    ],
)
def test_real_time_needs_the_begin_and_end_of_committed_and_the_begin_of_indeterminate_transactions(
    writer: Transaction, reader: Transaction, outcome: Outcome
) -> None:
    """Levels with real time are then unknown, never said to hold; other levels do not mind."""
    found = verdicts.outcomes(in_order(writer, reader))
    assert found[Level.STRICT_SERIALIZABLE] is outcome
    assert found[Level.SERIALIZABLE] is Outcome.HOLDS


def test_real_time_needs_nothing_of_a_transaction_that_does_not_count() -> None:
    history = in_order(run(WRITE, None, None, Status.ABORTED), run(WRITE, 2, 3))
    assert verdicts.outcomes(history)[Level.STRICT_SERIALIZABLE] is Outcome.HOLDS


@pytest.mark.parametrize("by", ["positions", "interval"])
def test_an_indeterminate_transaction_ends_after_everything_else_by_clock_and_by_places_of_events(
    by: str,
) -> None:
    """It may take effect at any time later: its write is read after a read that still misses it."""
    lives = [Interval(0, None), Interval(2, 3), Interval(4, 5)]
    operations = [WRITE, Operation(kind=OperationKind.READ, key="x", value=0), READ]
    statuses = [Status.INDETERMINATE, Status.COMMITTED, Status.COMMITTED]
    history = in_order(
        *(
            Transaction(
                number=0,
                id=None,
                session=0,
                session_id=None,
                operations=(operation,),
                status=status,
                positions=life if by == "positions" else None,
                interval=life if by == "interval" else None,
            )
            for life, operation, status in zip(lives, operations, statuses, strict=True)
        )
    )
    assert explanations.outcomes(history)[Level.STRICT_SERIALIZABLE] is Outcome.HOLDS
