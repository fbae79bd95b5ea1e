"""The specification of consistent read does what `docs/explanation/intervals.md` says."""

from __future__ import annotations

from typing import Any

import pytest

from isoscope.history import UNKNOWN, Operation
from isoscope.profiles import Snapshot
from isoscope.reference.mechanisms import Finding, Place, judge

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
    ("inconsistent-read", case)
    for case in ("stale", "future", "aborted", "intermediate", "thin-air", "own", "missing-row")
)
STATEMENT = profile(Snapshot.STATEMENT)


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
    snapshot: Snapshot, operations: tuple[Operation, ...], found: set[tuple[str, str]]
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
def test_a_value_that_is_no_candidate_is_named_by_its_source(value: int, found: set[tuple[str, str]]) -> None:
    told = history(
        committed(write("x", 1, 1, 2), write("x", 2, 3, 4), commit(5, 6)),
        aborted(write("x", 3, 7, 8), rollback(9, 10)),
        committed(read("x", value, 11, 12), commit(13, 14)),
        initial=0,
    )
    assert judge(told, STATEMENT).cases() == found


def test_of_two_values_without_a_write_one_is_the_initial_value_and_the_other_is_from_thin_air() -> None:
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
def test_a_list_shows_the_version_of_its_last_element(shown: list[int], found: set[tuple[str, str]]) -> None:
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
def test_own_appends_stand_at_the_end_of_a_list(shown: list[int], found: set[tuple[str, str]]) -> None:
    told = history(
        committed(append("x", 1, 1, 2), commit(3, 4)),
        committed(append("x", 2, 5, 6), read("x", shown, 7, 8), commit(9, 10)),
    )
    assert judge(told, STATEMENT).cases() == found


@pytest.mark.parametrize(
    ("times", "found"), [((1, 2), {FUTURE}), ((5, 6), set()), ((13, 14), set()), ((23, 24), {STALE})]
)
def test_a_read_of_uncommitted_data_shows_any_write_that_is_not_overwritten(
    times: tuple[int, int], found: set[tuple[str, str]]
) -> None:
    told = history(
        committed(write("x", 1, 3, 4), commit(9, 10)),
        committed(write("x", 2, 15, 16), commit(25, 26)),
        committed(read("x", 1, *times), commit(27, 28)),
        initial=0,
    )
    assert judge(told, timed.INNODB_READ_UNCOMMITTED).cases() == found


def test_a_read_with_an_unknown_result_is_not_judged() -> None:
    assert (
        judge(history(committed(read("x", UNKNOWN, 1, 2))), STATEMENT).checked["consistent-read"].checked == 0
    )
