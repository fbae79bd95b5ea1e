"""When things can have happened: "What is assumed of time" of `docs/explanation/intervals.md`."""

from __future__ import annotations

import pytest

from isoscope.history import Interval
from isoscope.profiles import Snapshot
from isoscope.reference.mechanisms import Finding, Place, judge

from .timed import aborted, commit, committed, history, indeterminate, profile, read, rollback, write

STALE, ABORTED = ("inconsistent-read", "stale"), ("inconsistent-read", "aborted")
STATEMENT = profile(Snapshot.STATEMENT)


def test_a_version_appears_inside_the_commit_and_not_inside_the_write() -> None:
    waits = history(
        committed(write("x", 1, 1, 2), commit(9, 10)),
        committed(read("x", 0, 5, 6), commit(7, 8)),
    )
    assert judge(waits, STATEMENT).cases() == set()


@pytest.mark.parametrize(("ends", "found"), [(4, {STALE}), (5, set())])
def test_where_ends_touch_both_orders_are_possible(ends: int, found: set[tuple[str, str]]) -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, ends)),
        committed(read("x", 0, 5, 6), commit(7, 8)),
    )
    assert judge(told, STATEMENT).cases() == found


@pytest.mark.parametrize(("error", "found"), [(0, {STALE}), (1, {STALE}), (2, set())])
def test_the_error_of_clocks_widens_every_interval_at_both_ends(
    error: int, found: set[tuple[str, str]]
) -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 10)),
        committed(read("x", 0, 13, 20), commit(30, 40)),
    )
    assert judge(told, STATEMENT, clock_error=error).cases() == found


def test_a_transaction_without_a_commit_commits_inside_its_last_operation() -> None:
    told = history(
        committed(write("x", 1, 1, 5)), committed(read("x", 0, 3, 4)), committed(read("x", 0, 6, 7))
    )
    assert judge(told, STATEMENT).findings == {
        Finding("inconsistent-read", "stale", (Place(2, 0), Place(0, 0)))
    }


def test_what_is_left_of_the_transactions_interval_may_be_its_commit() -> None:
    told = history(
        committed(write("x", 1, 1, 2), interval=Interval(0, 9)),
        committed(read("x", 0, 3, 4), interval=Interval(3, 4)),
    )
    assert judge(told, STATEMENT).cases() == set()


def test_an_operation_without_an_interval_happened_somewhere_inside_its_transaction() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 4)),
        committed(read("x", 0), interval=Interval(3, 9)),
        committed(read("x", 0), interval=Interval(5, 9)),
        committed(read("x", 0)),
    )
    assert {finding.places[0].transaction for finding in judge(told, STATEMENT).findings} == {2}


def test_an_interval_that_ends_before_it_begins_says_nothing() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 4)), committed(read("x", 0, 9, 8), commit(10, 11))
    )
    assert judge(told, STATEMENT).cases() == set()


def test_reads_of_an_aborted_transaction_are_not_judged() -> None:
    told = history(committed(write("x", 1, 1, 2), commit(3, 4)), aborted(read("x", 7, 5, 6), rollback(7, 8)))
    assert judge(told, STATEMENT).cases() == set()


def test_the_last_statement_of_an_aborted_transaction_may_never_have_got_its_lock() -> None:
    told = history(
        aborted(write("x", 1, 1, 2), write("y", 2, 3, 4), rollback(20, 21)),
        committed(write("y", 3, 5, 6), commit(7, 8)),
    )
    assert judge(told, STATEMENT).cases() == set()


@pytest.mark.parametrize(("end", "found"), [(9, {("lock-violation", "row")}), (5, set())])
def test_what_an_aborted_transaction_locked_before_was_held_to_the_end_of_its_last_but_one_statement(
    end: int, found: set[tuple[str, str]]
) -> None:
    told = history(
        aborted(write("x", 1, 1, 2), write("y", 2, 3, end), write("z", 3, 10, 12), rollback(20, 21)),
        committed(write("x", 4, 5, 6), commit(7, 8)),
    )
    assert judge(told, STATEMENT).cases() == found


def test_the_error_of_clocks_moves_the_end_of_the_last_but_one_statement_forwards() -> None:
    told = history(
        aborted(write("x", 1, 1, 2), write("y", 2, 3, 9), write("z", 3, 10, 12), rollback(20, 21)),
        committed(write("x", 4, 5, 6), commit(7, 8)),
    )
    assert judge(told, STATEMENT, clock_error=1).cases() == {("lock-violation", "row")}
    assert judge(told, STATEMENT, clock_error=2).cases() == set()


def test_a_read_shows_that_an_indeterminate_transaction_committed() -> None:
    """It hides the version before from then on, and its own reads count."""
    writer = indeterminate(read("y", 5, 1, 1), write("x", 1, 1, 2), commit(3, 4))
    shown = committed(read("x", 1, 9, 10), commit(11, 12))
    late = committed(read("x", 0, 13, 14), commit(15, 16))
    assert judge(history(writer, late, initial=0), STATEMENT).cases() == set()
    found = judge(history(writer, shown, late, initial=0), STATEMENT).cases()
    assert found == {("inconsistent-read", "stale"), ("inconsistent-read", "thin-air")}


def test_versions_of_an_indeterminate_transaction_may_be_read_at_any_time_and_hide_nothing() -> None:
    told = history(
        indeterminate(write("x", 1, 1, 2), commit(3, 4)),
        committed(read("x", 0, 5, 6), commit(7, 8)),
        committed(read("x", 1, 9, 10), commit(11, 12)),
    )
    assert judge(told, STATEMENT).cases() == set()


def test_an_indeterminate_transaction_may_have_asked_to_commit_when_nobody_wrote_it_down() -> None:
    told = history(
        indeterminate(write("x", 1, 1, 2)),
        committed(read("x", 1, 9, 10), commit(11, 12)),
        initial=0,
    )
    assert judge(told, STATEMENT).cases() == set()
