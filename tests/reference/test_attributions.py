"""Explanations of reads that no explanation excuses: they have one, and other levels ask which it is."""

from __future__ import annotations

from isoscope.history import Initial, Operation, OperationKind, Range, Transaction
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reference import explanations
from isoscope.verdict import Outcome

from .told import told


def test_levels_that_do_not_forbid_a_wrong_read_ask_which_write_it_shows() -> None:
    """An intermediate read shows the version of its writer: the session then goes back behind it."""
    history = told("1: w(x,1) w(x,2)", "2: r(x,1)", "2: r(x,0)")
    found = explanations.outcomes(history)
    assert found[Level.MONOTONIC_READS] is Outcome.VIOLATED
    assert found[Level.READ_YOUR_WRITES] is Outcome.HOLDS


def test_a_predicate_read_that_misses_a_row_is_wrong_in_its_one_explanation() -> None:
    """Without possible writers the read is a `predicate-read-miss`, which breaks `pl-2`, and not `pl-1`."""
    seen = Operation(kind=OperationKind.READ, key="x", value=0)
    missed = Operation(kind=OperationKind.RANGE_READ, value=Range(rows=()), predicate=":true")
    history = build(
        (
            Transaction(number=0, id=number, session=0, session_id=number, operations=(operation,))
            for number, operation in enumerate([seen, missed])
        ),
        initial=Initial(value=0),
    )
    assert len([*explanations.explanations(history)]) == 1
    found = explanations.outcomes(history)
    assert (found[Level.PL_1], found[Level.PL_2]) == (Outcome.HOLDS, Outcome.VIOLATED)
