"""Shrinking: a small part of a history that still breaks what the whole breaks.

Delta debugging (Zeller and Hildebrandt 2002) over transactions, keys and operations: halves first, then ever
less, until nothing can go. `History.part` drops them. A part that breaks a level proves that the whole breaks
it (`rust/kernel/src/sub_history.rs` says why). Cost: a few checks of the whole history, then many of small
parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from isoscope.explain.neighbourhood import neighbourhoods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from isoscope.history import History, Scalar
    from isoscope.verdict import Anomaly

    Test: TypeAlias = Callable[[History], bool]

__all__ = ["shrink"]


def shrink(history: History, still_broken: Test, *, near: Iterable[Anomaly] = ()) -> History:
    """A part of `history` that is still broken, and is not without any one transaction or operation.

    Reads of a dropped write are dropped too; all else stays as it was recorded. `near` are anomalies of the
    history: the search starts around the smallest, which spares many checks of a large history.
    Raises ValueError if the history is not broken.
    """
    for start in neighbourhoods(history, near):
        if still_broken(start):
            return _least(start, still_broken)
    raise ValueError("nothing to shrink: the history is not broken")


def _least(history: History, still_broken: Test) -> History:
    """The history without everything that can go: passes are repeated until none drops anything."""
    size = None
    while size != _size(history):
        size = _size(history)
        for pass_ in (_without_transactions, _without_keys, _without_operations):
            history = pass_(history, still_broken)
    return history


def _size(history: History) -> tuple[int, int]:
    return len(history), history.columns.operations


def _without_transactions(history: History, still_broken: Test) -> History:
    def drop(current: History, dropped: Sequence[int]) -> History:
        gone = {*dropped}
        return current.part(number for number in range(len(current)) if number not in gone)

    return _reduce(history, still_broken, len, drop)


def _without_operations(history: History, still_broken: Test) -> History:
    def drop(current: History, dropped: Sequence[int]) -> History:
        return current.part(range(len(current)), without=dropped)

    return _reduce(history, still_broken, lambda current: current.columns.operations, drop)


def _without_keys(history: History, still_broken: Test) -> History:
    """Drops whole keys: a key that a read by a predicate may show keeps all its writes or none."""

    def drop(current: History, dropped: Sequence[int]) -> History:
        keys = _by_key(current)
        gone = [operation for place in dropped for operation in keys[place]]
        return current.part(range(len(current)), without=gone)

    return _reduce(history, still_broken, lambda current: len(_by_key(current)), drop)


def _by_key(history: History) -> list[list[int]]:
    """Numbers of operations, key by key."""
    found: dict[Scalar, list[int]] = {}
    operations = (operation for transaction in history for operation in transaction.operations)
    for number, operation in enumerate(operations):
        found.setdefault(operation.key, []).append(number)
    return [*found.values()]


def _reduce(
    history: History,
    still_broken: Test,
    count: Callable[[History], int],
    drop: Callable[[History, Sequence[int]], History],
) -> History:
    """The history without the items that can go: runs of its `count` items are dropped, ever shorter ones."""
    run = max(1, count(history) // 2)
    while True:
        before = count(history)
        place = 0
        while place < count(history):
            candidate = drop(history, range(place, min(place + run, count(history))))
            if still_broken(candidate):
                history = candidate
            else:
                place += run
        if run == 1 and count(history) == before:
            return history
        run = max(1, min(run, count(history)) // 2)
