"""The specification of locks and first updater wins does what `docs/explanation/intervals.md` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope.profiles import Conduct, Lock, Read, Snapshot
from isoscope.reference.mechanisms import Finding, Place, Store, judge
from isoscope.reference.mechanisms.conduct import conduct_of
from isoscope.reference.mechanisms.lock_order import Sequence, of_locks
from isoscope.reference.reads import token

from . import timed
from .timed import (
    aborted,
    append,
    begin,
    commit,
    committed,
    delete,
    history,
    indeterminate,
    insert,
    profile,
    range_read,
    read,
    rollback,
    write,
)

if TYPE_CHECKING:
    from isoscope.history import Operation

STALE, FUTURE, ABORTED, INTERMEDIATE, THIN_AIR, OWN, MISSING_ROW = (
    ("inconsistent-read", case)
    for case in ("stale", "future", "aborted", "intermediate", "thin-air", "own", "missing-row")
)
STATEMENT = profile(Snapshot.STATEMENT)


# Mutual exclusion.


@pytest.mark.parametrize(
    ("one", "other", "is_violated"),
    [
        ("SHARE_LOCK", "SHARE_LOCK", False),
        ("SHARE_LOCK", "EXCLUSIVE_LOCK", True),
        ("EXCLUSIVE_LOCK", "EXCLUSIVE_LOCK", True),
        ("NON_LOCK", "EXCLUSIVE_LOCK", False),
        ("UPDATE_LOCK", "UPDATE_LOCK", True),
        ("SHARE_LOCK", "UPDATE_LOCK", False),
    ],
)
def test_labels_of_the_trace_say_what_is_locked(one: str, other: str, is_violated: bool) -> None:
    told = history(
        committed(read("x", 0, 1, 2, lock_mode=one), commit(7, 8)),
        committed(read("x", 0, 3, 4, lock_mode=other), commit(5, 6)),
    )
    found = {Finding("lock-violation", "row", (Place(1, 0), Place(0, 0)))} if is_violated else set()
    assert judge(told, STATEMENT).findings == found


@pytest.mark.parametrize(
    ("statement", "is_violated"),
    [
        ("select", False),
        ("SELECT ... FOR UPDATE", True),
        ("select_for_update", True),
        ("select lock in share mode", True),
        ("select for share", True),
        ("select_for_share", True),
        ("SELECT v FROM t WHERE k = 1 FOR SHARE", True),
        ("select shares, last_update from t", False),
        ("select price_for_update from t where share = 1", False),
        ("select for no key update", True),
        ("select for key share", False),
    ],
)
def test_the_statement_says_what_a_read_locks(statement: str, is_violated: bool) -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(7, 8)),
        committed(read("x", 0, 3, 4, statement=statement), commit(5, 6)),
    )
    assert bool(judge(told, timed.POSTGRESQL_READ_COMMITTED).findings) == is_violated


@pytest.mark.parametrize("marker", [begin(1, 2), commit(1, 2), rollback(1, 2)])
def test_a_marker_neither_locks_nor_reads(marker: Operation) -> None:
    """Also where every select locks what it asks for."""
    assert conduct_of(marker, timed.INNODB_SERIALIZABLE) == (Lock.NONE, Read.CONSISTENT, False, False)


def test_a_read_that_finds_no_row_locks_nothing() -> None:
    told = history(
        committed(insert("x", 1, 1, 2), commit(7, 8)),
        committed(read("x", None, 3, 4, statement="select for update"), commit(5, 6)),
    )
    assert judge(told, STATEMENT).cases() == set()


def test_an_empty_list_need_not_be_a_row_that_could_be_locked() -> None:
    told = history(
        committed(append("x", 1, 1, 2), commit(7, 8)),
        committed(read("x", [], 3, 4, statement="select for update"), commit(5, 6)),
    )
    assert judge(told, STATEMENT).cases() == set()


def test_cells_of_a_row_share_its_lock() -> None:
    told = history(
        committed(write("t/1/a", 1, 1, 2, table="t", columns=("a",)), commit(7, 8)),
        committed(write("t/1/b", 1, 3, 4, table="t", columns=("b",)), commit(5, 6)),
        committed(write("t/2/b", 2, 3, 4, table="t", columns=("b",)), commit(5, 6)),
    )
    assert judge(told, STATEMENT).findings == {Finding("lock-violation", "row", (Place(1, 0), Place(0, 0)))}


def test_locks_of_a_database_exclude_each_other_whatever_the_rows() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(7, 8)),
        committed(write("y", 1, 3, 4), commit(5, 6)),
    )
    assert judge(told, timed.SQLITE).cases() == {("lock-violation", "row"), ("lock-violation", "commit")}
    assert judge(told, STATEMENT).cases() == set()


@pytest.mark.parametrize("released", [(7, 8), (11, 12)])
def test_a_lock_of_a_predicate_is_named_before_the_row_that_was_inserted(released: tuple[int, int]) -> None:
    """Whichever of the two is released first."""
    told = history(
        committed(range_read(1, 9, {}, 1, 2), commit(*released)),
        committed(insert(5, 50, 3, 4), commit(9, 10)),
    )
    assert judge(told, timed.INNODB_SERIALIZABLE).findings == {
        Finding("lock-violation", "predicate", (Place(0, 0), Place(1, 0)))
    }


@pytest.mark.parametrize(("inserting", "order"), [((7, 20, 21, 22), (0, 1)), ((1, 2, 3, 4), (1, 0))])
def test_what_a_lock_of_a_predicate_and_a_new_row_have_in_common_is_the_row(
    inserting: tuple[int, int, int, int], order: tuple[int, int]
) -> None:
    """Whichever of the two comes first."""
    told = history(
        committed(range_read(1, 9, {}, 5, 6), commit(7, 8)),
        committed(insert(5, 50, *inserting[:2]), commit(*inserting[2:])),
    )
    found = of_locks(Store(told, timed.INNODB_SERIALIZABLE))
    assert found == (Sequence(token(5), *order, 0),)


@pytest.mark.parametrize(("key", "pairs"), [("x", (1, 1)), ("y", (0, 0))])
def test_the_last_statement_of_a_transaction_that_was_rolled_back_may_never_have_got_its_lock(
    key: str, pairs: tuple[int, int]
) -> None:
    """It is not known which statement failed; the one before it had been answered."""
    told = history(
        aborted(write("x", 1, 1, 2), write("y", 1, 3, 4), rollback(9, 10)),
        committed(write(key, 2, 5, 6), commit(7, 8)),
    )
    assert judge(told, STATEMENT).checked["mutual-exclusion"] == pairs


def test_a_transaction_that_asked_to_commit_had_all_its_locks() -> None:
    """Although it is not known how it ended, or when the last one was released."""
    told = history(
        indeterminate(write("x", 1, 3, 4), commit(9, 10)),
        committed(write("x", 2, 5, 6), commit(7, 8)),
    )
    assert judge(told, STATEMENT).checked["mutual-exclusion"] == (1, 1)


def test_a_row_that_a_locking_read_does_not_show_is_not_locked_by_it() -> None:
    """So the read may have looked for it before it waited for the lock of another row."""
    told = history(
        committed(insert(2, 20, 1, 2), commit(3, 8)),
        committed(range_read(1, 9, {1: 10}, 5, 9), commit(10, 11)),
    )
    assert judge(told, timed.SQLITE).cases() == set()


# First updater wins.


@pytest.mark.parametrize(
    ("operation", "is_violated"), [(write("x", 2, 9, 10), True), (insert("x", 2, 9, 10), False)]
)
def test_a_new_row_is_not_compared_with_a_deleted_one(operation: Operation, is_violated: bool) -> None:
    told = history(
        committed(read("y", 0, 1, 2), operation, commit(11, 12)),
        committed(delete("x", 3, 4), commit(5, 6)),
        initial=0,
    )
    found = {("first-updater-violation", "overlap")} if is_violated else set()
    assert judge(told, timed.POSTGRESQL_REPEATABLE_READ).cases() == found


def test_first_updater_wins_only_where_snapshots_are_per_transaction() -> None:
    told = history(
        committed(read("y", 0, 1, 2), write("x", 2, 9, 10), commit(11, 12)),
        committed(write("x", 1, 3, 4), commit(5, 6)),
    )
    statement = profile(Snapshot.STATEMENT, first_updater_wins=True)
    assert judge(told, statement).cases() == set()


def test_a_snapshot_that_is_taken_after_the_write_counts_as_taken_with_it() -> None:
    first_read = profile(
        Snapshot.FIRST_READ, first_updater_wins=True, update=Conduct(Lock.NONE, Read.LOCKING)
    )
    told = history(
        committed(write("x", 2, 1, 2), read("y", 0, 9, 10), commit(11, 12)),
        committed(write("x", 1, 3, 4), commit(5, 6)),
    )
    assert judge(told, first_read).cases() == {("first-updater-violation", "overlap")}
