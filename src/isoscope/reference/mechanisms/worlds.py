"""Worlds: the orders in which things can have happened, given how long clients waited for each.

An event happened at one instant of its span, which is not known. A *world* is an order of events for
which instants can be found that never go back. Where two spans touch, both orders are worlds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from enum import Enum
from math import inf
from typing import NamedTuple, TypeAlias, TypeVar

__all__ = ["EVER", "Instant", "Possible", "Span", "World", "closure", "possible", "worlds"]

Event = TypeVar("Event", bound=Hashable)
World: TypeAlias = tuple[Event, ...]


class Instant(Enum):
    """The instant at which a read looks, among the commits of others."""

    SNAPSHOT = "snapshot"


class Span(NamedTuple):
    """A closed interval; an end that is not known is infinitely far away."""

    invoke: float
    complete: float

    def precedes(self, other: Span) -> bool:
        """Whether it was over before the other began, whatever the instants."""
        return self.complete < other.invoke

    def overlaps(self, other: Span) -> bool:
        """Whether both can have happened at the same instant."""
        return not self.precedes(other) and not other.precedes(self)


EVER = Span(-inf, inf)


def worlds(events: Mapping[Event, Span], order: Iterable[tuple[Event, Event]] = ()) -> Iterator[World[Event]]:
    """Every world of these events in which `order` is kept."""
    yield from _after((), events, frozenset(order), -inf)


def _after(
    past: World[Event], left: Mapping[Event, Span], order: frozenset[tuple[Event, Event]], now: float
) -> Iterator[World[Event]]:
    if not left:
        yield past
    for event, span in left.items():
        is_free = not any(after == event and before in left for before, after in order)
        instant = max(now, span.invoke)
        if is_free and instant <= span.complete:
            rest = {other: own for other, own in left.items() if other != event}
            yield from _after((*past, event), rest, order, instant)


class Possible(NamedTuple):
    """Whether in some world the first of two comes before the other, after it, and neither of both."""

    before: bool
    after: bool
    together: bool

    @property
    def is_violated(self) -> bool:
        """Whether both were at work at the same time in every world, of which there is at least one."""
        return self.together and not self.before and not self.after

    @property
    def is_undecided(self) -> bool:
        """Whether it depends on the world."""
        return self.together and not self.is_violated

    @property
    def is_ordered(self) -> bool:
        """Whether a mechanism that works leaves one order."""
        return self.before != self.after


def possible(found: Iterable[str]) -> Possible:
    """What worlds say of two, each of them `before`, `after` or `together`."""
    kinds = set(found)
    return Possible("before" in kinds, "after" in kinds, "together" in kinds)


def closure(order: Iterable[tuple[Event, Event]]) -> frozenset[tuple[Event, Event]]:
    """The order with all that follows from it; an event that comes before itself shows a contradiction."""
    known = set(order)
    while True:
        grown = {(a, d) for a, b in known for c, d in known if b == c} | known
        if grown == known:
            return frozenset(known)
        known = grown
