"""Everything that the method of intervals finds in a history, for the profile of its database.

Cost: factorial in the versions of a key, on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import Status
from isoscope.profiles import Certifier
from isoscope.reference.mechanisms import (
    certifier,
    consistent_read,
    first_state,
    first_updater_wins,
    mutual_exclusion,
    orders,
    torn,
)
from isoscope.reference.mechanisms import observations as looks
from isoscope.reference.mechanisms.findings import Finding
from isoscope.reference.mechanisms.versions import Store
from isoscope.reference.observations import INITIAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.history import History
    from isoscope.profiles import Profile
    from isoscope.reference.mechanisms.orders import Order

__all__ = ["Checked", "Dependency", "Judged", "Tally", "judge", "judge_pairs"]


class Dependency(NamedTuple):
    """`after` certainly depends on `before`: transactions by number, the key as a `reads.token`."""

    kind: str
    before: int
    after: int
    key: object


class Checked(NamedTuple):
    """How many reads, pairs or edges a mechanism was asked about, and how many depend on the world."""

    checked: int = 0
    undecided: int = 0


class Tally(NamedTuple):
    """How many dependencies there are, how many intervals alone leave open, and how many all do."""

    total: int = 0
    overlapping: int = 0
    uncertain: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was found and deduced; `checked` by mechanism, `tallies` by kind of dependency.

    `findings` of mutual exclusion are all pairs of operations; a checker may name one of two transactions'.
    """

    findings: frozenset[Finding]
    dependencies: frozenset[Dependency]
    orders: frozenset[Order]
    checked: dict[str, Checked]
    tallies: dict[str, Tally]

    def cases(self) -> set[tuple[str, str]]:
        """The names and cases that were found."""
        return {(finding.name, finding.case) for finding in self.findings}


def judge(history: History, profile: Profile, clock_error: int = 0) -> Judged:
    """All that is found if the mechanisms share what they deduce."""
    store = _with_shown(history, profile, clock_error)
    return _judged(store, orders.deduced(store))


def judge_pairs(history: History, profile: Profile, clock_error: int = 0) -> Judged:
    """All that is found if mechanisms share nothing: reads are judged by the intervals alone."""
    store = Store(history, profile, clock_error)
    return _judged(store, frozenset(o for o in orders.of_pairs(store) if o.source is orders.Source.INTERVALS))


def _with_shown(history: History, profile: Profile, clock_error: int) -> Store:
    """An indeterminate transaction did commit if a transaction that did can only have read its write."""
    store, shown = Store(history, profile, clock_error), dict[int, float]()
    while True:
        found = dict[int, float]()
        for reading in orders.readings(store, orders.of_pairs(store)):
            writer = reading.source
            if writer not in (None, INITIAL) and store.transactions[writer].status is Status.INDETERMINATE:
                seen_by = max(one.complete for one in looks.snapshots(store, reading.observation))
                found[writer] = min(seen_by, found.get(writer, seen_by))
        if found.keys() <= shown.keys():
            return store
        shown |= found
        store = Store(history, profile, clock_error, shown)


def _judged(store: Store, deduced: frozenset[Order]) -> Judged:
    readings = orders.readings(store, deduced)
    known = {key: orders.known(deduced, key) for key in store.keys}
    edges = certifier.missed(store, readings, known)
    found = [
        *(reading.finding for reading in readings if reading.finding),
        *torn.findings(store, readings, known),
        *first_state.findings(readings),
        *_of_pairs(store),
        *certifier.findings(store, edges),
        *orders.contradictions(store, deduced),
    ]
    counted = _Counted(store, deduced)
    return Judged(
        findings=frozenset(found),
        dependencies=frozenset(counted.dependencies(edges)),
        orders=deduced,
        checked=counted.checked(),
        tallies={kind: counted.tally(kind) for kind in ("wr", "ww", "rw")},
    )


def _of_pairs(store: Store) -> Iterator[Finding]:
    for case, one, other, possible in mutual_exclusion.pairs(store):
        if possible.is_violated:
            swap = case == mutual_exclusion.PREDICATE and one.bounds is None
            places = (other.place, one.place) if swap else (one.place, other.place)
            yield Finding(mutual_exclusion.NAME, case, places)
    for pair in _updaters(store):
        if pair.orders.is_violated:
            yield Finding(first_updater_wins.NAME, "overlap", (pair.one.place, pair.other.place))


