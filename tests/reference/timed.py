"""Histories with intervals, told in few words, and the profiles that they are held against."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from isoscope.history import (
    UNKNOWN,
    Initial,
    Interval,
    Operation,
    OperationKind,
    Range,
    Status,
    Transaction,
)
from isoscope.profiles import Certifier, Conduct, Granularity, Lock, Profile, Read, Snapshot, Statement
from isoscope.recorder import build

if TYPE_CHECKING:
    from isoscope.history import History, Scalar, Unknown, Value

__all__ = [
    "COCKROACHDB",
    "FOUNDATIONDB",
    "INNODB_READ_COMMITTED",
    "INNODB_READ_UNCOMMITTED",
    "INNODB_REPEATABLE_READ",
    "INNODB_SERIALIZABLE",
    "LOCKING",
    "PLAIN",
    "POSTGRESQL_READ_COMMITTED",
    "POSTGRESQL_REPEATABLE_READ",
    "POSTGRESQL_SERIALIZABLE",
    "PROFILES",
    "SPANNER",
    "SQLITE",
    "TIDB_OPTIMISTIC",
    "aborted",
    "append",
    "begin",
    "commit",
    "committed",
    "delete",
    "history",
    "indeterminate",
    "insert",
    "profile",
    "range_read",
    "read",
    "rollback",
    "write",
]


# What happened.


def read(key: Scalar, value: Value | list[int], *times: int, **details: Any) -> Operation:
    shown = tuple(value) if isinstance(value, list) else value
    return _operation(OperationKind.READ, key, shown, times, details)


def write(key: Scalar, value: Scalar, *times: int, **details: Any) -> Operation:
    return _operation(OperationKind.WRITE, key, value, times, details)


def append(key: Scalar, value: Scalar, *times: int, **details: Any) -> Operation:
    return _operation(OperationKind.APPEND, key, value, times, details)


def insert(key: Scalar, value: Scalar, *times: int, **details: Any) -> Operation:
    return _operation(OperationKind.INSERT, key, value, times, details)


def delete(key: Scalar, *times: int, **details: Any) -> Operation:
    return _operation(OperationKind.DELETE, key, None, times, details)


def range_read(
    low: Scalar, high: Scalar, rows: dict[Scalar, Scalar], *times: int, **details: Any
) -> Operation:
    shown = Range(low=low, high=high, rows=tuple(rows.items()))
    return _operation(OperationKind.RANGE_READ, None, shown, times, details)


def begin(*times: int) -> Operation:
    return _operation(OperationKind.BEGIN, None, None, times, {})


def commit(*times: int | None) -> Operation:
    return _operation(OperationKind.COMMIT, None, None, times, {})


def rollback(*times: int) -> Operation:
    return _operation(OperationKind.ABORT, None, None, times, {})


def _operation(
    kind: OperationKind,
    key: Scalar,
    value: Value | Range,
    times: tuple[int | None, ...],
    details: dict[str, Any],
) -> Operation:
    interval = Interval(*times) if times else None
    return Operation(kind=kind, key=key, value=value, interval=interval, **details)


def committed(*operations: Operation, **details: Any) -> Transaction:
    return Transaction(number=0, id=None, session=0, session_id=None, operations=operations, **details)


def aborted(*operations: Operation, **details: Any) -> Transaction:
    return replace(committed(*operations, **details), status=Status.ABORTED)


def indeterminate(*operations: Operation, **details: Any) -> Transaction:
    return replace(committed(*operations, **details), status=Status.INDETERMINATE)


def history(*transactions: Transaction, initial: Scalar | Unknown = UNKNOWN) -> History:
    """Transactions are numbered from 0, each in a session of its own."""
    numbered = (replace(t, id=number) for number, t in enumerate(transactions))
    return build(numbered, initial=Initial(value=initial))


# Profiles.

PLAIN = Conduct()
LOCKING = Conduct(Lock.EXCLUSIVE, Read.LOCKING)


def profile(
    snapshot: Snapshot = Snapshot.FIRST_STATEMENT,
    *,
    select: Conduct = PLAIN,
    update: Conduct = LOCKING,
    share: Conduct | None = None,
    name: str = "simulated/test",
    first_updater_wins: bool = False,
    certifier: Certifier = Certifier.NONE,
    granularity: Granularity = Granularity.ROW,
    commit_lock: Lock = Lock.NONE,
) -> Profile:
    """A profile whose statements behave alike, but for plain selects and those that share."""
    shared = share or replace(update, lock=min(update.lock, Lock.SHARE, key=list(Lock).index))
    statements = dict.fromkeys(Statement, update)
    statements |= {Statement.SELECT: select, Statement.SELECT_FOR_SHARE: shared}
    database, _, level = name.partition("/")
    return Profile(
        name=name,
        database=database,
        level=level,
        protocol="",
        snapshot=snapshot,
        first_updater_wins=first_updater_wins,
        certifier=certifier,
        statements=statements,
        granularity=granularity,
        commit_lock=commit_lock,
    )


_CONSISTENT = Conduct(Lock.EXCLUSIVE, Read.CONSISTENT)
_FREE = Conduct(Lock.NONE, Read.CONSISTENT)
_SHARED = Conduct(Lock.SHARE, Read.LOCKING, predicate=True)

POSTGRESQL_READ_COMMITTED = profile(Snapshot.STATEMENT, update=_CONSISTENT, name="postgresql/read-committed")
POSTGRESQL_REPEATABLE_READ = profile(
    update=_CONSISTENT, first_updater_wins=True, name="postgresql/repeatable-read"
)
POSTGRESQL_SERIALIZABLE = profile(
    update=_CONSISTENT,
    first_updater_wins=True,
    certifier=Certifier.SSI,
    name="postgresql/serializable",
)
INNODB_READ_UNCOMMITTED = profile(
    Snapshot.STATEMENT, select=Conduct(Lock.NONE, Read.UNCOMMITTED), name="innodb/read-uncommitted"
)
INNODB_READ_COMMITTED = profile(Snapshot.STATEMENT, name="innodb/read-committed")
INNODB_REPEATABLE_READ = profile(Snapshot.FIRST_READ, name="innodb/repeatable-read")
INNODB_SERIALIZABLE = profile(Snapshot.STATEMENT, select=_SHARED, share=_SHARED, name="innodb/serializable")
TIDB_OPTIMISTIC = profile(
    Snapshot.BEGIN,
    update=_FREE,
    share=_FREE,
    certifier=Certifier.OPTIMISTIC_WRITES,
    name="tidb/optimistic",
)
FOUNDATIONDB = profile(
    Snapshot.FIRST_READ,
    update=_FREE,
    share=_FREE,
    certifier=Certifier.OPTIMISTIC_READS,
    name="foundationdb/serializable",
)
COCKROACHDB = profile(
    Snapshot.TRANSACTION,
    update=_FREE,
    share=_FREE,
    certifier=Certifier.TIMESTAMP_ORDER,
    name="cockroachdb/serializable",
)
SPANNER = profile(
    Snapshot.STATEMENT,
    select=Conduct(Lock.SHARE, Read.LOCKING),
    update=Conduct(Lock.SHARE, Read.LOCKING),
    commit_lock=Lock.EXCLUSIVE,
    name="spanner/serializable",
)
SQLITE = profile(
    Snapshot.STATEMENT,
    select=Conduct(Lock.SHARE, Read.LOCKING),
    update=Conduct(Lock.UPDATE, Read.LOCKING),
    granularity=Granularity.DATABASE,
    commit_lock=Lock.EXCLUSIVE,
    name="sqlite/serializable",
)
PROFILES = (
    POSTGRESQL_READ_COMMITTED,
    POSTGRESQL_REPEATABLE_READ,
    POSTGRESQL_SERIALIZABLE,
    INNODB_READ_UNCOMMITTED,
    INNODB_READ_COMMITTED,
    INNODB_REPEATABLE_READ,
    INNODB_SERIALIZABLE,
    TIDB_OPTIMISTIC,
    FOUNDATIONDB,
    COCKROACHDB,
    SPANNER,
    SQLITE,
)
