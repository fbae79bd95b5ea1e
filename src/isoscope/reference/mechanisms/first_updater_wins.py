"""First updater wins: is a row changed or locked that another transaction changed since the snapshot?

Li et al. 2023, Section V-C, where snapshots are per transaction. The certifier `optimistic-writes`
(Percolator) asks the same of every write; here the later one is exempt if it inserted the row, unless the
profile compares inserts: few databases compare a new row with a deleted one. A statement that only locks a
row is refused, too, if the row changed between its snapshot and its lock.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import OperationKind
from isoscope.profiles import Certifier, Lock, Snapshot
from isoscope.reference.mechanisms import lock_order
from isoscope.reference.mechanisms.conduct import READS, WRITES, conduct_of
from isoscope.reference.mechanisms.versions import Place, found_rows
from isoscope.reference.mechanisms.worlds import EVER, Possible, Span, possible, worlds
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import Operation, Transaction
    from isoscope.reference.mechanisms.versions import Store
    from isoscope.reference.mechanisms.worlds import World

__all__ = ["NAME", "Changed", "Pair", "after_a_change", "asked", "locked", "one_after_the_other", "pairs"]

NAME = "first-updater-violation"


class Changed(NamedTuple):
    """A transaction that changed a row: its first write of it, when it took its snapshot, and its commit.

    `taken`: when it locked the row.
    """

    place: Place
    snapshot: Span
    commit: Span
    is_new: bool = False
    taken: Span = EVER


class Pair(NamedTuple):
    """Two committed transactions that changed a row, and which of them can have gone before the other."""

    row: object
    one: Changed
    other: Changed
    orders: Possible


def asked(store: Store) -> list[Pair]:
    """The pairs that the profile compares: by first updater wins, or by the certifier of Percolator."""
    if store.profile.certifier is Certifier.OPTIMISTIC_WRITES:
        return pairs(store, exempt=False)
    is_asked = store.profile.first_updater_wins and store.profile.snapshot is not Snapshot.STATEMENT
    return pairs(store, exempt=not store.profile.compares_inserts) if is_asked else []


def locked(store: Store) -> list[Pair]:
    """Every committed transaction that locks a row without changing it, with each that changed the row."""
    is_asked = store.profile.first_updater_wins and store.profile.snapshot is not Snapshot.STATEMENT
    changes = [(row, one) for t in store.committed for row, one in _changed(store, t).items() if is_asked]
    ended = set(_ended(store)) if changes else set()
    return [
        Pair(row, change, lock, after_a_change(change, lock, is_over=is_over))
        for row, change in changes
        for lock in _locked(store, row)
        if lock.place.transaction != change.place.transaction
        for is_over in [any((change.place.transaction, place) in ended for place in _until(lock.place))]
    ]


def after_a_change(change: Changed, lock: Changed, *, is_over: bool) -> Possible:
    """Whether a change can have come before the snapshot of a lock, or after the lock was taken.

    `is_over`: other locks of the two say that the change had been committed by then.
    """
    events = {"commit": change.commit, "snapshot": lock.snapshot, "lock": lock.taken}
    order = [("snapshot", "lock"), *([("commit", "lock")] if is_over else [])]
    found = set[str]()
    for world in worlds(events, order):
        is_seen = _goes("commit", "snapshot", world)
        found.add("before" if is_seen else "together" if _goes("commit", "lock", world) else "after")
    return possible(found)


def _ended(store: Store) -> Iterator[tuple[int, Place]]:
    """Transactions, each with the operation of another one that waited until it had ended."""
    for one in lock_order.of_locks(store):
        yield one.before, Place(one.after, one.place)


def _until(place: Place) -> list[Place]:
    """The operations of a transaction up to one of them."""
    return [Place(place.transaction, index) for index in range(place.operation + 1)]


def _locked(store: Store, row: object) -> Iterator[Changed]:
    """First locks of a row that a read found and its transaction did not change before."""
    for t in store.committed:
        times = store.times[t.number]
        for index, operation in enumerate(t.operations):
            own = any(o.kind in WRITES and store.row(token(o.key)) == row for o in t.operations[:index])
            is_held = any(_locks(store, o, row) for o in t.operations[:index])
            snapshot = times.before_write(index)
            if (
                own
                or is_held
                or not _locks(store, operation, row)
                or snapshot is None
                or times.commit is None
            ):
                continue
            yield Changed(Place(t.number, index), snapshot, times.commit, taken=times.operation(index))


def _locks(store: Store, operation: Operation, row: object) -> bool:
    """Whether a read locks a row that it found."""
    rows = [store.row(key) for key in found_rows(operation)] if operation.kind in READS else []
    return row in rows and conduct_of(operation, store.profile).lock is not Lock.NONE


def pairs(store: Store, *, exempt: bool) -> list[Pair]:
    """Every two committed transactions that changed the same row; `exempt`: new rows are."""
    rows: dict[object, list[Changed]] = {}
    for t in store.committed:
        for row, changed in _changed(store, t).items():
            rows.setdefault(row, []).append(changed if exempt else changed._replace(is_new=False))
    return [
        Pair(row, one, other, one_after_the_other(one, other))
        for row, changes in rows.items()
        for two in combinations(changes, 2)
        for one, other in [sorted(two, key=lambda changed: (changed.commit, changed.place))]
    ]


def one_after_the_other(one: Changed, other: Changed) -> Possible:
    """Which of two can have committed before the other's snapshot; before a new row, before its commit."""
    events = {"s1": one.snapshot, "c1": one.commit, "s2": other.snapshot, "c2": other.commit}
    found = set[str]()
    for world in worlds(events, [("s1", "c1"), ("s2", "c2")]):
        is_before = _goes("c1", "c2" if other.is_new else "s2", world)
        is_after = _goes("c2", "c1" if one.is_new else "s1", world)
        found.add("before" if is_before else "after" if is_after else "together")
    return possible(found)


def _goes(event: str, other: str, world: World[str]) -> bool:
    return world.index(event) < world.index(other)


def _changed(store: Store, transaction: Transaction) -> dict[object, Changed]:
    """The rows that a transaction changed, each by its first write."""
    times = store.times[transaction.number]
    found: dict[object, Changed] = {}
    for index, operation in enumerate(transaction.operations):
        row = store.row(token(operation.key))
        snapshot = times.before_write(index)
        place = Place(transaction.number, index)
        if operation.kind not in WRITES or row in found or snapshot is None or times.commit is None:
            continue
        if not store.finds(place):
            continue
        is_new = any(
            one.kind is OperationKind.INSERT and store.row(token(one.key)) == row
            for one in transaction.operations
        )
        found[row] = Changed(place, snapshot, times.commit, is_new, times.operation(index))
    return found
