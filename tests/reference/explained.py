"""Small histories whose explanation, or the lack of one, was found by hand.

The numbers are those of the classes in `docs/explanation/audit.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import UNKNOWN

from .timed import (
    begin,
    commit,
    committed,
    delete,
    history,
    indeterminate,
    insert,
    range_read,
    read,
    write,
)

if TYPE_CHECKING:
    from isoscope.history import History

__all__ = ["CASES", "Case"]

FOR_UPDATE = "select for update"
FOR_SHARE = "select for share"


class Case(NamedTuple):
    """A history, the profile that it is held against, and whether a correct database can give it."""

    title: str
    profile: str
    history: History
    is_explained: bool = True


CASES = (
    Case(
        "1: a locking read is no snapshot read, although both have the same times",
        "mysql/repeatable-read",
        history(
            committed(read("x", 0, 5, 5), read("x", 1, 5, 5, statement=FOR_UPDATE), commit(6, 6)),
            committed(write("x", 1, 1, 2), commit(5, 5)),
            initial=0,
        ),
    ),
    Case(
        "1: two snapshot reads with the same times show one snapshot",
        "mysql/repeatable-read",
        history(
            committed(read("x", 0, 5, 5), read("x", 1, 5, 5), commit(6, 6)),
            committed(write("x", 1, 1, 2), commit(5, 5)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "2: an indeterminate delete may have happened",
        "postgresql/read-committed",
        history(
            indeterminate(delete("x", 1, 2), commit(3, 4)),
            committed(read("x", None, 5, 6), commit(7, 8)),
            initial=0,
        ),
    ),
    Case(
        "2: without a delete a read of nothing has no explanation",
        "postgresql/read-committed",
        history(committed(read("x", None, 5, 6), commit(7, 8)), initial=0),
        is_explained=False,
    ),
    Case(
        "2: an unknown first value may be written again later",
        "postgresql/read-committed",
        history(
            committed(read("x", 7, 1, 2), commit(3, 4)),
            committed(write("x", 7, 5, 6), commit(7, 8)),
            initial=UNKNOWN,
        ),
    ),
    Case(
        "2: an indeterminate transaction that no read shows may have failed, whatever it read",
        "postgresql/repeatable-read",
        history(
            indeterminate(read("x", 5, 1, 2), write("y", 1, 3, 4), commit(5, 6)),
            committed(read("y", 0, 7, 8), commit(9, 10)),
            initial=0,
        ),
    ),
    Case(
        "2: an indeterminate transaction whose write was read did commit, and so its reads count",
        "postgresql/repeatable-read",
        history(
            indeterminate(read("x", 5, 1, 2), write("y", 1, 3, 4), commit(5, 6)),
            committed(read("y", 1, 7, 8), commit(9, 10)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "2: the same through another indeterminate transaction",
        "postgresql/repeatable-read",
        history(
            indeterminate(read("x", 5, 1, 2), write("y", 1, 3, 4), commit(5, 6)),
            indeterminate(read("y", 1, 7, 8), write("z", 1, 9, 10), commit(11, 12)),
            committed(read("z", 1, 13, 14), commit(15, 16)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "3: a statement that waited for a row finds it deleted, although it was inserted again",
        "postgresql/read-committed",
        history(
            committed(delete("x", 1, 2), insert("x", 1, 3, 4), commit(6, 7)),
            committed(read("x", None, 5, 8, statement=FOR_UPDATE), commit(9, 10)),
            initial=0,
        ),
    ),
    Case(
        "3: a statement that did not wait finds the row",
        "postgresql/read-committed",
        history(
            committed(delete("x", 1, 2), insert("x", 1, 3, 4), commit(6, 7)),
            committed(read("x", None, 8, 8, statement=FOR_UPDATE), commit(9, 10)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "4: two deletes of a row that is not there do not conflict",
        "postgresql/repeatable-read",
        history(
            committed(delete("x", 1, 2), commit(5, 6)),
            committed(delete("x", 3, 4), commit(7, 8)),
            initial=None,
        ),
    ),
    Case(
        "4: of two deletes of a row that is there one waits",
        "postgresql/repeatable-read",
        history(
            committed(delete("x", 1, 2), commit(5, 6)),
            committed(delete("x", 3, 4), commit(7, 8)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "4: a statement that touches no row takes the snapshot",
        "postgresql/repeatable-read",
        history(
            committed(read("y", None, 1, 2, statement="update"), read("x", None, 7, 8), commit(9, 10)),
            committed(insert("x", 1, 3, 4), commit(5, 6)),
            initial=None,
        ),
    ),
    Case(
        "5: by clocks that differ the later of two commits can be the older one",
        "cockroachdb/serializable",
        history(
            committed(write("x", 1, 1, 2), commit(3, 4)),
            committed(write("y", 1, 5, 6), commit(7, 8)),
            committed(read("x", None, 1, 2), read("y", 1, 9, 10), commit(11, 12)),
            initial=None,
        ),
    ),
    Case(
        "5: by one clock it cannot",
        "spanner/serializable",
        history(
            committed(write("x", 1, 1, 2), commit(3, 4)),
            committed(write("y", 1, 5, 6), commit(7, 8)),
            committed(read("x", None, 1, 2), read("y", 1, 9, 10), commit(11, 12)),
            initial=None,
        ),
        is_explained=False,
    ),
    Case(
        "6: a locking read that waited shows what it waited for",
        "mysql/read-committed",
        history(
            committed(write("x", 1, 1, 2), commit(5, 8)),
            committed(read("x", 0, 4, 9, statement=FOR_UPDATE), commit(10, 11)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "6: a read without a lock need not wait",
        "mysql/read-committed",
        history(
            committed(write("x", 1, 1, 2), commit(5, 8)),
            committed(read("x", 0, 4, 9), commit(10, 11)),
            initial=0,
        ),
    ),
    Case(
        "7: a row that changed since the snapshot cannot be locked",
        "postgresql/repeatable-read",
        history(
            committed(read("y", 0, 1, 2), read("x", 0, 7, 8, statement=FOR_SHARE), commit(9, 10)),
            committed(write("x", 1, 3, 4), commit(5, 6)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "7: a row that was deleted since the snapshot cannot be written",
        "postgresql/repeatable-read",
        history(
            committed(read("y", 0, 1, 2), write("x", 2, 7, 8), commit(9, 10)),
            committed(delete("x", 3, 4), commit(5, 6)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "7: it can be inserted again, which is not compared",
        "postgresql/repeatable-read",
        history(
            committed(read("y", 0, 1, 2), insert("x", 2, 7, 8), commit(9, 10)),
            committed(delete("x", 3, 4), commit(5, 6)),
            initial=0,
        ),
    ),
    Case(
        "7: a delete finds what the snapshot has, and a row that was inserted since is none of it",
        "postgresql/repeatable-read",
        history(
            committed(read("y", None, 1, 2), delete("x", 7, 8), commit(9, 10)),
            committed(insert("x", 1, 3, 4), commit(5, 6)),
            initial=None,
        ),
    ),
    Case(
        "7: the same delete finds the row where it looks at the newest versions",
        "mysql/repeatable-read",
        history(
            committed(read("y", None, 1, 2), delete("x", 7, 8), read("x", 1, 9, 10), commit(11, 12)),
            committed(insert("x", 1, 3, 4), commit(5, 6)),
            initial=None,
        ),
        is_explained=False,
    ),
    Case(
        "7: a statement behind a delete that found nothing shows its own snapshot, not that of the commit",
        "postgresql/read-committed",
        history(
            committed(delete("x", 1, 2), read("x", 1, 7, 8), commit(13, 14)),
            committed(insert("x", 1, 3, 4), commit(5, 6)),
            committed(write("x", 2, 9, 10), commit(11, 12)),
            initial=None,
        ),
    ),
    Case(
        "7: two consecutive rw are allowed if the second transaction commits before the third",
        "postgresql/serializable",
        history(
            committed(read("y", 0, 1, 2), write("z", 1, 3, 4), commit(11, 12)),
            committed(read("x", 0, 1, 2), write("y", 2, 3, 4), commit(5, 6)),
            committed(read("v", 0, 1, 2), write("x", 3, 3, 4), commit(7, 8)),
            initial=0,
        ),
    ),
    Case(
        "7: they are not if the third commits first",
        "postgresql/serializable",
        history(
            committed(read("y", 0, 1, 2), write("z", 1, 3, 4), commit(11, 12)),
            committed(read("x", 0, 1, 2), write("y", 2, 3, 4), commit(7, 8)),
            committed(read("v", 0, 1, 2), write("x", 3, 3, 4), commit(5, 6)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "8: a version is not seen before its writer asks to commit",
        "spanner/serializable",
        history(
            committed(read("x", 1, 1, 2), commit(9, 10)),
            committed(write("x", 1, 1, 3), commit(5, 6)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "8: the snapshot is taken before the first statement is answered",
        "oracle/serializable",
        history(
            committed(begin(1, 2), read("y", 0, 3, 4), read("x", 1, 9, 10), commit(11, 12)),
            committed(write("x", 1, 5, 6), commit(7, 8)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "8: the snapshot may be that of the begin",
        "oracle/serializable",
        history(
            committed(begin(1, 2), read("x", 0, 7, 8), commit(9, 10)),
            committed(write("x", 1, 3, 4), commit(5, 6)),
            initial=0,
        ),
    ),
    Case(
        "9: the rows of a statement have an instant in common",
        "postgresql/read-committed",
        history(
            committed(range_read(1, 2, {1: 0, 2: 1}, 1, 20), commit(21, 22)),
            committed(write(1, 1, 2, 3), commit(4, 5)),
            committed(write(2, 1, 6, 7), commit(8, 9)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "9: rows that are locked one after the other need none",
        "sqlserver/read-committed",
        history(
            committed(range_read(1, 2, {1: 0, 2: 1}, 1, 20), commit(21, 22)),
            committed(write(1, 1, 2, 3), commit(4, 5)),
            committed(write(2, 1, 6, 7), commit(8, 9)),
            initial=0,
        ),
    ),
    Case(
        "8: a write that waits in the client takes no snapshot",
        "foundationdb/serializable",
        history(
            committed(write("z", 1, 1, 2), read("x", 1, 7, 8), commit(9, 10)),
            committed(write("x", 1, 3, 4), commit(5, 6)),
            initial=0,
        ),
    ),
    Case(
        "8: the first read takes it",
        "foundationdb/serializable",
        history(
            committed(read("z", 0, 1, 2), read("x", 1, 7, 8), commit(9, 10)),
            committed(write("x", 1, 3, 4), commit(5, 6)),
            initial=0,
        ),
        is_explained=False,
    ),
    Case(
        "8: where writers are compared, the first write takes it",
        "tidb/optimistic",
        history(
            committed(write("z", 1, 1, 2), read("x", 1, 7, 8), commit(9, 10)),
            committed(write("x", 1, 3, 4), commit(5, 6)),
            initial=0,
        ),
        is_explained=False,
    ),
)
