"""The answer for every level: what those with real time need to know of times."""

from __future__ import annotations

from dataclasses import replace
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


def in_order(*transactions: Transaction) -> History:
    """Each in a session of its own."""
    numbered = (replace(t, id=number, session_id=number) for number, t in enumerate(transactions))
    return build(numbered, initial=Initial(value=0))


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
    recorded = (
        run(WRITE, 0, None, Status.INDETERMINATE),
        run(replace(READ, value=0), 2, 3),
        run(READ, 4, 5),
    )
    by_place = (replace(t, interval=None, positions=t.interval) for t in recorded)
    history = in_order(*(by_place if by == "positions" else recorded))
    assert explanations.outcomes(history)[Level.STRICT_SERIALIZABLE] is Outcome.HOLDS
