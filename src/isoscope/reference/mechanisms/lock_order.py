"""Which of two transactions whose locks exclude each other held them first, if that is certain."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from isoscope.reference.mechanisms import mutual_exclusion
from isoscope.reference.mechanisms.worlds import Possible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.reference.mechanisms.mutual_exclusion import Held
    from isoscope.reference.mechanisms.versions import Store

__all__ = ["Sequence", "of_locks"]


class Sequence(NamedTuple):
    """`before` ended before the operation of `after` at `place`, and so before everything behind it.

    `resource` is what both locked; of a snapshot the row that both changed.
    """

    resource: object
    before: int
    after: int
    place: int


@lru_cache(maxsize=4)
def of_locks(store: Store) -> tuple[Sequence, ...]:
    """Every pair of locks of two transactions on a thing must allow for their order, and one order alone."""
    said: dict[tuple[object, int, int], list[tuple[Possible, int, int]]] = {}
    for case, one, other, orders in mutual_exclusion.pairs(store):
        resource = _resource(one, other)
        low, high = sorted((one, other), key=lambda lock: lock.place.transaction)
        turned = orders if low is one else Possible(orders.after, orders.before, orders.together)
        two = (resource, low.place.transaction, high.place.transaction)
        said.setdefault(two, []).append((turned, _since(case, low, other), _since(case, high, other)))
    return tuple(_sequences(said))


def _resource(one: Held, other: Held) -> object:
    """What both locked; of a predicate, the row that was inserted."""
    return (one if one.inserted else other).resource


def _since(case: str, lock: Held, committing: Held) -> int:
    """The operation that waited for a lock; a commit waits behind all of them."""
    is_commit = case == mutual_exclusion.WHILE_COMMITTING and lock is committing
    return 1_000_000 if is_commit else lock.place.operation


def _sequences(
    said: dict[tuple[object, int, int], list[tuple[Possible, int, int]]],
) -> Iterator[Sequence]:
    for (resource, low, high), every in said.items():
        is_before, is_after = all(o.before for o, _, _ in every), all(o.after for o, _, _ in every)
        if is_before and not is_after:
            yield Sequence(resource, low, high, min(place for _, _, place in every))
        if is_after and not is_before:
            yield Sequence(resource, high, low, min(place for _, place, _ in every))
