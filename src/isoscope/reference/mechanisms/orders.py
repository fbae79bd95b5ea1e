"""The order of two versions of a key: what each mechanism deduces from its worlds, if it works.

- *intervals*: one had appeared before the commit of the other was asked for;
- *locks*: their transactions can have held them in one order alone;
- *snapshots*: one alone can have committed before the other's snapshot;
- *reads*: what a read can only show was the newest at its snapshot: after all that was certainly there,
  before all that certainly was not, and before what its reader writes. In a list one element is before the
  next.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, NamedTuple

from isoscope.reference.mechanisms import consistent_read, first_updater_wins, lock_order
from isoscope.reference.mechanisms import observations as looks
from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.worlds import closure
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isoscope.reference.mechanisms.consistent_read import Reading
    from isoscope.reference.mechanisms.versions import Place, Store

__all__ = [
    "NAME",
    "Order",
    "Source",
    "contradictions",
    "deduced",
    "known",
    "of_pairs",
    "of_reads",
    "readings",
]

NAME = "contradictory-dependencies"


class Source(IntEnum):
    """The evidence for which of two versions came first."""

    INTERVALS = 0
    LOCKS = 1
    SNAPSHOTS = 2
    READS = 3


class Order(NamedTuple):
    """The version of `before` came before that of `after`; `read` shows it."""

    source: Source
    key: object
    before: int
    after: int
    read: Place | None = None


def deduced(store: Store) -> frozenset[Order]:
    """All that is deduced: what reads show follows from what the others say of their candidates."""
    found = of_pairs(store)
    return found | {order for reading in readings(store, found) for order in of_reads(store, reading)}


def known(orders: Iterable[Order], key: object) -> frozenset[tuple[int, int]]:
    """Which versions of a key came before which, with all that follows.

    Where that contradicts itself, only the orders of intervals are taken.
    """
    of_key = [order for order in orders if order.key == key]
    whole = closure((order.before, order.after) for order in of_key)
    if any(before == after for before, after in whole):
        return closure((o.before, o.after) for o in of_key if o.source is Source.INTERVALS)
    return whole


def readings(store: Store, orders: Iterable[Order] = ()) -> list[Reading]:
    """What every read means, given an order of versions.

    An order that only reads show hides no version: if one read contradicts another, both are reported.
    """
    everything = [order for order in orders if order.source is not Source.READS]
    order = {key: known(everything, key) for key in store.keys}
    return [
        consistent_read.read(store, observation, order.get(observation.key, ()))
        for observation in looks.observations(store)
    ]


def of_pairs(store: Store) -> frozenset[Order]:
    """The orders of intervals, locks, snapshots and lists; reads need not be judged for them."""
    return frozenset([*_of_intervals(store), *_of_locks(store), *_of_snapshots(store), *_of_lists(store)])


def of_reads(store: Store, reading: Reading) -> Iterator[Order]:
    """What follows from a read that can only show one version, and not the first state."""
    shown, seen = reading.source, reading.observation
    if shown is None or shown == INITIAL:
        return
    snapshots = looks.snapshots(store, seen)
    for version in store.versions(seen.key):
        if version.transaction in (shown, INITIAL):
            continue
        is_there = version.is_certain and all(map(version.span.precedes, snapshots))
        is_later = all(snapshot.precedes(version.span) for snapshot in snapshots)
        if is_there:
            yield Order(Source.READS, seen.key, version.transaction, shown, seen.place)
        if is_later or version.transaction == seen.place.transaction:
            yield Order(Source.READS, seen.key, shown, version.transaction, seen.place)


def _of_intervals(store: Store) -> Iterator[Order]:
    for key in store.keys:
        for one, other in permutations(store.versions(key)[1:], 2):
            if one.span.precedes(other.span):
                yield Order(Source.INTERVALS, key, one.transaction, other.transaction)


def _of_locks(store: Store) -> Iterator[Order]:
    """Transactions that held locks one after the other committed so."""
    for one in lock_order.of_locks(store):
        for key in _both_wrote(store, one.before, one.after):
            yield Order(Source.LOCKS, key, one.before, one.after)


def _both_wrote(store: Store, one: int, other: int) -> list[object]:
    return [key for key in store.keys if {one, other} <= {v.transaction for v in store.versions(key)}]


def _of_snapshots(store: Store) -> Iterator[Order]:
    for row, one, other, orders in first_updater_wins.asked(store):
        two = (one.place.transaction, other.place.transaction)
        before, after = two if orders.before else two[::-1]
        for key in _both_wrote(store, *two) if orders.is_ordered else ():
            if store.row(key) == row:
                yield Order(Source.SNAPSHOTS, key, before, after)


def _of_lists(store: Store) -> Iterator[Order]:
    """Elements next to each other whose writers are known."""
    for seen in looks.observations(store):
        elements = seen.value if store.shape(seen.key) == "list" and isinstance(seen.value, tuple) else ()
        writers = [_appended(store, seen.key, element) for element in elements]
        for before, after in pairwise(writers):
            if before is not None and after is not None and before != after:
                yield Order(Source.READS, seen.key, before, after, seen.place)


def _appended(store: Store, key: object, element: object) -> int | None:
    """The only transaction that appended an element, if it may have committed."""
    writers = [
        t.number for t in store.transactions for w in store.writes(key, t.number) if w.value == element
    ]
    return writers[0] if len(writers) == 1 and store.times[writers[0]].commit else None


def contradictions(store: Store, orders: Iterable[Order]) -> Iterator[Finding]:
    """Agreement: what one mechanism deduces, no other may deduce the other way round."""
    everything = sorted(orders, key=lambda o: (o.source, str(o.key), o.before, o.after, o.read or (-1, -1)))
    for one in everything:
        for other in everything:
            is_opposite = (one.key, one.before, one.after) == (other.key, other.after, other.before)
            if is_opposite and (one.source, one.before) < (other.source, other.before):
                writes = (store.writes(one.key, number)[-1].place for number in (one.before, one.after))
                shown = (read for read in (one.read, other.read) if read is not None)
                case = f"{one.source.name}-{other.source.name}".lower()
                yield Finding(NAME, case, (*writes, *shown))
