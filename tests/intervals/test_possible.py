"""Small traces that a correct database can give: no mechanism and no promised level is violated."""

from __future__ import annotations

import pytest

from isoscope import profiles
from isoscope.history import UNKNOWN, History
from isoscope.recorder import Recorder
from tests.reference.timed import (
    aborted,
    begin,
    commit,
    committed,
    delete,
    history,
    indeterminate,
    insert,
    range_read,
    read,
    rollback,
    write,
)

from .accusations import accused

RC, RR, SER = "postgresql/read-committed", "postgresql/repeatable-read", "postgresql/serializable"
FOR_UPDATE = {"statement": "select for update"}

POSSIBLE: dict[str, tuple[str, History]] = {
    "a locking read with the interval of the snapshot is no read of it": (
        "mysql/repeatable-read",
        history(
            committed(
                read("x", 0, 20, 20), read("x", 1, 20, 20, **FOR_UPDATE), read("x", 0, 20, 20), commit(30, 30)
            ),
            committed(write("x", 1, 10, 10), commit(20, 20)),
            initial=0,
        ),
    ),
    "an indeterminate delete may have happened": (
        RR,
        history(
            committed(insert(1, 5, 0, 1), commit(2, 3)),
            indeterminate(delete(1, 10, 11), commit(12, 13)),
            committed(read(1, None, 20, 21), commit(22, 23)),
            committed(read(1, None, 30, 31), commit(32, 33)),
            initial=None,
        ),
    ),
    "an indeterminate insert may have happened, or not": (
        RR,
        history(
            indeterminate(insert(1, 5, 10, 11), commit(12, 13)),
            committed(read(1, None, 20, 21), commit(22, 23)),
            committed(read(1, 5, 30, 31), commit(32, 33)),
            initial=None,
        ),
    ),
    "the initial value is written again later": (
        SER,
        history(
            committed(read("x", 5, 0, 1), commit(2, 3)),
            committed(write("x", 5, 10, 11), commit(12, 13)),
            committed(read("x", 5, 20, 21), commit(22, 23)),
        ),
    ),
    "the initial value is rolled back later": (
        RC,
        history(
            aborted(write("x", 5, 0, 1), rollback(2, 3)),
            committed(read("x", 5, 10, 11), commit(12, 13)),
        ),
    ),
    "an insert over a later delete": (
        RR,
        history(
            committed(read("y", 0, 0, 1), read(1, 0, 2, 3), insert(1, 7, 30, 31), commit(32, 33)),
            committed(delete(1, 10, 11), commit(12, 13)),
            initial=0,
        ),
    ),
    "a row that appears between two reads at a level of locks": (
        "sqlserver/repeatable-read",
        history(
            committed(read(1, None, 0, 1), read(1, 7, 20, 21), commit(22, 23)),
            committed(insert(1, 7, 10, 11), commit(12, 13)),
            initial=None,
        ),
    ),
    "a row that was deleted and inserted again while a statement waited for it": (
        RC,
        history(
            committed(write(1, 3, 0, 1), commit(2, 3)),
            committed(delete(1, 10, 11), insert(1, 7, 12, 13), commit(30, 31)),
            committed(read(1, None, 20, 40, **FOR_UPDATE), commit(42, 43)),
            initial=0,
        ),
    ),
    "two deletes of a row that is not there": (
        RR,
        history(
            committed(delete(1, 0, 10), commit(20, 21)),
            committed(delete(1, 0, 10), commit(20, 21)),
            initial=None,
        ),
    ),
    "a delete that finds no row, and an insert": (
        RR,
        history(
            committed(read("y", None, 0, 1), delete(1, 20, 21), commit(30, 31)),
            committed(insert(1, 7, 10, 11), commit(12, 13)),
            committed(read(1, 7, 40, 41), commit(42, 43)),
            initial=None,
        ),
    ),
    "causal reverse where clocks differ": (
        "cockroachdb/serializable",
        history(
            committed(write("x", 1, 10, 11), commit(12, 13)),
            committed(write("y", 1, 20, 21), commit(22, 23)),
            committed(read("x", 0, 5, 6), read("y", 1, 30, 31), commit(32, 33)),
            initial=0,
        ),
    ),
    "rows of one statement where clocks differ": (
        "yugabytedb/read-committed",
        history(
            committed(write(1, 1, 10, 11), commit(12, 13)),
            committed(write(2, 1, 20, 21), commit(22, 23)),
            committed(range_read(1, 2, {1: 0, 2: 1}, 5, 30), commit(32, 33)),
            initial=0,
        ),
    ),
    "rows of one statement that locks each when it comes to it": (
        "sqlserver/read-committed",
        history(
            committed(write(1, 1, 10, 11), commit(12, 13)),
            committed(write(2, 1, 20, 21), commit(22, 23)),
            committed(range_read(1, 2, {1: 0, 2: 1}, 5, 30), commit(32, 33)),
            initial=0,
        ),
    ),
    "a snapshot that is taken between begin and the first answer": (
        "oracle/serializable",
        history(
            committed(begin(0, 1), read("x", 0, 20, 21), commit(30, 31)),
            committed(begin(0, 1), read("x", 1, 20, 21), commit(30, 31)),
            committed(write("x", 1, 5, 6), commit(10, 11)),
            initial=0,
        ),
    ),
    "a locked row that was changed before the snapshot": (
        RR,
        history(
            committed(write("x", 1, 0, 1), commit(2, 3)),
            committed(read("x", 1, 10, 11, **FOR_UPDATE), commit(20, 21)),
            initial=0,
        ),
    ),
    "a row that is locked after the snapshot and changed after the commit": (
        RR,
        history(
            committed(read("y", 0, 0, 1), read("x", 0, 10, 11, **FOR_UPDATE), commit(20, 30)),
            committed(write("x", 1, 15, 35), commit(40, 41)),
            initial=0,
        ),
    ),
}


@pytest.mark.parametrize("title", POSSIBLE)
def test_a_correct_database_is_not_accused(title: str) -> None:
    name, told = POSSIBLE[title]
    assert accused(told, profiles.load(name)) == set()


def test_a_statement_that_touches_no_row_takes_the_snapshot() -> None:
    others = [
        committed(insert("x", 5, 0, 1), commit(2, 3)),
        committed(write("x", 6, 15, 16), commit(20, 21)),
    ]
    first = read(9, None, 10, 11, statement="delete")
    old = history(*others, committed(first, read("x", 5, 30, 31), commit(32, 33)), initial=None)
    new = history(*others, committed(first, read("x", 6, 30, 31), commit(32, 33)), initial=None)
    assert accused(old, profiles.load(RR)) == set()
    assert "inconsistent-read" in accused(new, profiles.load(RR))


def test_row_counts_are_recorded() -> None:
    recorder = Recorder(initial=None)
    with recorder.transaction() as transaction:
        transaction.delete("x", rows=0)
        transaction.write("x", 1, rows=0)
        transaction.delete("x", rows=1)
        transaction.insert("y", 1, rows=0)
    [recorded] = recorder.history()
    shown = [(one.kind.value, one.value, one.statement) for one in recorded.operations]
    assert shown == [
        ("read", None, "delete"),
        ("read", None, "update"),
        ("delete", None, None),
        ("read", UNKNOWN, "insert"),
    ]
