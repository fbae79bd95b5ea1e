"""Which transactions came after which others as a whole: what locks and first updater wins say of reads.

Two transactions whose locks on a thing exclude each other held them one after the other. The versions of the
first one are there for every statement of the other that follows its lock, and none of the other's versions
is there for any read of the first. First updater wins says the same of the other's snapshot.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from isoscope.profiles import Granularity, Lock, Read, Snapshot
from isoscope.reference.mechanisms import first_updater_wins
from isoscope.reference.mechanisms.conduct import conduct_of
from isoscope.reference.mechanisms.lock_order import Sequence, of_locks
from isoscope.reference.mechanisms.versions import NOTHING
from isoscope.reference.mechanisms.worlds import Instant

if TYPE_CHECKING:
    from isoscope.reference.mechanisms.observations import Observation
    from isoscope.reference.mechanisms.versions import Store

__all__ = ["of_snapshots", "seen_by"]


@lru_cache(maxsize=4)
def of_snapshots(store: Store) -> tuple[Sequence, ...]:
    """Of two transactions that changed a row, the one that can have committed before the other's snapshot.

    One that only locked the row need not have ended before the snapshot of one that changed it then.
    """
    if store.profile.snapshot is Snapshot.STATEMENT:
        return ()
    locked = [pair for pair in first_updater_wins.locked(store) if pair.orders.before]
    found = [
        Sequence(row, *(two if orders.before else two[::-1]), 0)
        for row, one, other, orders in [*first_updater_wins.asked(store), *locked]
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
