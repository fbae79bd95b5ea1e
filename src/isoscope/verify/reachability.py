"""Which of given pairs are joined by a path, in a graph whose edges all lead forward in one order.

Paths are followed for many starts at once: each start is a bit, and a node has the bits of all starts that
lead to it. Starts are taken in groups along the order, and a group looks only at the stretch between its
first start and its last target. Where the pairs are near each other, as in recorded histories, the cost is
near linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["first_path"]

_GROUP = 4096


def first_path(
    pairs: Iterable[tuple[int, int]], before: Callable[[int], Iterable[int]], size: int
) -> tuple[int, int] | None:
    """A pair (start, target) of places with a path from start to target, None if there is no such pair.

    `before` has the places from which an edge leads to a place; all of them are lower.
    """
    for starts, targets in _groups(sorted(set(pairs))):
        found = _search(starts, targets, before, size)
        if found is not None:
            return found
    return None


def _groups(pairs: list[tuple[int, int]]) -> Iterator[tuple[dict[int, int], dict[int, list[int]]]]:
    """Bits of some starts, and the starts that each target asks for."""
    starts: dict[int, int] = {}
    targets: dict[int, list[int]] = {}
    for start, target in pairs:
        if start not in starts and len(starts) == _GROUP:
            yield starts, targets
            starts, targets = {}, {}
        starts.setdefault(start, 1 << len(starts))
        targets.setdefault(target, []).append(start)
    if starts:
        yield starts, targets


def _search(
    starts: dict[int, int], targets: dict[int, list[int]], before: Callable[[int], Iterable[int]], size: int
) -> tuple[int, int] | None:
    first, last = min(starts), max(targets)
    reached = [0] * (min(last + 1, size) - first)
    for place in range(first, last + 1):
        bits = 0
        for earlier in before(place):
            if earlier >= first:
                bits |= reached[earlier - first]
        for start in targets.get(place, ()):
            if bits & starts[start]:
                return start, place
        reached[place - first] = bits | starts.get(place, 0)
    return None
