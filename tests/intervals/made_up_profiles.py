"""Traces on which kernel and specification differed, shrunk, with profiles that no database has.

Each was decided by the words of the profile and by the oracle over instants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoscope.profiles import Certifier, Conduct, Granularity, Lock, Read, Snapshot
from tests.reference.timed import (
    begin,
    commit,
    committed,
    delete,
    history,
    insert,
    profile,
    range_read,
    read,
    write,
)

if TYPE_CHECKING:
    from isoscope.history import History
    from isoscope.profiles import Profile

__all__ = ["CASES", "Case"]

FREE = Conduct(Lock.NONE, Read.CONSISTENT)
UPDATE = Conduct(Lock.UPDATE, Read.CONSISTENT)
EXCLUSIVE = Conduct(Lock.EXCLUSIVE, Read.CONSISTENT)
SHARE = Conduct(Lock.SHARE, Read.CONSISTENT)
LOCKING_SHARE = Conduct(Lock.SHARE, Read.LOCKING)
COLLISION = ("lock-violation", "row")
OVERLAP = ("first-updater-violation", "overlap")
UNCERTIFIED = ("certifier-violation", "optimistic-reads")


class Case(NamedTuple):
    """A trace, its profile, and the names and cases of all that is wrong with it."""

    title: str
    profile: Profile
    history: History
    found: frozenset[tuple[str, str]] = frozenset()


_UPDATERS = profile(Snapshot.FIRST_READ, update=Conduct(Lock.NONE, Read.LOCKING), first_updater_wins=True)
_BY_TIME = profile(Snapshot.START, update=UPDATE, certifier=Certifier.TIMESTAMP_ORDER)
_OPTIMISTIC = profile(
    Snapshot.START, select=SHARE, update=FREE, first_updater_wins=True, certifier=Certifier.OPTIMISTIC_READS
)


def _rewritten(initial: int | None) -> History:
    return history(
        committed(write("x", 2, 3, 3), commit(10, 10)),
        committed(delete("x", 5, 5), write("x", 3, 10, 10), commit(14, 14)),
        initial=initial,
    )


CASES = (
    Case("a delete that finds no row is not the first change of the row", _UPDATERS, _rewritten(None)),
    Case("a delete that finds the row is its first change", _UPDATERS, _rewritten(1), frozenset([OVERLAP])),
    Case(
        "by timestamp order locks are released with the commit",
        _BY_TIME,
        history(
            committed(read("x", 2, 12, 12), commit(18, 18)),
            committed(write("x", 2, 2, 2), commit(12, 12)),
            committed(write("x", 3, 6, 6), commit(10, 10)),
            initial=0,
        ),
        frozenset([COLLISION]),
    ),
    Case(
        "where reads lock, the timestamp is one of the commit",
        profile(Snapshot.BEGIN, select=UPDATE, update=UPDATE, certifier=Certifier.TIMESTAMP_ORDER),
        history(
            committed(write("x", 1, 12, 12), commit(15, 15)),
            committed(write("x", 2, 12, 12), commit(15, 15)),
            committed(read("x", 2, 21, 21), commit(33, 33)),
            initial=0,
        ),
        frozenset([COLLISION]),
    ),
    Case(
        "locks that collide order nothing, although another pair of the two transactions does not collide",
        profile(
            Snapshot.START,
            select=Conduct(Lock.UPDATE, Read.LOCKING),
            update=EXCLUSIVE,
            granularity=Granularity.DATABASE,
        ),
        history(
            committed(read("y", 0, 10, 10), read("x", 0, 16, 16, lock_mode="exclusive"), commit(21, 21)),
            committed(write("x", 2, 13, 13), commit(16, 16)),
            initial=0,
        ),
        frozenset([COLLISION]),
    ),
    Case(
        "a transaction that locks a row need not end before the snapshot of one that changes it",
        _OPTIMISTIC,
        history(
            committed(begin(11, 11), read("x", 0, 12, 12), write("y", 1, 14, 14), commit(20, 20)),
            committed(read("z", 0, 17, 17), write("x", 1, 18, 18), read("y", 0, 20, 20), commit(22, 22)),
            initial=0,
        ),
        frozenset([UNCERTIFIED]),
    ),
    Case(
        "a transaction without a snapshot is in no dangerous structure",
        profile(
            Snapshot.FIRST_READ,
            select=Conduct(Lock.NONE, Read.LOCKING),
            update=FREE,
            certifier=Certifier.SSI,
        ),
        history(
            committed(read("x", 0, 19, 19), commit(21, 21)),
            committed(read("y", 0, 12, 12), write("x", 1, 17, 17), commit(19, 19)),
            committed(write("y", 1, 8, 8), commit(15, 15)),
            initial=0,
        ),
    ),
    Case(
        "statements that have snapshots of their own are in no dangerous structure",
        profile(Snapshot.STATEMENT, update=FREE, certifier=Certifier.SSI),
        history(
            committed(read("y", 0, 8, 8), write("x", 1, 11, 11), commit(15, 15)),
            committed(write("y", 1, 5, 5), commit(12, 12)),
            committed(read("x", 0, 4, 4), write("z", 1, 8, 8), commit(13, 13)),
            initial=0,
        ),
    ),
    Case(
        "a row is not lost to a read that was answered before its delete was committed",
        profile(Snapshot.STATEMENT, update=FREE, certifier=Certifier.TIMESTAMP_ORDER),
        history(
            committed(read("y", None, 14, 14), delete(2, 19, 19), commit(23, 23)),
            committed(write(2, 1, 2, 2), commit(6, 6)),
            committed(range_read(1, 2, {}, 17, 17, read_mode="locking"), commit(21, 21)),
            initial=None,
        ),
        frozenset([("inconsistent-read", "missing-row")]),
    ),
    Case(
        "a commit that waits for no lock came before the lock",
        profile(
            Snapshot.TRANSACTION,
            select=LOCKING_SHARE,
            update=FREE,
            certifier=Certifier.OPTIMISTIC_READS,
            commit_lock=Lock.EXCLUSIVE,
        ),
        history(
            committed(write("x", 1, 8, 8), commit(15, 15)),
            committed(write("y", 0, 6, 6), read("x", 0, 15, 15), commit(18, 18)),
            initial=0,
        ),
        frozenset([("inconsistent-read", "stale")]),
    ),
    Case(
        "a row that is locked after such a commit was changed since the snapshot",
        profile(select=SHARE, update=FREE, first_updater_wins=True, commit_lock=Lock.EXCLUSIVE),
        history(
            committed(read("y", 0, 14, 14), read("x", 0, 19, 19), commit(24, 24)),
            committed(write("x", 2, 9, 9), commit(19, 19)),
            initial=0,
        ),
        frozenset([OVERLAP]),
    ),
    Case(
        "the version of the first updater is there, although the read was answered before its commit",
        profile(Snapshot.TRANSACTION, update=FREE, first_updater_wins=True),
        history(
            committed(read("x", 0, 14, 14), write("x", 1, 21, 21), commit(26, 26)),
            committed(write("x", 2, 15, 15), commit(19, 19)),
            initial=0,
        ),
        frozenset([("inconsistent-read", "stale")]),
    ),
    Case(
        "a change of a row that is locked then is there at the snapshot",
        profile(Snapshot.TRANSACTION, select=SHARE, update=FREE, first_updater_wins=True),
        history(
            committed(write("x", 2, 10, 10), commit(12, 12)),
            committed(write("y", 0, 10, 10), read("x", 0, 14, 14), commit(19, 19)),
            initial=0,
        ),
        frozenset([("inconsistent-read", "stale")]),
    ),
    Case(
        "an insert after a delete that found no row is a change of the time of the insert",
        profile(Snapshot.FIRST_READ, update=FREE, certifier=Certifier.OPTIMISTIC_WRITES),
        history(
            committed(delete(1, 3, 3), insert(1, 1, 7, 7), commit(9, 9)),
            committed(write(1, 2, 3, 3), commit(7, 7)),
            initial=None,
        ),
    ),
    Case(
        "a row was not changed between the snapshot and the lock of the statement that takes both",
        profile(Snapshot.FIRST_READ, select=SHARE, update=EXCLUSIVE, first_updater_wins=True),
        history(
            committed(read("x", 0, 11, 11), commit(12, 12)),
            committed(write("x", 2, 8, 8), commit(11, 11)),
            initial=0,
        ),
        frozenset([("inconsistent-read", "stale")]),
    ),
    Case(
        "a delete that a read cannot know of may have found no row, as the read tells",
        profile(Snapshot.TRANSACTION, update=FREE, certifier=Certifier.OPTIMISTIC_WRITES),
        history(
            committed(range_read(1, 2, {}, 8, 8), write(1, 2, 13, 13), commit(15, 15)),
            committed(delete(1, 6, 6), commit(9, 9)),
            initial=0,
        ),
    ),
)
