"""Which transactions came after which others as a whole: what locks and first updater wins say of reads.

Two transactions whose locks on a thing exclude each other held them one after the other. The versions of the
first one are there for every statement of the other that follows its lock, and none of the other's versions
is there for any read of the first. First updater wins says the same of the other's snapshot.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from isoscope.profiles import Granularity, Lock, Read, Snapshot
from isoscope.reference.mechanisms import first_updater_wins, mutual_exclusion
from isoscope.reference.mechanisms.conduct import conduct_of
from isoscope.reference.mechanisms.versions import NOTHING
from isoscope.reference.mechanisms.worlds import Instant, Possible
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.reference.mechanisms.mutual_exclusion import Held
    from isoscope.reference.mechanisms.observations import Observation
    from isoscope.reference.mechanisms.versions import Store

__all__ = ["Sequence", "of_locks", "of_snapshots", "seen_by"]


class Sequence(NamedTuple):
    """`before` ended before the operation of `after` at `place`, and so before everything behind it.

    `resource` is what both locked; of a snapshot the row that both changed.
    """

    resource: object
    before: int
    after: int
    place: int


@lru_cache(maxsize=4)
def of_locks(store: Store) -> tuple[Sequence, ...]:
    """Every pair of locks of two transactions on a thing must allow for their order, and one order alone."""
    said: dict[tuple[object, int, int], list[tuple[Possible, int, int]]] = {}
    for case, one, other, orders in mutual_exclusion.pairs(store):
        resource = _resource(store, case, one, other)
        low, high = sorted((one, other), key=lambda lock: lock.place.transaction)
        turned = orders if low is one else Possible(orders.after, orders.before, orders.together)
        two = (resource, low.place.transaction, high.place.transaction)
        said.setdefault(two, []).append((turned, _since(case, low, other), _since(case, high, other)))
    return tuple(_sequences(said))


def _resource(store: Store, case: str, one: Held, other: Held) -> object:
    """What both locked; of a predicate, the row that was inserted."""
    new = other.inserted or one.inserted
    return store.row(token(new[0])) if case == mutual_exclusion.PREDICATE and new else other.resource


def _since(case: str, lock: Held, committing: Held) -> int:
    """The operation that waited for a lock; a commit waits behind all of them."""
    is_commit = case == mutual_exclusion.WHILE_COMMITTING and lock is committing
    return 1_000_000 if is_commit else lock.place.operation


def _sequences(
    said: dict[tuple[object, int, int], list[tuple[Possible, int, int]]],
) -> Iterator[Sequence]:
    for (resource, low, high), every in said.items():
        is_before, is_after = all(o.before for o, _, _ in every), all(o.after for o, _, _ in every)
        if is_before and not is_after:
            yield Sequence(resource, low, high, min(place for _, _, place in every))
        if is_after and not is_before:
            yield Sequence(resource, high, low, min(place for _, place, _ in every))


@lru_cache(maxsize=4)
def of_snapshots(store: Store) -> tuple[Sequence, ...]:
    """Of two transactions that changed a row, the one that can have committed before the other's snapshot."""
    if store.profile.snapshot is Snapshot.STATEMENT:
        return ()
    pairs = [*first_updater_wins.asked(store), *first_updater_wins.locked(store)]
    found = [
        Sequence(row, *(two if orders.before else two[::-1]), 0)
        for row, one, other, orders in pairs
        for two in [(one.place.transaction, other.place.transaction)]
        if orders.is_ordered and not (other if orders.before else one).is_new
    ]
    return tuple(found)


def seen_by(store: Store, seen: Observation) -> frozenset[tuple[int | Instant, int | Instant]]:
    """Whose commits were certainly before the instant at which a read looked, and whose after it.

    Where clocks differ that is known of the key alone that both are about.
    """
    reader, place = seen.place
    is_whole = store.times[reader].is_of_transaction(place)
    pairs = set[tuple[int | Instant, int | Instant]]()
    locks, snapshots = (
        [one for one in sequences if not store.profile.clock_skew or one.resource == store.row(seen.key)]
        for sequences in (of_locks(store), of_snapshots(store))
    )
    for one in [*locks, *snapshots]:
        if one.before == reader:
            pairs.add((Instant.SNAPSHOT, one.after))
    for one in locks:
        waits = one.place < place or (one.place == place and _is_at_lock(store, seen, one))
        if one.after == reader and not is_whole and waits:
            pairs.add((one.before, Instant.SNAPSHOT))
    for one in snapshots:
        if one.after == reader and is_whole:
            pairs.add((one.before, Instant.SNAPSHOT))
    return frozenset(pairs)


def _is_at_lock(store: Store, seen: Observation, one: Sequence) -> bool:
    """Whether the read looked at the row when it had locked it; a row that is not there has no lock."""
    conduct = conduct_of(store.operation(seen.place), store.profile)
    is_row = store.profile.granularity is not Granularity.ROW or store.row(seen.key) == one.resource
    is_locked = conduct.lock is not Lock.NONE and (seen.value != NOTHING or conduct.predicate)
    return is_row and is_locked and conduct.read is Read.LOCKING
