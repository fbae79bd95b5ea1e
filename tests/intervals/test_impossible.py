"""Small traces that no correct database can give, whatever the instants are: a mechanism is convicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isoscope import profiles
from tests.reference.timed import (
    begin,
    commit,
    committed,
    delete,
    history,
    insert,
    range_read,
    read,
    write,
)

from .accusations import accused

if TYPE_CHECKING:
    from isoscope.history import History

RC, RR, SER = "postgresql/read-committed", "postgresql/repeatable-read", "postgresql/serializable"
FOR_UPDATE, FOR_SHARE = {"statement": "select for update"}, {"statement": "select for share"}
READ, UPDATER = "inconsistent-read", "first-updater-violation"

IMPOSSIBLE: dict[str, tuple[str, str, History]] = {
    "a locking read that waited for a writer and shows the version before": (
        RC,
        READ,
        history(
            committed(write("x", 1, 0, 1), commit(10, 30)),
            # The writer had its lock before this one ended: so it ended before this one got its own.
            committed(read("x", 0, 20, 25, **FOR_UPDATE), commit(40, 41)),
            initial=0,
        ),
    ),
    "a later statement that does not show what the lock waited for": (
        RC,
        READ,
        history(
            committed(write("x", 1, 0, 1), write("y", 1, 2, 3), commit(10, 50)),
            committed(read("x", 1, 20, 25, **FOR_UPDATE), read("y", 0, 30, 31), commit(60, 61)),
            initial=0,
        ),
    ),
    "a locked row that was changed since the snapshot": (
        RR,
        UPDATER,
        history(
            committed(read("y", 0, 0, 1), read("x", 0, 30, 31, **FOR_UPDATE), commit(40, 41)),
            committed(write("x", 1, 10, 11), commit(20, 21)),
            initial=0,
        ),
    ),
    "a shared row that was changed since the snapshot, by the order of locks": (
        RR,
        UPDATER,
        history(
            committed(read("y", 0, 0, 1), read("x", 0, 18, 31, **FOR_SHARE), commit(40, 41)),
            committed(write("x", 1, 10, 11), commit(20, 50)),
            initial=0,
        ),
    ),
    "a version whose commit was sent after the answer": (
        "spanner/serializable",
        READ,
        history(
            committed(read("x", 1, 0, 1), commit(30, 31)),
            committed(write("x", 1, 5, 6), commit(10, 11)),
            initial=0,
        ),
    ),
    "a version that was committed after the first answer": (
        "oracle/serializable",
        READ,
        history(
            committed(begin(0, 1), read("y", 0, 2, 3), read("x", 1, 20, 21), commit(30, 31)),
            committed(write("x", 1, 5, 6), commit(10, 11)),
            initial=0,
        ),
    ),
    "rows of one statement without a common instant": (
        RC,
        READ,
        history(
            committed(write(1, 1, 10, 11), commit(12, 13)),
            committed(write(2, 1, 20, 21), commit(22, 23)),
            committed(range_read(1, 2, {1: 0, 2: 1}, 5, 30), commit(32, 33)),
            initial=0,
        ),
    ),
    "a row that is missing and one that is shown without a common instant": (
        RC,
        READ,
        history(
            committed(insert(1, 1, 10, 11), commit(12, 13)),
            committed(write(2, 1, 20, 21), commit(22, 23)),
            committed(range_read(1, 2, {2: 1}, 5, 30), commit(32, 33)),
            initial=None,
        ),
    ),
    "two initial values": (
        RC,
        READ,
        history(
            committed(read("x", 5, 0, 1), commit(2, 3)),
            committed(read("x", 7, 4, 5), commit(6, 7)),
            committed(write("x", 5, 10, 11), commit(12, 13)),
            committed(write("x", 7, 20, 21), commit(22, 23)),
        ),
    ),
    "a row that two transactions delete": (
        RR,
        UPDATER,
        history(
            committed(read("y", 0, 10, 11), delete("x", 20, 21), commit(30, 31)),
            committed(read("y", 0, 10, 11), delete("x", 40, 41), commit(50, 51)),
            committed(insert("x", 1, 0, 1), commit(2, 3)),
            initial=0,
        ),
    ),
    "an insert over a later delete where inserts are compared": (
        "mariadb/snapshot-isolation",
        UPDATER,
        history(
            committed(read("y", 0, 0, 1), insert(1, 7, 30, 31), commit(32, 33)),
            committed(delete(1, 10, 11), commit(12, 13)),
            initial=0,
        ),
    ),
}


@pytest.mark.parametrize("title", IMPOSSIBLE)
def test_what_no_instants_explain_is_convicted(title: str) -> None:
    name, anomaly, told = IMPOSSIBLE[title]
    assert anomaly in accused(told, profiles.load(name))
