"""Torn reads: each can be right by itself, but no instant of their snapshot fits both.

Of a read that can only show one version the snapshot was taken after that version appeared, and before any
appeared that certainly came later.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from isoscope.reference.mechanisms import observations as looks
from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.misreads import NAME, TORN
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isoscope.reference.mechanisms.consistent_read import Reading
    from isoscope.reference.mechanisms.versions import Place, Store, Version

__all__ = ["findings"]


class _Window(NamedTuple):
    """When the snapshot of a read can have been taken: since `shown` appeared, until `newer` had."""

    read: Place
    key: object
    shown: Version
    newer: Version | None

    def is_after(self, other: _Window) -> bool:
        if other.key == self.key and other.shown.transaction != self.shown.transaction:
            return self.shown.transaction != INITIAL
        return other.newer is not None and other.newer.span.precedes(self.shown.span)


def findings(
    store: Store, readings: list[Reading], known: Mapping[object, frozenset[tuple[int, int]]]
) -> Iterator[Finding]:
    """Pairs of reads of one snapshot of which one is older than the other."""
    windows = [window for reading in readings for window in _windows(store, reading, known)]
    for earlier, later in permutations(windows, 2):
        is_one = earlier.read.transaction == later.read.transaction
        if is_one and later.is_after(earlier):
            places = (earlier.read, (earlier.newer or later.shown).place, later.read, later.shown.place)
            yield Finding(NAME, TORN, tuple(place for place in places if place is not None))


def _windows(
    store: Store, reading: Reading, known: Mapping[object, frozenset[tuple[int, int]]]
) -> Iterator[_Window]:
    seen, shown = reading.observation, reading.source
    snapshot = store.times[seen.place.transaction].of_transaction
    if shown is None or snapshot is None or looks.snapshots(store, seen) != [snapshot] or seen.is_absent:
        return
    versions = {version.transaction: version for version in store.versions(seen.key)}
    order = known.get(seen.key, frozenset())
    later = [
        version
        for number, version in versions.items()
        if version.is_certain
        and number not in (shown, INITIAL)
        and (shown == INITIAL or (shown, number) in order)
    ]
    newer = min(later, key=lambda version: version.span.complete, default=None)
    yield _Window(seen.place, seen.key, versions[shown], newer)
