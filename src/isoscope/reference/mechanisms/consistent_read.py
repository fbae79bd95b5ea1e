"""Consistent read: does a read show a version that can have been the newest one at its snapshot?

Li et al. 2023, Section V-A, with versions that appear at the commit. A version is a *candidate* if in some
world it is the newest one at the snapshot. What a transaction wrote itself is shown, whatever others do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.reference.mechanisms import misreads, precedence, uncommitted_read
from isoscope.reference.mechanisms import observations as looks
from isoscope.reference.mechanisms.versions import NOTHING
from isoscope.reference.mechanisms.worlds import Instant, Span, worlds
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.reference.mechanisms.findings import Finding
    from isoscope.reference.mechanisms.observations import Observation
    from isoscope.reference.mechanisms.versions import Store, Version

__all__ = ["Reading", "around", "candidates", "read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one observation can mean: the versions that may be there, and those that it can show.

    Of an own value, and of a read of uncommitted data, nothing is deduced: there are no `matches`.
    `is_undecided`: in some worlds it is right, in others wrong.
    """

    observation: Observation
    candidates: frozenset[int] = frozenset()
    matches: frozenset[int] = frozenset()
    is_undecided: bool = False
    finding: Finding | None = None

    @property
    def source(self) -> int | None:
        """The one transaction whose version it can be."""
        return next(iter(self.matches)) if len(self.matches) == 1 else None


def candidates(
    versions: Iterable[Version],
    snapshot: Span,
    order: Iterable[tuple[int | Instant, int | Instant]] = (),
) -> frozenset[int]:
    """Whose version of a key can be the newest at the snapshot.

    A version that may not be committed can be, and need not. `order` are versions of
    which it is known which came first, with all that follows from it, also before or after the snapshot.
    """
    everything = list(versions)
    certain = [version for version in everything if version.is_certain]
    known = frozenset(order)
    found = _newest(certain, snapshot, known)
    for version in everything:
        if not version.is_certain:
            found |= _newest([*certain, version], snapshot, known) & {version.transaction}
    return found


def _newest(
    versions: list[Version], snapshot: Span, order: frozenset[tuple[int | Instant, int | Instant]]
) -> frozenset[int]:
    events: dict[int | Instant, Span] = {version.transaction: version.span for version in versions}
    events[Instant.SNAPSHOT] = snapshot
    first = {(INITIAL, event) for event in events if event != INITIAL}
    return frozenset(
        newest
        for world in worlds(events, order | first)
        for newest in [world[world.index(Instant.SNAPSHOT) - 1]]
        if isinstance(newest, int)
    )


def read(store: Store, observation: Observation, order: Iterable[tuple[int, int]] = ()) -> Reading:
    """Judges what a read says of a key."""
    if observation.is_own:
        return Reading(observation=observation, finding=misreads.own(observation))
    if observation.may_be_own and observation.value == NOTHING:
        return Reading(observation=observation, is_undecided=True)
    if observation.is_uncommitted:
        finding, is_undecided = uncommitted_read.judged(store, observation)
        return Reading(observation=observation, finding=finding, is_undecided=is_undecided)
    return _external(store, observation, frozenset(order))


def around(store: Store, seen: Observation) -> frozenset[tuple[int | Instant, int | Instant]]:
    """Whose versions were certainly there when a read looked, and whose were not, but for their times.

    A version is not there before its writer asks to commit, whatever instant the database chooses for it.
    """
    answered = store.times[seen.place.transaction].operation(seen.place.operation).complete
    writers = looks.of_others(store, seen).keys() - {INITIAL}
    unsent = {(Instant.SNAPSHOT, n) for n in writers if answered < store.times[n].sent}
    return precedence.seen_by(store, seen) | unsent


def _external(store: Store, seen: Observation, order: frozenset[tuple[int, int]]) -> Reading:
    snapshots = looks.snapshots(store, seen)
    versions = looks.of_others(store, seen)
    every = order | around(store, seen)
    each = (candidates(versions.values(), snapshot, every) for snapshot in snapshots)
    found = frozenset[int]().union(*each)
    matches = frozenset(number for number in found if looks.shows(store, seen, versions[number]))
    if not matches and looks.may_be_lost(store, seen):
        return Reading(observation=seen, candidates=found, is_undecided=True)
    finding = misreads.of_elements(store, seen)
    if finding is None and not matches:
        finding = misreads.named(store, seen, order, found)
    return Reading(
        observation=seen,
        candidates=found,
        matches=matches if finding is None else frozenset(),
        is_undecided=finding is None and matches != found,
        finding=finding,
    )
