"""The case of a read that shows no candidate: the first one that fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from isoscope.reference.mechanisms import observations as looks
from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.reference.mechanisms.observations import Observation
    from isoscope.reference.mechanisms.versions import Place, Store, Version, Write

__all__ = [
    "ABORTED",
    "FUTURE",
    "MISSING_ROW",
    "NAME",
    "STALE",
    "THIN_AIR",
    "TORN",
    "named",
    "of_elements",
    "own",
]

NAME = "inconsistent-read"
STALE, FUTURE, ABORTED, INTERMEDIATE = "stale", "future", "aborted", "intermediate"
THIN_AIR, OWN, MISSING_ROW, TORN = "thin-air", "own", "missing-row", "torn"


def own(seen: Observation) -> Finding | None:
    """A read must show the own write; a list must end with the own appends."""
    assert seen.own is not None
    return None if seen.value == seen.own.value else Finding(NAME, OWN, (seen.place, seen.own.place))


def of_elements(store: Store, seen: Observation) -> Finding | None:
    """An element of a list that was rolled back, not committed yet or never appended, or that it lacks."""
    elements = seen.value if store.shape(seen.key) == "list" and isinstance(seen.value, tuple) else ()
    misread = _Misread(store, seen, frozenset())
    writers = [misread.writers(element) for element in elements]
    undone = [w[0].place for w in writers if w and all(map(misread.is_undone, w))]
    if undone:
        return misread.found(ABORTED, undone[0])
    early = [w[0].place for w in writers if w and all(map(misread.is_future, w))]
    if early:
        return misread.found(FUTURE, early[0])
    return misread.found(THIN_AIR) if [] in writers else misread.lacking(elements)


def named(
    store: Store, seen: Observation, order: frozenset[tuple[int, int]], found: Iterable[int]
) -> Finding:
    """Why a read shows none of the candidates that were `found`."""
    misread = _Misread(store, seen, order)
    return misread.missing(found) if seen.is_absent else misread.named()


@dataclass(frozen=True)
class _Misread:
    store: Store
    seen: Observation
    order: frozenset[tuple[int, int]]

    def missing(self, candidates: Iterable[int]) -> Finding:
        due = max((self.versions[number] for number in candidates), key=_age, default=None)
        return self.found(MISSING_ROW, due.place if due else None)

    def named(self) -> Finding:
        shown = sorted((v for v in self.versions.values() if self.shows(v)), key=_age)
        hidden = [(v, hider) for v in shown for hider in self.hiding(v)]
        if hidden:
            return self.found(STALE, *(version.place for version in hidden[-1]))
        writers = self.writers(self.sought)
        later = [w for w in writers if w.place.transaction == self.seen.place.transaction]
        if shown or later:
            return self.found(FUTURE, shown[0].place if shown else later[0].place)
        undone = [write for write in writers if self.is_undone(write)]
        case = ABORTED if undone else INTERMEDIATE if writers else THIN_AIR
        return self.found(case, *(write.place for write in (undone or writers)[:1]))

    def found(self, case: str, *places: Place | None) -> Finding:
        return Finding(NAME, case, (self.seen.place, *(place for place in places if place)))

    @cached_property
    def versions(self) -> dict[int, Version]:
        return looks.of_others(self.store, self.seen)

    def shows(self, version: Version) -> bool:
        return looks.shows(self.store, self.seen, version)

    def hiding(self, version: Version) -> list[Version]:
        """Versions that certainly came after this one and were certainly there at every snapshot."""
        snapshots = looks.snapshots(self.store, self.seen)
        there = [v for v in self.versions.values() if v.is_certain and all(map(v.span.precedes, snapshots))]
        return sorted((v for v in there if self.is_older(version, v)), key=_age)

    def is_older(self, version: Version, other: Version) -> bool:
        is_deduced = (version.transaction, other.transaction) in self.order
        return other.transaction != INITIAL and (is_deduced or version.span.precedes(other.span))

    @property
    def sought(self) -> object:
        """The value that a write must have left: of a list, the last element."""
        value = self.seen.value
        is_list = self.store.shape(self.seen.key) == "list"
        return value[-1] if is_list and isinstance(value, tuple) and value else value

    def writers(self, value: object) -> list[Write]:
        """Every write of a value to the key, of transactions that committed or not."""
        numbers = (t.number for t in self.store.transactions)
        writes = (w for number in numbers for w in self.store.writes(self.seen.key, number))
        return [write for write in writes if write.value == value]

    def lacking(self, elements: tuple[object, ...]) -> Finding | None:
        """A list that does not show the last append of a transaction that certainly had committed."""
        if self.store.shape(self.seen.key) != "list":
            return None
        snapshots = looks.snapshots(self.store, self.seen)
        lacked = [
            version.place
            for version in self.versions.values()
            if version.is_certain and isinstance(version.value, tuple) and version.value
            if version.value[-1] not in elements and all(map(version.span.precedes, snapshots))
        ]
        return self.found(STALE, lacked[0]) if lacked else None

    def is_future(self, write: Write) -> bool:
        appears = self.store.times[write.place.transaction].appears
        snapshots = looks.snapshots(self.store, self.seen)
        is_last = write == self.store.writes(self.seen.key, write.place.transaction)[-1]
        return is_last and appears is not None and all(one.precedes(appears) for one in snapshots)

    def is_undone(self, write: Write) -> bool:
        return self.store.times[write.place.transaction].commit is None


def _age(version: Version) -> tuple[float, float, int]:
    return version.span.invoke, version.span.complete, version.transaction
