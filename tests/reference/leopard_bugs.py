"""Isolation bugs that Li et al. 2023 list, as far as a history can show them: minimal traces of our own.

Each has a twin in which the database behaves: nothing is found there. The numbers are those of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.profiles import Conduct, Lock, Read, Snapshot

from . import timed
from .timed import (
    aborted,
    begin,
    commit,
    committed,
    delete,
    history,
    insert,
    range_read,
    read,
    rollback,
    write,
)

if TYPE_CHECKING:
    from isoscope.history import History
    from isoscope.profiles import Profile

__all__ = ["BUGS", "Bug"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One bug: `name` and `case` are what must be found in `wrong`, and nothing in `right`."""

    title: str
    profile: Profile
    name: str
    case: str
    wrong: History
    right: History


_CONSISTENT = Conduct(Lock.EXCLUSIVE, Read.CONSISTENT)
_OCEANBASE = timed.profile(
    Snapshot.BEGIN, update=_CONSISTENT, first_updater_wins=True, name="oceanbase/repeatable-read"
)

BUGS = (
    Bug(
        title="1 TiDB: an update that changes nothing takes no lock",
        profile=timed.INNODB_REPEATABLE_READ,
        name="lock-violation",
        case="row",
        wrong=history(
            committed(write(676, 1, 1, 2), commit(9, 10)),
            committed(write(676, 2, 3, 4), commit(5, 6)),
        ),
        right=history(
            committed(write(676, 1, 1, 2), commit(5, 7)),
            committed(write(676, 2, 3, 8), commit(9, 10)),
        ),
    ),
    Bug(
        title="2 TiDB: a read after a commit shows the version before it",
        profile=timed.INNODB_REPEATABLE_READ,
        name="inconsistent-read",
        case="stale",
        wrong=history(
            committed(write("x", 904, 1, 2), commit(3, 4)),
            committed(write("x", 907, 5, 6), commit(7, 8)),
            committed(read("x", 904, 9, 10), commit(11, 12)),
        ),
        right=history(
            committed(write("x", 904, 1, 2), commit(3, 4)),
            committed(write("x", 907, 5, 6), commit(7, 9)),
            committed(read("x", 904, 8, 10), commit(11, 12)),
        ),
    ),
    Bug(
        title="3 TiDB: a select for update of a view does not wait for the row's lock",
        profile=timed.INNODB_REPEATABLE_READ,
        name="lock-violation",
        case="row",
        wrong=history(
            committed(write("a", 1, 1, 2), commit(7, 8)),
            committed(read("a", 0, 3, 4, statement="select for update"), commit(5, 6)),
        ),
        right=history(
            committed(write("a", 1, 1, 2), commit(4, 6)),
            committed(read("a", 1, 3, 8, statement="select for update"), commit(9, 10)),
        ),
    ),
    Bug(
        title="6, 13 TiDB, MySQL: a read does not show the own update, which changed nothing",
        profile=timed.INNODB_REPEATABLE_READ,
        name="inconsistent-read",
        case="own",
        wrong=history(
            committed(write("x", 17702, 1, 2), commit(3, 4)),
            committed(
                read("y", 89665, 5, 6), write("x", 40569, 11, 12), read("x", 17702, 13, 14), commit(15, 16)
            ),
            committed(write("x", 40569, 7, 8), commit(9, 10)),
        ),
        right=history(
            committed(write("x", 17702, 1, 2), commit(3, 4)),
            committed(
                read("y", 89665, 5, 6), write("x", 40569, 11, 12), read("x", 40569, 13, 14), commit(15, 16)
            ),
            committed(write("x", 40569, 7, 8), commit(9, 10)),
        ),
    ),
    Bug(
        title="16 MySQL serializable: a select takes no share lock",
        profile=timed.INNODB_SERIALIZABLE,
        name="lock-violation",
        case="predicate",
        wrong=history(
            committed(insert(225, 1, 1, 2), commit(7, 8)),
            committed(read(225, None, 3, 4), commit(5, 6)),
        ),
        right=history(
            committed(insert(225, 1, 1, 2), commit(4, 6)),
            committed(read(225, 1, 3, 7), commit(8, 9)),
        ),
    ),
    Bug(
        title="17 MySQL read uncommitted: a read shows a write that had failed",
        profile=timed.INNODB_READ_UNCOMMITTED,
        name="inconsistent-read",
        case="aborted",
        wrong=history(
            committed(delete(1, 1, 2), commit(3, 4)),
            aborted(write(2, 20, 5, 6), insert(1, 10, 7, 8), rollback(9, 10)),
            committed(read(1, 10, 11, 12), commit(13, 14)),
            initial=0,
        ),
        right=history(
            committed(delete(1, 1, 2), commit(3, 4)),
            aborted(write(2, 20, 5, 6), insert(1, 10, 7, 8), rollback(13, 14)),
            committed(read(1, 10, 11, 12), commit(15, 16)),
            initial=0,
        ),
    ),
    Bug(
        title="19 PostgreSQL serializable: write skew",
        profile=timed.POSTGRESQL_SERIALIZABLE,
        name="certifier-violation",
        case="ssi",
        wrong=history(
            committed(read(832, 0, 1, 2), write(1460, 206, 5, 6), commit(11, 12)),
            committed(read(1460, 0, 3, 4), write(832, 204, 7, 8), commit(9, 10)),
        ),
        right=history(
            committed(read(832, 0, 1, 2), write(1460, 206, 5, 6), commit(7, 8)),
            committed(read(1460, 206, 9, 10), write(832, 204, 11, 12), commit(13, 14)),
        ),
    ),
    Bug(
        title="21 openGauss: a delete of a row that was changed since the snapshot goes on",
        profile=timed.POSTGRESQL_REPEATABLE_READ,
        name="first-updater-violation",
        case="overlap",
        wrong=history(
            committed(begin(3, 4), read("y", 0, 5, 6), delete("x", 9, 10), commit(11, 12)),
            committed(write("x", 2, 1, 2), commit(7, 8)),
            initial=0,
        ),
        right=history(
            committed(begin(3, 4), read("y", 0, 9, 10), delete("x", 11, 12), commit(13, 14)),
            committed(write("x", 2, 1, 2), commit(7, 8)),
            initial=0,
        ),
    ),
    Bug(
        title="22 openGauss: a select shows what was committed after the snapshot",
        profile=timed.POSTGRESQL_REPEATABLE_READ,
        name="inconsistent-read",
        case="future",
        wrong=history(
            committed(write(7, 70, 1, 2), read(6, 14, 7, 8), commit(9, 10)),
            committed(write(6, 14, 3, 4), commit(5, 6)),
            initial=0,
        ),
        right=history(
            committed(write(7, 70, 1, 2), read(6, 0, 7, 8), commit(9, 10)),
            committed(write(6, 14, 3, 4), commit(5, 6)),
            initial=0,
        ),
    ),
    Bug(
        title="23 OceanBase: a transaction with a consistent snapshot sees what was committed later",
        profile=_OCEANBASE,
        name="inconsistent-read",
        case="future",
        wrong=history(
            committed(begin(1, 2), read("x", 5, 7, 8), commit(9, 10)),
            committed(write("x", 5, 3, 4), commit(5, 6)),
            initial=0,
        ),
        right=history(
            committed(begin(1, 5), read("x", 5, 7, 8), commit(9, 10)),
            committed(write("x", 5, 3, 4), commit(5, 6)),
            initial=0,
        ),
    ),
    Bug(
        title="a lost update that an optimistic database should have refused",
        profile=timed.TIDB_OPTIMISTIC,
        name="certifier-violation",
        case="optimistic-writes",
        wrong=history(
            committed(begin(1, 2), write("x", 1, 5, 6), commit(7, 8)),
            committed(begin(3, 4), write("x", 2, 9, 10), commit(11, 12)),
        ),
        right=history(
            committed(begin(1, 2), write("x", 1, 5, 6), commit(7, 8)),
            committed(begin(8, 9), write("x", 2, 10, 11), commit(12, 13)),
        ),
    ),
    Bug(
        title="what an optimistic transaction read was overwritten before it committed",
        profile=timed.FOUNDATIONDB,
        name="certifier-violation",
        case="optimistic-reads",
        wrong=history(
            committed(read("x", 0, 1, 2), write("y", 1, 7, 8), commit(9, 10)),
            committed(write("x", 2, 3, 4), commit(5, 6)),
        ),
        right=history(
            committed(read("x", 0, 1, 2), commit(9, 10)),
            committed(write("x", 2, 3, 4), commit(5, 6)),
        ),
    ),
    Bug(
        title="a range read does not show a row",
        profile=timed.POSTGRESQL_REPEATABLE_READ,
        name="inconsistent-read",
        case="missing-row",
        wrong=history(
            committed(insert(5, 50, 1, 2), commit(3, 4)),
            committed(range_read(1, 9, {}, 5, 6), commit(7, 8)),
        ),
        right=history(
            committed(insert(5, 50, 1, 2), commit(3, 5)),
            committed(range_read(1, 9, {}, 5, 6), commit(7, 8)),
        ),
    ),
    Bug(
        title="a phantom is inserted into a range that is locked",
        profile=timed.INNODB_SERIALIZABLE,
        name="lock-violation",
        case="predicate",
        wrong=history(
            committed(range_read(1, 9, {}, 1, 2), commit(7, 8)),
            committed(insert(5, 50, 3, 4), commit(5, 6)),
        ),
        right=history(
            committed(range_read(1, 9, {}, 1, 2), commit(5, 7)),
            committed(insert(5, 50, 3, 8), commit(9, 10)),
        ),
    ),
    Bug(
        title="a write appears while a reader holds the row",
        profile=timed.SPANNER,
        name="lock-violation",
        case="commit",
        wrong=history(
            committed(read("x", 0, 1, 2), commit(7, 8)),
            committed(write("x", 1, 3, 4), commit(5, 6)),
        ),
        right=history(
            committed(read("x", 0, 1, 2), commit(6, 7)),
            committed(write("x", 1, 3, 4), commit(5, 8)),
        ),
    ),
    Bug(
        title="a transaction reads from one that began after it had ended",
        profile=timed.COCKROACHDB,
        name="inconsistent-read",
        case="future",
        wrong=history(
            committed(begin(1, 2), read("x", 1, 3, 4), commit(5, 6)),
            committed(begin(7, 8), write("x", 1, 9, 10), commit(11, 12)),
            initial=0,
        ),
        right=history(
            committed(begin(1, 2), read("x", 1, 3, 11), commit(12, 13)),
            committed(begin(7, 8), write("x", 1, 9, 10), commit(11, 12)),
            initial=0,
        ),
    ),
    Bug(
        title="two reads show two versions in opposite orders",
        profile=timed.COCKROACHDB,
        name="contradictory-dependencies",
        case="reads-reads",
        wrong=history(
            committed(write("x", 1, 1, 2), commit(3, 6)),
            committed(write("x", 2, 1, 2), commit(4, 6)),
            committed(read("x", 2, 7, 8), commit(9, 10)),
            committed(read("x", 1, 11, 12), commit(13, 14)),
        ),
        right=history(
            committed(write("x", 1, 1, 2), commit(3, 6)),
            committed(write("x", 2, 1, 2), commit(4, 6)),
            committed(read("x", 1, 6, 8), commit(9, 10)),
            committed(read("x", 2, 11, 12), commit(13, 14)),
        ),
    ),
)
