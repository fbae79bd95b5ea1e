"""The specification of consistent read: reads of one snapshot, of uncommitted data and of first states."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isoscope.history import Range
from isoscope.profiles import Conduct, Snapshot
from isoscope.reference.mechanisms import Finding, Place, judge
from isoscope.reference.mechanisms.versions import NOTHING, shown_value

from . import timed
from .timed import (
    append,
    commit,
    committed,
    delete,
    history,
    indeterminate,
    insert,
    profile,
    range_read,
    read,
    write,
)

READ = "inconsistent-read"
STATEMENT = profile(Snapshot.STATEMENT)
FOR_UPDATE = "select for update"


# One read.


def test_a_read_that_met_a_tombstone_shows_nothing() -> None:
    assert shown_value(read(7, 70, tombstone=True)) == NOTHING
    assert shown_value(read(7, 70)) != NOTHING


def test_a_missing_row_is_named_with_the_write_that_was_due() -> None:
    told = history(
        committed(insert(7, 70, 1, 2), commit(3, 4)),
        committed(range_read(1, 9, {}, 5, 6), commit(7, 8)),
    )
    assert judge(told, STATEMENT).findings == {Finding(READ, "missing-row", (Place(1, 0), Place(0, 0)))}


@pytest.mark.parametrize(("tombstones", "found"), [(((7, None),), {(READ, "missing-row")}), ((), set())])
def test_a_search_says_nothing_of_rows_that_it_does_not_show_but_those_with_a_tombstone(
    tombstones: tuple[tuple[int, None], ...], found: set[tuple[str, str]]
) -> None:
    asked = replace(
        range_read(1, 9, {}, 5, 6),
        value=Range(low=1, high=9, tombstones=tombstones),
        predicate="[:= 70]",
    )
    told = history(committed(insert(7, 70, 1, 2), commit(3, 4)), committed(asked, commit(7, 8)))
    assert judge(told, STATEMENT).cases() == found


@pytest.mark.parametrize(
    ("snapshot", "is_wrong"), [(Snapshot.STATEMENT, False), (Snapshot.FIRST_STATEMENT, True)]
)
def test_a_row_that_was_deleted_while_a_statement_waited_is_lost_to_it_where_it_has_its_own_snapshot(
    snapshot: Snapshot, is_wrong: bool
) -> None:
    """Also if the row was inserted again."""
    told = history(
        committed(delete("x", 1, 2), insert("x", 1, 3, 4), commit(6, 7)),
        committed(read("x", None, 5, 8, statement=FOR_UPDATE), commit(9, 10)),
        initial=0,
    )
    assert bool(judge(told, profile(snapshot)).findings) == is_wrong


def test_what_an_own_delete_of_a_row_saw_is_nothing_that_a_later_read_of_it_may_show() -> None:
    """Only of other cells of the row: here the read is late by its own time."""
    told = history(
        committed(delete("x", 8, 9), read("x", 1, 25, 26), commit(27, 28)),
        committed(write("x", 1, 1, 2), commit(3, 4)),
        committed(delete("x", 5, 6), commit(7, 20)),
        committed(write("x", 2, 21, 22), commit(23, 24)),
        initial=None,
    )
    assert judge(told, STATEMENT).cases() == {(READ, "stale")}


# The first state.


@pytest.mark.parametrize(("one", "other", "is_wrong"), [("x", "x", True), ("x", "y", False)])
def test_two_reads_of_the_first_state_of_a_key_must_show_the_same(
    one: str, other: str, is_wrong: bool
) -> None:
    """Without a value that no transaction wrote, it may be one that was written later, but only one."""
    told = history(
        committed(read(one, 1, 1, 2), commit(3, 4)),
        committed(read(other, 2, 1, 2), commit(3, 4)),
        committed(write("x", 1, 11, 12), write("y", 1, 11, 12), commit(13, 14)),
        committed(write("x", 2, 15, 16), write("y", 2, 15, 16), commit(17, 18)),
    )
    found = {Finding(READ, "thin-air", (Place(0, 0), Place(1, 0)))} if is_wrong else set()
    assert judge(told, STATEMENT).findings == found


def test_a_row_that_was_there_at_first_is_missing_where_a_range_read_leaves_it_out() -> None:
    told = history(
        committed(range_read(1, 9, {}, 1, 2), commit(3, 4)),
        committed(read(5, 1, 1, 2), commit(3, 4)),
        committed(write(5, 1, 11, 12), commit(13, 14)),
    )
    assert judge(told, STATEMENT).findings == {Finding(READ, "missing-row", (Place(0, 0), Place(1, 0)))}


# Uncommitted data.


def test_a_read_of_uncommitted_data_is_undecided_if_another_write_may_have_been_there() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 4)),
        committed(write("x", 2, 5, 8), commit(9, 10)),
        committed(read("x", 1, 6, 7), commit(11, 12)),
        initial=0,
    )
    found = judge(told, timed.INNODB_READ_UNCOMMITTED)
    assert (found.cases(), found.checked["consistent-read"]) == (set(), (1, 1))


def test_an_element_is_missing_from_uncommitted_data_only_if_it_was_committed_before_the_read() -> None:
    def told(*committing: int) -> set[tuple[str, str]]:
        lists = history(
            committed(append("x", 1, 1, 2), commit(3, 4)),
            committed(append("x", 2, 5, 6), commit(*committing)),
            committed(read("x", [1], 11, 12), commit(13, 14)),
        )
        return judge(lists, timed.INNODB_READ_UNCOMMITTED).cases()

    assert told(7, 8) == {(READ, "stale")}
    assert told(15, 16) == set()


def test_the_first_state_is_named_with_the_write_that_replaced_it_in_uncommitted_data() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 4)),
        committed(read("x", 0, 5, 6), commit(7, 8)),
        initial=0,
    )
    found = judge(told, timed.INNODB_READ_UNCOMMITTED).findings
    assert found == {Finding(READ, "stale", (Place(1, 0), Place(0, 0)))}


# Torn reads.


def test_a_snapshot_is_not_torn_by_a_transaction_that_may_not_have_committed() -> None:
    """The second one may be no version at all: then nothing says that the first came before the third."""
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 100)),
        indeterminate(write("x", 5, 4, 10), write("y", 6, 11, 12), commit(13, 14)),
        committed(write("y", 2, 15, 16), commit(17, 18)),
        committed(read("x", 0, 19, 20), read("y", 2, 21, 22), commit(23, 24)),
        initial=0,
    )
    assert judge(told, profile(Snapshot.FIRST_READ)).cases() == set()


def test_a_delete_that_may_have_found_no_row_hides_nothing_from_a_snapshot() -> None:
    """It looked while the row was being inserted, and committed after that."""
    told = history(
        committed(insert("y", 5, 3, 4), commit(5, 10)),
        committed(delete("y", 8, 9), write("x", 1, 11, 12), commit(13, 14)),
        committed(read("x", 1, 30, 31), read("y", 5, 32, 33), commit(34, 35)),
        initial=None,
    )
    assert judge(told, profile(Snapshot.FIRST_READ)).cases() == set()


def test_where_clocks_differ_a_snapshot_still_shows_what_was_committed_before_it() -> None:
    """A read shows that 2 replaced 1 in z, so that 1, and x with it, was there before the snapshot."""
    told = history(
        committed(write("x", 1, 1, 2), write("z", 1, 1, 2), commit(3, 40)),
        committed(write("z", 2, 1, 2), commit(11, 12)),
        committed(write("z", 3, 1, 2), commit(5, 60)),
        committed(write("z", 3, 1, 2), commit(5, 60)),
        committed(read("x", 0, 20, 21), read("z", 3, 22, 23), commit(24, 25)),
        committed(read("z", 2, 50, 51), commit(52, 53)),
        initial=0,
    )
    skewed = replace(profile(Snapshot.FIRST_READ, update=Conduct()), clock_skew=True)
    assert (READ, "torn") in judge(told, skewed).cases()
