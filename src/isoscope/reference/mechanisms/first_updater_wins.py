"""First updater wins: of two that changed a row, had one committed before the other's snapshot?

Li et al. 2023, Section V-C, where snapshots are per transaction. The certifier `optimistic-writes`
(Percolator) asks the same of every write; here the later one is exempt if it inserted the row: no database
compares a new row with a deleted one.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from isoscope.history import OperationKind
from isoscope.reference.mechanisms.conduct import WRITES
from isoscope.reference.mechanisms.versions import Place
from isoscope.reference.mechanisms.worlds import Possible, Span, possible, worlds
from isoscope.reference.reads import token

if TYPE_CHECKING:
    from isoscope.history import Transaction
    from isoscope.reference.mechanisms.versions import Store
    from isoscope.reference.mechanisms.worlds import World

__all__ = ["NAME", "Changed", "Pair", "one_after_the_other", "pairs"]

NAME = "first-updater-violation"


class Changed(NamedTuple):
    """A transaction that changed a row: its first write of it, when it took its snapshot, and its commit."""

    place: Place
    snapshot: Span
    commit: Span
    is_new: bool = False


class Pair(NamedTuple):
    """Two committed transactions that changed a row, and which of them can have gone before the other."""

    row: object
    one: Changed
    other: Changed
    orders: Possible


def pairs(store: Store, *, exempt: bool) -> list[Pair]:
    """Every two committed transactions that changed the same row; `exempt`: new rows are."""
    rows: dict[object, list[Changed]] = {}
    for t in store.committed:
        for row, changed in _changed(store, t).items():
            rows.setdefault(row, []).append(changed if exempt else changed._replace(is_new=False))
    return [
        Pair(row, one, other, one_after_the_other(one, other))
        for row, changes in rows.items()
        for two in combinations(changes, 2)
        for one, other in [sorted(two, key=lambda changed: (changed.commit, changed.place))]
    ]


def one_after_the_other(one: Changed, other: Changed) -> Possible:
    """Which of two can have committed before the other's snapshot; before a new row, before its commit."""
    events = {"s1": one.snapshot, "c1": one.commit, "s2": other.snapshot, "c2": other.commit}
    found = set[str]()
    for world in worlds(events, [("s1", "c1"), ("s2", "c2")]):
        is_before = _goes("c1", "c2" if other.is_new else "s2", world)
        is_after = _goes("c2", "c1" if one.is_new else "s1", world)
        found.add("before" if is_before else "after" if is_after else "together")
    return possible(found)


def _goes(event: str, other: str, world: World[str]) -> bool:
    return world.index(event) < world.index(other)


def _changed(store: Store, transaction: Transaction) -> dict[object, Changed]:
    """The rows that a transaction changed, each by its first write."""
    times = store.times[transaction.number]
    found: dict[object, Changed] = {}
    for index, operation in enumerate(transaction.operations):
        row = store.row(token(operation.key))
        snapshot = times.before_write(index)
        if operation.kind not in WRITES or row in found or snapshot is None or times.commit is None:
            continue
        is_new = any(
            one.kind is OperationKind.INSERT and store.row(token(one.key)) == row
            for one in transaction.operations
        )
        found[row] = Changed(Place(transaction.number, index), snapshot, times.commit, is_new)
    return found
