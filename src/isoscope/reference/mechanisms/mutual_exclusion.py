"""Mutual exclusion: can two conflicting locks have been held one after the other?

Li et al. 2023, Section V-B. A lock is held from an instant of the statement's span to an instant of the
commit's or the rollback's. If two are held at the same time in every world, it is a violation.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import UNKNOWN, OperationKind, Range
from isoscope.profiles import Granularity, Lock
from isoscope.reference.mechanisms.conduct import WRITES, conduct_of, conflicts
from isoscope.reference.mechanisms.versions import Place, found_rows, is_inside
from isoscope.reference.mechanisms.worlds import Possible, Span, possible, worlds
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import Operation, Scalar
    from isoscope.reference.mechanisms.versions import Store
    from isoscope.reference.mechanisms.worlds import World

__all__ = [
    "LOCKS",
    "NAME",
    "PREDICATE",
    "WHILE_COMMITTING",
    "Held",
    "Pair",
    "held",
    "one_after_the_other",
    "pairs",
    "resources_of",
]

NAME = "lock-violation"
LOCKS, PREDICATE, WHILE_COMMITTING = "row", "predicate", "commit"


class Held(NamedTuple):
    """A lock that a transaction held on a row, table or database; `bounds`: on all keys between, instead.

    `inserted` is the key of a new row.
    """

    place: Place
    resource: object
    mode: Lock
    taken: Span
    released: Span
    bounds: tuple[Scalar, Scalar] | None = None
    inserted: tuple[Scalar] | None = None


class Pair(NamedTuple):
    """Two locks that exclude each other, and in which orders they can have been held."""

    case: str
    one: Held
    other: Held
    orders: Possible


def pairs(store: Store) -> list[Pair]:
    """Every pair of conflicting locks of two transactions."""
    locks = list(held(store))
    found = [
        Pair(case, one, other, one_after_the_other(one, other))
        for two in combinations(locks, 2)
        for one, other in [sorted(two, key=lambda lock: (lock.released, lock.place))]
        for case in [_conflict(store, one, other)]
        if case is not None
    ]
    return found + list(_while_committing(store, locks))


def one_after_the_other(one: Held, other: Held) -> Possible:
    """In which orders two locks can have been held."""
    events = {"t1": one.taken, "r1": one.released, "t2": other.taken, "r2": other.released}
    return possible(_kind(world) for world in worlds(events, [("t1", "r1"), ("t2", "r2")]))


def _kind(world: World[str]) -> str:
    if world.index("r1") < world.index("t2"):
        return "before"
    return "after" if world.index("r2") < world.index("t1") else "together"


def held(store: Store) -> Iterator[Held]:
    """Every lock that was certainly held, by transaction and operation."""
    for t in store.transactions:
        for index, operation in enumerate(t.operations):
            conduct = conduct_of(operation, store.profile)
            spans = store.times[t.number].lock(index) if conduct.lock is not Lock.NONE else None
            if spans is None or not store.finds(Place(t.number, index)):
                continue
            lock = Held(Place(t.number, index), None, conduct.lock, *spans)
            if operation.kind is OperationKind.INSERT:
                lock = lock._replace(inserted=(operation.key,))
            yield from (lock._replace(resource=resource) for resource in _resources(store, operation))
            if conduct.predicate and store.profile.granularity is Granularity.ROW:
                yield from (lock._replace(bounds=bounds) for bounds in _bounds(operation))


def resources_of(store: Store, key: object, transaction: int) -> set[object]:
    """What a transaction locked in order to write a key."""
    written = [store.operation(write.place) for write in store.writes(key, transaction)]
    return {resource for operation in written for resource in _resources(store, operation)}


def _resources(store: Store, operation: Operation) -> list[object]:
    """What an operation locks: the rows that it writes, or finds; the table or database that they are in."""
    rows = [store.row(key) for key in found_rows(operation)]
    match store.profile.granularity:
        case Granularity.DATABASE:
            return ["database"] if rows else []
        case Granularity.TABLE if operation.table is not None:
            return [("table", operation.table)] if rows else []
    return list(dict.fromkeys(rows))


def _bounds(operation: Operation) -> list[tuple[Scalar, Scalar]]:
    """The keys that a statement asks for, found or not; those that match a predicate are not known."""
    if isinstance(operation.value, Range) and operation.predicate is None:
        return [(operation.value.low, operation.value.high)]
    is_absent = operation.kind is OperationKind.READ and not found_rows(operation)
    return [(operation.key, operation.key)] if is_absent and operation.value is not UNKNOWN else []


def _conflict(store: Store, one: Held, other: Held) -> str | None:
    """How two locks exclude each other; None if they do not."""
    if one.place.transaction == other.place.transaction or not conflicts(one.mode, other.mode):
        return None
    if one.bounds or other.bounds:
        return PREDICATE if _covers(store, one, other) or _covers(store, other, one) else None
    return LOCKS if one.resource == other.resource else None


def _covers(store: Store, predicate: Held, row: Held) -> bool:
    """Whether a lock of a predicate covers a row that another statement inserts and that it did not find."""
    if predicate.bounds is None or row.inserted is None:
        return False
    asked, new = store.operation(predicate.place), store.operation(row.place)
    is_asked = is_inside(row.inserted[0], *predicate.bounds) and token(new.key) not in found_rows(asked)
    return is_asked and (asked.table, asked.columns) == (new.table, new.columns)


def _while_committing(store: Store, locks: list[Held]) -> Iterator[Pair]:
    """What a transaction holds on the rows that it changed while it commits."""
    for writer in store.committed:
        commit = store.times[writer.number].commit
        assert commit is not None
        for index, operation in enumerate(writer.operations):
            is_change = operation.kind in WRITES and store.finds(Place(writer.number, index))
            for resource in _resources(store, operation) if is_change else ():
                mode = store.profile.commit_lock
                lock = Held(Place(writer.number, index), resource, mode, commit, commit)
                for holder in locks:
                    if _conflict(store, holder, lock) == LOCKS:
                        yield Pair(WHILE_COMMITTING, holder, lock, _at_an_instant(holder, lock))


def _at_an_instant(holder: Held, committing: Held) -> Possible:
    """The lock of a commit need not be held longer than the instant at which the versions appear."""
    events = {"t1": holder.taken, "r1": holder.released, "t2": committing.taken}
    every = [(world, world.index("t2")) for world in worlds(events, [("t1", "r1")])]
    return possible(_kind((*world[:at], "t2", "r2", *world[at + 1 :])) for world, at in every)
