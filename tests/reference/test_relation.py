"""Relations between transactions: which pairs are in them, and which are not."""

from __future__ import annotations

from dataclasses import replace

from isoscope.history import Interval, Status
from isoscope.recorder import build
from isoscope.reference.reads import counted
from isoscope.reference.real_time import life, real_time
from isoscope.reference.relation import session_order
from tests.small_transactions import read, transaction, write

from .told import told


def test_the_order_of_a_session_skips_what_does_not_count() -> None:
    history = told("1: w(x,1)", "1: w(x,2)", "1: w(x,3)")
    assert session_order(history, frozenset({0, 2})) == {(0, 2)}


def test_a_transaction_lasts_from_its_first_invocation_to_its_last_completion() -> None:
    """Operations may end in another order than that in which they are recorded."""
    times = (Interval(5, 9), Interval(1, 2), Interval(None, 3))
    history = build([transaction("T0", *(replace(read("x", 0), interval=time) for time in times))])
    assert life(history, history.transaction(0)) == Interval(1, 9)


def test_a_transaction_without_places_has_no_real_time_order() -> None:
    places = (Interval(0, 1), None, Interval(2, 3))
    transactions = [
        transaction(f"T{number}", read("x", 0), positions=place) for number, place in enumerate(places)
    ]
    assert real_time(build(transactions), frozenset({0, 1, 2})) == {(0, 2)}


def test_a_wrong_read_of_an_own_key_does_not_show_that_another_transaction_committed() -> None:
    """What a transaction wrote itself says nothing about others."""
    doubtful = transaction("T0", write("x", 1), status=Status.INDETERMINATE)
    wrong = transaction("T1", write("x", 2), read("x", 1))
    right = transaction("T2", read("x", 1))
    assert counted(build([doubtful, wrong])) == {1}
    assert counted(build([doubtful, wrong, right])) == {0, 1, 2}
