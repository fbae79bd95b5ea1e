"""Torn reads: each can be right by itself, but no instant of their snapshot fits all of them.

Reads of the snapshot of a transaction have one instant in common, and so have the rows that one statement
reads from its own snapshot. All versions of a transaction appear at one instant, so that the worlds here are
orders of commits. Where clocks differ, real time orders only commits that have a key in common.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from isoscope.history import OperationKind
from isoscope.profiles import Read
from isoscope.reference.mechanisms import consistent_read
from isoscope.reference.mechanisms import observations as looks
from isoscope.reference.mechanisms.conduct import conduct_of
from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.misreads import NAME, TORN
from isoscope.reference.mechanisms.worlds import EVER, Instant, Span, worlds
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.reference.mechanisms.consistent_read import Reading
    from isoscope.reference.mechanisms.observations import Observation
    from isoscope.reference.mechanisms.versions import Store, Version
    from isoscope.reference.mechanisms.worlds import World

__all__ = ["findings"]

Pairs = frozenset[tuple["int | Instant", "int | Instant"]]


def findings(
    store: Store, readings: list[Reading], known: Mapping[object, frozenset[tuple[int, int]]]
) -> Iterator[Finding]:
    """Reads of one snapshot that no instant fits: two of them, or else all together."""
    for group in _groups(store, readings):
        wrong: list[Sequence[Observation]] = [
            pair for pair in combinations(group, 2) if not _fits(store, pair, known)
        ]
        if not wrong and len(group) > 2 and not _fits(store, group, known):
            wrong = [group]
        for reads in wrong:
            yield Finding(NAME, TORN, tuple(dict.fromkeys(one.place for one in reads)))


def _groups(store: Store, readings: list[Reading]) -> list[list[Observation]]:
    """What is read from one snapshot, where each read is right by itself."""
    found: dict[tuple[int, int | None], list[Observation]] = {}
    for reading in readings:
        seen = reading.observation
        number, place = seen.place
        is_whole = store.times[number].is_of_transaction(place)
        if reading.matches and store.shape(seen.key) == "register" and _is_of_snapshot(store, seen):
            found.setdefault((number, None if is_whole else place), []).append(seen)
    return [group for group in found.values() if len(group) > 1]


def _is_of_snapshot(store: Store, seen: Observation) -> bool:
    """Whether a read shows a snapshot alone: by its mode, and because its row was not changed before."""
    operation = store.operation(seen.place)
    is_consistent = conduct_of(operation, store.profile).read is Read.CONSISTENT
    is_known = not seen.is_absent or operation.kind is OperationKind.RANGE_READ
    return is_consistent and is_known and len(looks.snapshots(store, seen)) == 1


def _fits(
    store: Store, reads: Sequence[Observation], known: Mapping[object, frozenset[tuple[int, int]]]
) -> bool:
    """Whether in some world one instant shows them all."""
    versions = {seen.key: looks.of_others(store, seen) for seen in reads}
    commits = {number: one for own in versions.values() for number, one in own.items() if number != INITIAL}
    certain = {n for n in commits if any(n in own and own[n].is_certain for own in versions.values())}
    order: Pairs = frozenset().union(
        *(known.get(key, frozenset()) for key in versions),
        *(consistent_read.around(store, seen) for seen in reads),
    )
    shown = {n for seen in reads for n, one in versions[seen.key].items() if looks.shows(store, seen, one)}
    events: dict[int | Instant, Span] = {
        n: one.span for n, one in commits.items() if n in certain or n in shown
    }
    snapshot = looks.snapshots(store, reads[0])[0]
    return any(
        all(_shows(store, seen, versions[seen.key], world) for seen in reads)
        for world in _worlds(store, events, snapshot, order, versions)
    )


def _worlds(
    store: Store,
    events: dict[int | Instant, Span],
    snapshot: Span,
    order: Pairs,
    versions: Mapping[object, Mapping[int, Version]],
) -> Iterator[World[int | Instant]]:
    spans: dict[int | Instant, Span] = {**events, Instant.SNAPSHOT: snapshot}
    if not store.profile.clock_skew:
        yield from worlds(spans, order)
        return
    related = {
        (one, other)
        for own in versions.values()
        for one, before in spans.items()
        for other, after in spans.items()
        if before.precedes(after) and {one, other} <= {*own, Instant.SNAPSHOT}
    }
    yield from worlds(dict.fromkeys(spans, EVER), order | related)


def _shows(
    store: Store, seen: Observation, versions: Mapping[int, Version], world: World[int | Instant]
) -> bool:
    """Whether the read shows the newest version at the instant; one that is not certain can be left out."""
    past = world[: world.index(Instant.SNAPSHOT)]
    for event in reversed(past):
        if isinstance(event, int) and event in versions:
            if looks.shows(store, seen, versions[event]):
                return True
            if versions[event].is_certain:
                return False
    return looks.shows(store, seen, versions[INITIAL])
