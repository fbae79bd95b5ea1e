"""Violations by the database's own clock, directly from the definitions; for small histories only."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope.history import OperationKind, Status
from isoscope.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History, Transaction

__all__ = ["Found", "violations"]

READ, APPEND = OperationKind.READ, OperationKind.APPEND


class Found(NamedTuple):
    """A violation: anomaly, transaction, key; the other transaction, or what should have been shown."""

    anomaly: str
    transaction: Any
    key: Any = None
    other: Any = None


def violations(history: History, level: Level) -> list[Found]:
    """All violations of a level of the database's clock, sorted."""
    judged = [t for t in history if t.status is Status.COMMITTED]
    is_snapshot = level is Level.CLOCK_SNAPSHOT_ISOLATION
    state = _Versions(judged, by_start=is_snapshot, initial=history.initial.value)
    found = [one for t in judged for one in _reads(t, state)]
    if is_snapshot:
        found += [*_conflicts(judged), *_sessions(history), *_inversions(judged)]
    return sorted(found, key=repr)


class _Versions:
    """The value of each key for each reader."""

    def __init__(self, judged: list[Transaction], *, by_start: bool, initial: Any) -> None:
        self._by_start = by_start
        self._initial = initial
        self._writers: dict[Any, list[Transaction]] = defaultdict(list)
        for transaction in sorted(judged, key=_place):
            for key in {op.key for op in transaction.operations if _writes(op)}:
                self._writers[key].append(transaction)

    def shown_to(self, reader: Transaction, key: Any, *, is_list: bool) -> Any:
        visible = [w for w in self._writers[key] if w is not reader and self._sees(reader, w)]
        written = [[op.value for op in w.operations if _writes(op) and op.key == key] for w in visible]
        if is_list:
            return tuple(value for values in written for value in values)
        return written[-1][-1] if written else self._initial

    def _sees(self, reader: Transaction, writer: Transaction) -> bool:
        assert reader.start is not None
        assert writer.commit is not None
        return writer.commit <= reader.start if self._by_start else _place(writer) < _place(reader)


def _place(transaction: Transaction) -> Any:
    return transaction.commit, transaction.start, transaction.session_id, transaction.number


def _writes(operation: Any) -> bool:
    return operation.kind in {OperationKind.WRITE, APPEND}


def _reads(transaction: Transaction, state: _Versions) -> Iterator[Found]:
    """EXT judges the first access of a key, INT every later one; a register is a list of one element."""
    last: dict[Any, Any] = {}
    own: dict[Any, Any] = defaultdict(tuple)
    wrote = set()
    for operation in transaction.operations:
        key, value = operation.key, operation.value
        if operation.kind is APPEND:
            own[key] += (value,)
        elif operation.kind is OperationKind.WRITE:
            last[key] = value
        elif operation.kind is READ:
            name, right = _right(transaction, state, (key, value), last, own[key])
            if name == "int":
                name = "not-my-own-write" if key in wrote else "non-repeatable-read"
            if value != right:
                # EXT expects the writes of others only.
                others = right[: len(right) - len(own[key])] if own[key] and name == "stale-read" else right
                yield Found(name, transaction.id, key, others)
            last[key], own[key] = value, ()
        if _writes(operation):
            wrote.add(key)


def _right(
    reader: Transaction, state: _Versions, read: tuple[Any, Any], last: dict[Any, Any], own: Any
) -> tuple[str, Any]:
    """The right value of a read, and the anomaly if it shows another."""
    key, value = read
    if not isinstance(value, tuple):
        return (
            ("int", last[key]) if key in last else ("stale-read", state.shown_to(reader, key, is_list=False))
        )
    ends_well = value[len(value) - len(own) :] == own
    if key in last:
        return ("non-repeatable-read" if ends_well else "not-my-own-write"), last[key] + own
    right = state.shown_to(reader, key, is_list=True) + own
    return ("stale-read" if ends_well else "not-my-own-write"), right


def _conflicts(judged: list[Transaction]) -> Iterator[Found]:
    writers: dict[Any, list[Transaction]] = defaultdict(list)
    for transaction in judged:
        for key in {op.key for op in transaction.operations if _writes(op)}:
            writers[key].append(transaction)
    for key, all_of_key in writers.items():
        for one, other in combinations(sorted(all_of_key, key=_place), 2):
            assert one.commit is not None
            assert other.start is not None
            assert other.commit is not None
            assert one.start is not None
            if one.commit == other.commit or (one.commit > other.start and other.commit > one.start):
                yield Found("write-conflict", other.id, key, one.id)


def _sessions(history: History) -> Iterator[Found]:
    for session in history.sessions:
        judged = [t for t in map(history.transaction, session.transactions) if t.status is Status.COMMITTED]
        for before, after in pairwise(judged):
            assert after.start is not None
            assert before.commit is not None
            if after.start < before.commit:
                yield Found("session-order", after.id, None, before.id)


def _inversions(judged: list[Transaction]) -> Iterator[Found]:
    for transaction in judged:
        assert transaction.start is not None
        assert transaction.commit is not None
        if transaction.start > transaction.commit:
            yield Found("timestamp-inversion", transaction.id)
