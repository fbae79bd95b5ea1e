"""Serialization certifier: did transactions commit that the database should have refused?

Li et al. 2023, Section V-D, from dependencies that are certain. An edge rw is *direct* if no other version
can be between the one that was read and the one that its reader missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from isoscope.profiles import Certifier
from isoscope.reference.mechanisms import first_updater_wins
from isoscope.reference.mechanisms.conduct import WRITES
from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.worlds import worlds
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.reference.mechanisms.consistent_read import Reading
    from isoscope.reference.mechanisms.versions import Place, Store
    from isoscope.reference.mechanisms.worlds import Span

__all__ = ["NAME", "Missed", "findings", "missed", "nexts"]

NAME = "certifier-violation"


class Missed(NamedTuple):
    """An edge rw: the read of one transaction and the write of another that it did not see.

    `is_direct`: no version can be between what it shows and what it misses.
    """

    read: Place
    write: Place
    key: object
    is_direct: bool


def missed(
    store: Store, readings: Iterable[Reading], known: Mapping[object, frozenset[tuple[int, int]]]
) -> list[Missed]:
    """Certain edges rw: of a read that can only show one version, to what certainly came after it."""
    return [
        Missed(
            reading.observation.place,
            write.place,
            key,
            _is_direct(store, key, order, (shown, write.transaction)),
        )
        for reading in readings
        for shown, key in [(reading.source, reading.observation.key)]
        for order in [known.get(key, frozenset())]
        for write in store.versions(key)
        if shown is not None
        and write.place is not None
        and write.is_certain
        and write.transaction != reading.observation.place.transaction
        and _is_before(shown, write.transaction, order)
    ]


def nexts(store: Store, key: object, shown: int, order: frozenset[tuple[int, int]]) -> list[int]:
    """Whose version may directly follow the one that was shown."""
    numbers = [v.transaction for v in store.versions(key) if v.transaction not in (shown, INITIAL)]
    later = [n for n in numbers if not _is_before(n, shown, order)]
    return [
        n for n in later if not any(_is_before(shown, m, order) and _is_before(m, n, order) for m in later)
    ]


def _is_before(one: int, other: int, order: frozenset[tuple[int, int]]) -> bool:
    return (one == INITIAL and other != INITIAL) or (one, other) in order


def _is_direct(store: Store, key: object, order: frozenset[tuple[int, int]], ends: tuple[int, int]) -> bool:
    shown, write = ends
    return all(
        _is_before(v.transaction, shown, order) or _is_before(write, v.transaction, order)
        for v in store.versions(key)
        if v.transaction not in ends
    )


def findings(store: Store, edges: list[Missed]) -> Iterator[Finding]:
    """What the certifier of the profile should have refused."""
    match store.profile.certifier:
        case Certifier.SSI:
            yield from _dangerous(store, [edge for edge in edges if edge.is_direct])
        case Certifier.TIMESTAMP_ORDER:
            yield from _against_time(store, edges)
        case Certifier.OPTIMISTIC_READS:
            yield from _overwritten(store, edges)
        case Certifier.OPTIMISTIC_WRITES:
            for pair in first_updater_wins.pairs(store, exempt=False):
                if pair.orders.is_violated:
                    yield Finding(NAME, Certifier.OPTIMISTIC_WRITES, (pair.one.place, pair.other.place))


def _dangerous(store: Store, edges: list[Missed]) -> Iterator[Finding]:
    """`ssi`: T1 -rw-> T2 -rw-> T3, of which T3 certainly committed first."""
    for one in edges:
        for two in edges:
            if one.write.transaction == two.read.transaction and _is_refused(store, one, two):
                yield Finding(NAME, Certifier.SSI, (one.read, one.write, two.read, two.write))


def _is_refused(store: Store, one: Missed, two: Missed) -> bool:
    t1, t2, t3 = one.read.transaction, two.read.transaction, two.write.transaction
    if any(store.times[number].of_transaction is None for number in (t1, t2, t3)):
        return False  # without a snapshot it is concurrent with none
    if t1 == t3:
        return t1 < t2  # one of the two commits first; the cycle is found from both, and counted once
    if store.profile.clock_skew:
        return False  # real time does not tell which of three commits was the first
    events = _instants(store, (t1, t2, t3))
    order = [*((f"s{n}", f"c{n}") for n in (t1, t2, t3)), (f"s{t1}", f"c{t2}"), (f"s{t2}", f"c{t3}")]
    needed = [(f"c{t3}", f"c{t1}"), (f"c{t3}", f"c{t2}")]
    if not any(o.kind in WRITES for o in store.transactions[t1].operations):
        needed.append((f"c{t3}", f"s{t1}"))
    every = [world for world in worlds(events, order) if f"s{t1}" in world]
    return bool(every) and all(w.index(a) < w.index(b) for w in every for a, b in needed)


def _instants(store: Store, numbers: tuple[int, ...]) -> dict[str, Span]:
    """Snapshots and commits. That each two are concurrent follows: none saw what the next one wrote."""
    events: dict[str, Span] = {}
    for number in numbers:
        times = store.times[number]
        assert times.commit is not None
        assert times.of_transaction is not None
        events[f"s{number}"] = times.of_transaction
        events[f"c{number}"] = times.commit
    return events


def _overwritten(store: Store, edges: list[Missed]) -> Iterator[Finding]:
    """`optimistic-reads`: a transaction wrote, and one of its reads was overwritten before it committed."""
    for edge in edges:
        reader, writer = edge.read.transaction, edge.write.transaction
        commit, other = store.times[reader].commit, store.times[writer].commit
        is_late = commit is not None and other is not None and other.precedes(commit)
        if is_late and any(o.kind in WRITES for o in store.transactions[reader].operations):
            yield Finding(NAME, Certifier.OPTIMISTIC_READS, (edge.read, edge.write))


def _against_time(store: Store, edges: list[Missed]) -> Iterator[Finding]:
    """`timestamp-order`: a transaction overwrote what another one read that began after it had ended.

    A read of a version whose transaction began after the reader had ended shows a future version.
    """
    for before, after in [(edge.read, edge.write) for edge in edges]:
        ended = store.times[after.transaction].commit
        if ended is not None and ended.complete < store.times[before.transaction].begin:
            yield Finding(NAME, Certifier.TIMESTAMP_ORDER, (before, after))
