"""The specification of the method of intervals does what `docs/explanation/intervals.md` says."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope.history import UNKNOWN, Operation
from isoscope.profiles import Conduct, Lock, Read, Snapshot
from isoscope.reference.mechanisms import Dependency, Finding, Place, judge, judge_pairs
from isoscope.reference.mechanisms.orders import Source
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
    insert,
    profile,
    range_read,
    read,
    rollback,
    write,
)

STALE, FUTURE, ABORTED, INTERMEDIATE, THIN_AIR, OWN, MISSING_ROW = (
    ("inconsistent-read", n) for n in range(7)
)
STATEMENT = profile(Snapshot.STATEMENT)


# Consistent read.

WRITER = committed(write("x", 1, 11, 12), commit(13, 14))


@pytest.mark.parametrize(
    ("snapshot", "operations", "found"),
    [
        (Snapshot.STATEMENT, (begin(1, 2), read("y", 0, 3, 4), read("x", 1, 21, 22)), set()),
        (Snapshot.FIRST_READ, (begin(1, 2), read("y", 0, 3, 4), read("x", 1, 21, 22)), {FUTURE}),
        (Snapshot.FIRST_READ, (begin(1, 2), write("y", 5, 3, 4), read("x", 1, 21, 22)), set()),
        (Snapshot.FIRST_STATEMENT, (begin(1, 2), write("y", 5, 3, 4), read("x", 1, 21, 22)), {FUTURE}),
        (Snapshot.FIRST_STATEMENT, (begin(1, 2), read("x", 1, 21, 22)), set()),
        (Snapshot.BEGIN, (begin(1, 2), read("x", 1, 21, 22)), {FUTURE}),
        (Snapshot.TRANSACTION, (begin(1, 2), read("x", 1, 21, 22)), set()),
        (Snapshot.TRANSACTION, (begin(15, 16), read("x", 0, 21, 22)), {STALE}),
    ],
)
def test_the_profile_says_which_statement_takes_the_snapshot(
    snapshot: Snapshot, operations: tuple[Operation, ...], found: set[tuple[str, int]]
) -> None:
    told = history(WRITER, committed(*operations, commit(23, 24)), initial=0)
    assert judge(told, profile(snapshot)).cases() == found


def test_a_locking_read_takes_no_snapshot_and_shows_none() -> None:
    told = history(
        WRITER,
        committed(
            read("y", 0, 1, 2, statement="select for update"),
            read("x", 1, 15, 16),
            read("x", 1, 17, 18, read_mode="LOCKING_READ"),
            commit(19, 20),
        ),
    )
    assert judge(told, profile(Snapshot.FIRST_READ)).cases() == set()


@pytest.mark.parametrize(
    ("value", "found"), [(1, {INTERMEDIATE}), (3, {ABORTED}), (9, {THIN_AIR}), (2, set()), (0, {STALE})]
)
def test_a_value_that_is_no_candidate_is_named_by_its_source(value: int, found: set[tuple[str, int]]) -> None:
    told = history(
        committed(write("x", 1, 1, 2), write("x", 2, 3, 4), commit(5, 6)),
        aborted(write("x", 3, 7, 8), rollback(9, 10)),
        committed(read("x", value, 11, 12), commit(13, 14)),
        initial=0,
    )
    assert judge(told, STATEMENT).cases() == found


def test_of_two_values_that_nobody_wrote_one_is_the_first_and_the_other_comes_from_nowhere() -> None:
    told = history(
        committed(read("x", 5, 1, 2)), committed(read("x", 6, 3, 4)), committed(read("x", 5, 5, 6))
    )
    assert judge(told, STATEMENT).findings == {Finding(*THIN_AIR, (Place(1, 0),))}


def test_a_value_that_several_wrote_is_right_if_one_of_them_can_be_meant() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 4)),
        committed(write("x", 2, 5, 6), commit(7, 8)),
        committed(write("x", 1, 9, 10), commit(11, 20)),
        committed(read("x", 1, 13, 14), commit(15, 16)),
    )
    assert judge(told, STATEMENT).cases() == set()


def test_a_row_that_is_not_there_was_deleted_or_never_written() -> None:
    told = history(
        committed(read(7, None, 1, 2), commit(3, 4)),
        committed(insert(7, 70, 5, 6), commit(7, 8)),
        committed(delete(7, 9, 10), commit(11, 12)),
        committed(read(7, None, 13, 14), commit(15, 16)),
        committed(range_read(1, 9, {}, 17, 18), commit(19, 20)),
        committed(range_read(1, 9, {7: 70}, 21, 22), commit(23, 24)),
    )
    assert judge(told, STATEMENT).findings == {
        Finding(*STALE, (Place(5, 0), Place(1, 0), Place(2, 0))),
    }


def test_the_delete_of_a_row_deletes_its_cells() -> None:
    cell: dict[str, Any] = {"table": "t", "columns": ("v",)}
    told = history(
        committed(insert("t/1/v", 5, 1, 2, **cell), commit(3, 4)),
        committed(delete("t/1/", 5, 6, table="t"), commit(7, 8)),
        committed(read("t/1/v", None, 9, 10, **cell), commit(11, 12)),
        committed(read("t/1/v", 5, 13, 14, **cell), commit(15, 16)),
    )
    assert {finding.places[0].transaction for finding in judge(told, STATEMENT).findings} == {3}


def test_a_range_read_with_a_predicate_need_not_show_every_row() -> None:
    told = history(
        committed(insert(7, 70, 1, 2), commit(3, 4)),
        committed(range_read(None, None, {}, 5, 6, predicate="v > 80"), commit(7, 8)),
    )
    assert judge(told, STATEMENT).cases() == set()


def test_a_row_that_was_changed_by_its_reader_may_be_newer_than_the_snapshot() -> None:
    def cell(column: str) -> dict[str, Any]:
        return {"table": "t", "columns": (column,)}

    told = history(
        committed(
            read("z", 0, 1, 2),
            write("t/1/a", 1, 11, 12, **cell("a")),
            read("t/1/b", 2, 13, 14, **cell("b")),
            commit(15, 16),
        ),
        committed(write("t/1/b", 2, 5, 6, **cell("b")), commit(7, 8)),
        initial=0,
    )
    assert judge(told, timed.INNODB_REPEATABLE_READ).cases() == set()


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ([1, 2], set()),
        ([1], {STALE}),
        ([], {STALE}),
        ([1, 2, 3], {ABORTED}),
        ([9, 1, 2], {THIN_AIR}),
        ([1, 2, 4], {FUTURE}),
        ([1, 2, 5], {INTERMEDIATE}),
    ],
)
def test_a_list_shows_the_version_of_its_last_element(shown: list[int], found: set[tuple[str, int]]) -> None:
    told = history(
        committed(append("x", 1, 1, 2), commit(3, 4)),
        committed(append("x", 2, 5, 6), commit(7, 8)),
        aborted(append("x", 3, 9, 10), rollback(11, 12)),
        committed(read("x", shown, 13, 14), commit(15, 16)),
        committed(append("x", 4, 17, 18), commit(19, 20)),
        committed(append("x", 5, 21, 22), append("x", 6, 23, 24), commit(25, 26)),
    )
    assert judge(told, STATEMENT).cases() == found


@pytest.mark.parametrize(("shown", "found"), [([1, 2], set()), ([1], {OWN}), ([2, 1], {OWN}), ([2], {STALE})])
def test_own_appends_stand_at_the_end_of_a_list(shown: list[int], found: set[tuple[str, int]]) -> None:
    told = history(
        committed(append("x", 1, 1, 2), commit(3, 4)),
        committed(append("x", 2, 5, 6), read("x", shown, 7, 8), commit(9, 10)),
    )
    assert judge(told, STATEMENT).cases() == found


@pytest.mark.parametrize(
    ("times", "found"), [((1, 2), {FUTURE}), ((5, 6), set()), ((13, 14), set()), ((23, 24), {STALE})]
)
def test_a_read_of_uncommitted_data_shows_any_write_that_is_not_overwritten(
    times: tuple[int, int], found: set[tuple[str, int]]
) -> None:
    told = history(
        committed(write("x", 1, 3, 4), commit(9, 10)),
        committed(write("x", 2, 15, 16), commit(25, 26)),
        committed(read("x", 1, *times), commit(27, 28)),
        initial=0,
    )
    assert judge(told, timed.INNODB_READ_UNCOMMITTED).cases() == found


def test_the_result_of_a_read_that_nobody_learned_is_not_judged() -> None:
    assert (
        judge(history(committed(read("x", UNKNOWN, 1, 2))), STATEMENT).checked["consistent-read"].checked == 0
    )


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
    found = {Finding("lock-violation", 0, (Place(1, 0), Place(0, 0)))} if is_violated else set()
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
    assert judge(told, STATEMENT).findings == {Finding("lock-violation", 0, (Place(1, 0), Place(0, 0)))}


def test_locks_of_a_database_exclude_each_other_whatever_the_rows() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(7, 8)),
        committed(write("y", 1, 3, 4), commit(5, 6)),
    )
    assert judge(told, timed.SQLITE).cases() == {("lock-violation", 0), ("lock-violation", 2)}
    assert judge(told, STATEMENT).cases() == set()


# First updater wins.


@pytest.mark.parametrize(
    ("operation", "is_violated"), [(write("x", 2, 9, 10), True), (insert("x", 2, 9, 10), False)]
)
def test_a_new_row_is_not_compared_with_a_deleted_one(operation: Operation, is_violated: bool) -> None:
    told = history(
        committed(read("y", 0, 1, 2), operation, commit(11, 12)),
        committed(delete("x", 3, 4), commit(5, 6)),
    )
    found = {("first-updater-violation", 0)} if is_violated else set()
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
    assert judge(told, first_read).cases() == {("first-updater-violation", 0)}


# The certifiers.


@pytest.mark.parametrize(("snapshot", "is_violated"), [((11, 12), True), ((7, 8), False), ((10, 12), False)])
def test_who_only_reads_is_refused_if_the_third_had_committed_before_its_snapshot(
    snapshot: tuple[int, int], is_violated: bool
) -> None:
    told = history(
        committed(read("y", 0, *snapshot), commit(19, 20)),
        committed(read("x", 0, 1, 2), write("y", 2, 15, 16), commit(17, 18)),
        committed(write("x", 3, 5, 6), commit(9, 10)),
    )
    found = {("certifier-violation", 0)} if is_violated else set()
    assert judge(told, timed.POSTGRESQL_SERIALIZABLE).cases() == found


def test_two_consecutive_rw_are_allowed_if_the_third_did_not_commit_first() -> None:
    told = history(
        committed(read("y", 0, 1, 2), write("z", 1, 3, 4), commit(5, 6)),
        committed(read("x", 0, 1, 2), write("y", 2, 7, 8), commit(9, 10)),
        committed(write("x", 3, 3, 4), commit(11, 12)),
    )
    assert judge(told, timed.POSTGRESQL_SERIALIZABLE).cases() == set()


def test_a_row_that_is_not_there_yet_does_not_depend_on_who_deletes_it_later() -> None:
    told = history(
        committed(read(7, None, 1, 2), commit(3, 4)),
        committed(insert(7, 70, 5, 6), commit(7, 8)),
        committed(delete(7, 9, 10), commit(11, 12)),
    )
    assert judge(told, timed.COCKROACHDB).cases() == set()


# What is deduced.


def test_a_read_shows_which_of_two_overlapping_commits_came_first() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(5, 8)),
        committed(write("x", 2, 3, 4), commit(6, 9)),
        committed(read("x", 1, 11, 12), commit(13, 14)),
        committed(read("x", 2, 15, 16), commit(17, 18)),
    )
    free = profile(Snapshot.STATEMENT, update=Conduct())
    found = judge(told, free)
    assert {(o.before, o.after) for o in found.orders if o.source is Source.READS} == {(1, 0), (0, 1)}
    assert found.findings == {
        Finding("contradictory-dependencies", 15, (Place(0, 0), Place(1, 0), Place(3, 0), Place(2, 0))),
    }


def test_an_order_by_locks_makes_a_version_garbage() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 8)),
        committed(write("x", 2, 3, 6), commit(7, 9)),
        committed(read("x", 1, 11, 12), commit(13, 14)),
    )
    assert judge(told, STATEMENT).cases() == {STALE}
    assert judge_pairs(told, STATEMENT).cases() == set()


def test_two_lists_that_disagree_are_a_contradiction() -> None:
    told = history(
        committed(append("x", 1, 1, 2), commit(3, 8)),
        committed(append("x", 2, 1, 2), commit(3, 8)),
        committed(read("x", [1, 2], 11, 12), commit(13, 14)),
        committed(read("x", [2, 1], 15, 16), commit(17, 18)),
    )
    found = judge(told, profile(Snapshot.STATEMENT, update=Conduct())).cases()
    assert found == {("contradictory-dependencies", 15)}


def test_certain_dependencies_are_named() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(3, 4)),
        committed(read("x", 1, 5, 6), commit(7, 8)),
        committed(write("x", 2, 9, 10), commit(11, 12)),
    )
    key = token("x")
    assert judge(told, STATEMENT).dependencies == {
        Dependency("wr", 0, 1, key),
        Dependency("ww", 0, 2, key),
        Dependency("rw", 1, 2, key),
    }


def test_what_overlaps_is_counted_and_what_stays_open() -> None:
    told = history(
        committed(write("x", 1, 1, 2), commit(5, 8)),
        committed(write("x", 2, 3, 4), commit(6, 9)),
        committed(read("x", 1, 7, 10), commit(11, 12)),
        initial=0,
    )
    found = judge(told, profile(Snapshot.STATEMENT, update=Conduct()))
    assert found.tallies == {"wr": (1, 1, 0), "ww": (1, 1, 1), "rw": (1, 1, 1)}
    assert found.checked["consistent-read"] == (1, 1)