def _updaters(store: Store) -> list[first_updater_wins.Pair]:
    """First updater wins; the certifier that compares writers is asked as a certifier."""
    is_asked = store.profile.certifier is not Certifier.OPTIMISTIC_WRITES
    return [*first_updater_wins.asked(store), *first_updater_wins.locked(store)] if is_asked else []


class _Counted:
    """What there was to decide, and what was decided."""

    def __init__(self, store: Store, deduced: frozenset[Order]) -> None:
        self.store = store
        by_intervals = [order for order in deduced if order.source is orders.Source.INTERVALS]
        self.orders = {key: orders.known(deduced, key) for key in store.keys}
        self.by_intervals = {key: orders.known(by_intervals, key) for key in store.keys}
        self.readings = orders.readings(store, deduced)
        self.before = orders.readings(store, by_intervals)

    def checked(self) -> dict[str, Checked]:
        locks = [pair.orders for pair in mutual_exclusion.pairs(self.store)]
        updaters = [pair.orders for pair in _updaters(self.store)]
        return {
            "consistent-read": Checked(len(self.readings), sum(r.is_undecided for r in self.readings)),
            "mutual-exclusion": Checked(len(locks), sum(one.is_undecided for one in locks)),
            "first-updater-wins": Checked(len(updaters), sum(one.is_undecided for one in updaters)),
            "serialization-certifier": self.of_certifier(),
        }

    def of_certifier(self) -> Checked:
        """A certifier of writes is asked about pairs, any other about edges rw."""
        match self.store.profile.certifier:
            case Certifier.NONE:
                return Checked()
            case Certifier.OPTIMISTIC_WRITES:
                pairs = first_updater_wins.pairs(self.store, exempt=False)
                return Checked(len(pairs), sum(pair.orders.is_undecided for pair in pairs))
        edges = self.tally("rw")
        return Checked(edges.total, edges.uncertain)

    def tally(self, kind: str) -> Tally:
        every = {"wr": self.reads, "ww": self.writes, "rw": self.missed}[kind]()
        return Tally(len(every), sum(overlaps for overlaps, _ in every), sum(is_open for _, is_open in every))

    def reads(self) -> list[tuple[bool, bool]]:
        """Consistent reads of others' writes: several candidates by intervals alone, several that match."""
        return [
            (len(old.candidates) > 1, len(new.matches) > 1)
            for old, new in zip(self.before, self.readings, strict=True)
            if new.matches and new.matches != {INITIAL}
        ]

    def writes(self) -> list[tuple[bool, bool]]:
        """Pairs of committed versions of a key."""
        pairs = [(key, two) for key in self.store.keys for two in combinations(self.committed(key), 2)]
        return [
            (not {two, two[::-1]} & self.by_intervals[key], not {two, two[::-1]} & self.orders[key])
            for key, two in pairs
        ]

    def missed(self) -> list[tuple[bool, bool]]:
        """Reads after whose version there may be another: whether it is known which comes next."""
        return [
            (self.is_open(old, self.by_intervals), self.is_open(new, self.orders))
            for old, new in zip(self.before, self.readings, strict=True)
            if new.matches and self.may_miss(new)
        ]

    def may_miss(self, reading: consistent_read.Reading) -> bool:
        key, reader = reading.observation.key, reading.observation.place.transaction
        order = self.orders[key]
        return any(set(certifier.nexts(self.store, key, n, order)) - {reader} for n in reading.matches)

    def is_open(
        self, reading: consistent_read.Reading, known: dict[object, frozenset[tuple[int, int]]]
    ) -> bool:
        key, shown = reading.observation.key, reading.source
        if shown is None:
            return True
        after = certifier.nexts(self.store, key, shown, known[key])
        return len(after) > 1 or (shown != INITIAL and any((shown, n) not in known[key] for n in after))

    def committed(self, key: object) -> list[int]:
        return [v.transaction for v in self.store.versions(key) if v.is_certain and v.transaction != INITIAL]

    def dependencies(self, edges: list[certifier.Missed]) -> Iterator[Dependency]:
        """Each wr of a read with one meaning, ww of two versions, rw to the version that comes next."""
        for reading in self.readings:
            if reading.source not in (None, INITIAL):
                assert reading.source is not None
                seen = reading.observation
                yield Dependency("wr", reading.source, seen.place.transaction, seen.key)
        for key, order in self.orders.items():
            yield from (Dependency("ww", before, after, key) for before, after in order)
        for edge in edges:
            if edge.is_direct:
                yield Dependency("rw", edge.read.transaction, edge.write.transaction, edge.key)
