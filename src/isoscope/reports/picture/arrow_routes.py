"""Routes for the arrows of a picture: out of a box, along a channel between two lanes, into a box.

Every vertical part has a slot of its own beside an edge of a box, every horizontal part a track of its own
in a channel, and labels lie on tracks. So no arrow crosses a box, and no label lies on another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from isoscope.reports.picture.box_order import LEFT, RIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.reports.picture.box_order import Edge
    from isoscope.reports.picture.links import Link

__all__ = ["MARGINS", "HorizontalPart", "Route", "VerticalPart", "assign_tracks", "route_arrows"]

#: Edges of no box: to the left and to the right of them all.
MARGINS: tuple[Edge, Edge] = ((-1, RIGHT), (-1, LEFT))
#: Pixels between two things on one track.
_APART = 12


class VerticalPart(NamedTuple):
    """A vertical part of an arrow: beside this edge, `slot` places away from it."""

    edge: Edge
    slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An arrow: vertical, horizontal, vertical, and perhaps once more; channel `n` lies above lane `n`.

    A `direct` arrow has no such parts: it goes straight to the next box of its lane.
    """

    link: Link
    start: Edge
    end: Edge
    verticals: tuple[VerticalPart, ...] = ()
    channels: tuple[int, ...] = ()
    direct: bool = False


def route_arrows(
    links: Sequence[tuple[Link, int, int]], edges: Sequence[Edge], lane_of: Mapping[int, int]
) -> list[Route]:
    """Routes for arrows between boxes with these numbers; `edges` are all edges from left to right."""
    boxes = _Boxes({edge: position for position, edge in enumerate(edges)}, lane_of)
    return _with_slots([_route(link, first, second, boxes) for link, first, second in links], boxes)


@dataclass(frozen=True, slots=True)
class _Boxes:
    """The position of each edge from left to right, and the lane of each box."""

    position: Mapping[Edge, int]
    lane_of: Mapping[int, int]

    def is_free(self, edge: Edge, lane: int) -> bool:
        """Whether a vertical part beside this edge can cross a lane without meeting a box."""
        at = self.position[edge]
        return not any(
            of == lane and self.position[box, LEFT] <= at <= self.position[box, RIGHT]
            for box, of in self.lane_of.items()
        )

    def is_next(self, first: int, second: int) -> bool:
        """Whether the second box is the next one after the first in the same lane."""
        lane = self.lane_of[first]
        if lane != self.lane_of[second]:
            return False
        start, end = self.position[first, RIGHT], self.position[second, LEFT]
        others = (self.position[box, LEFT] for box, of in self.lane_of.items() if of == lane)
        return start < end and not any(start < other < end for other in others)


def _route(link: Link, first: int, second: int, boxes: _Boxes) -> Route:
    if link.start is None and link.end is None and boxes.is_next(first, second):
        return Route(link=link, start=(first, RIGHT), end=(second, LEFT), direct=True)
    start, end = _sides(first, second, boxes)
    lanes = boxes.lane_of[first], boxes.lane_of[second]
    if lanes[0] == lanes[1]:
        channel = lanes[0] if boxes.position[start] < boxes.position[end] else lanes[0] + 1
        return _through(link, (start, end), channel)
    for channel in _channels_between(*lanes):
        if _is_open(boxes, start, end, channel):
            return _through(link, (start, end), channel)
    return _around(link, (start, end), boxes)


def _sides(first: int, second: int, boxes: _Boxes) -> tuple[Edge, Edge]:
    """The sides that face each other; of boxes one above the other, the same side of both."""
    position, lane_of = boxes.position, boxes.lane_of
    if position[first, RIGHT] < position[second, LEFT]:
        return (first, RIGHT), (second, LEFT)
    if position[second, RIGHT] < position[first, LEFT]:
        return (first, LEFT), (second, RIGHT)
    side = RIGHT if lane_of[first] < lane_of[second] else LEFT
    return (first, side), (second, side)


def _channels_between(first: int, second: int) -> range:
    """The channels between two lanes, beginning at the second lane."""
    return range(second, first, -1) if first < second else range(second + 1, first + 1)


def _is_open(boxes: _Boxes, start: Edge, end: Edge, channel: int) -> bool:
    """Whether both ends reach the channel without meeting a box."""
    return all(
        boxes.is_free(edge, lane)
        for edge in (start, end)
        for lane in _lanes_between(boxes.lane_of[edge[0]], channel)
    )


def _lanes_between(lane: int, channel: int) -> range:
    return range(lane + 1, channel) if channel > lane else range(channel, lane)


def _through(link: Link, ends: tuple[Edge, Edge], channel: int) -> Route:
    """A route along one channel."""
    verticals = tuple(VerticalPart(edge, 0) for edge in ends)
    return Route(link=link, start=ends[0], end=ends[1], verticals=verticals, channels=(channel,))


def _around(link: Link, ends: tuple[Edge, Edge], boxes: _Boxes) -> Route:
    """A route past all boxes, on the nearer side, where boxes block every channel between."""
    first, second = (boxes.lane_of[number] for number, _ in ends)
    channels = (first + 1, second) if first < second else (first, second + 1)
    is_left = sum(boxes.position[edge] for edge in ends) < len(boxes.position)
    edges = (ends[0], MARGINS[0 if is_left else 1], ends[1])
    verticals = tuple(VerticalPart(edge, 0) for edge in edges)
    return Route(link=link, start=ends[0], end=ends[1], verticals=verticals, channels=channels)


def _with_slots(routes: Sequence[Route], boxes: _Boxes) -> list[Route]:
    """Gives every vertical part a slot of its own, in the order of `_nesting`."""
    taken: Counter[Edge] = Counter()
    chosen: dict[tuple[int, int], VerticalPart] = {}
    for _, number, part, edge in sorted(
        (_nesting(route, part, boxes), number, part, edge)
        for number, route in enumerate(routes)
        for part, (edge, _) in enumerate(route.verticals)
    ):
        chosen[number, part] = VerticalPart(edge, taken[edge])
        taken[edge] += 1
    return [
        replace(route, verticals=tuple(chosen[number, part] for part in range(len(route.verticals))))
        for number, route in enumerate(routes)
    ]


def _nesting(route: Route, part: int, boxes: _Boxes) -> int:
    """Low for a part that goes down from a low row, or up from a high one: innermost, it crosses no other."""
    ends = {0: (route.link.start, route.channels[0], route.start)}
    ends[len(route.verticals) - 1] = (route.link.end, route.channels[-1], route.end)
    if part not in ends:
        return 0
    row, channel, edge = ends[part]
    height = -1 if row is None else row
    return -height if channel > boxes.lane_of[edge[0]] else height


class HorizontalPart(NamedTuple):
    """A horizontal part of an arrow in a channel: from `low` to `high`; with its label it takes `room`.

    `ends` are the two x where it turns, each up (-1) or down (1).
    """

    low: int
    high: int
    room: tuple[int, int]
    ends: tuple[tuple[int, int], tuple[int, int]]


def assign_tracks(parts: Sequence[HorizontalPart]) -> list[int]:
    """The track of each part of one channel, counted from the top, so that few arrows cross."""
    order = list(range(len(parts)))
    for _ in order:
        for place in range(len(order) - 1):
            upper, lower = order[place : place + 2]
            if _crossings(parts[lower], parts[upper]) < _crossings(parts[upper], parts[lower]):
                order[place : place + 2] = [lower, upper]
    found: dict[int, int] = {}
    on_track: defaultdict[int, list[HorizontalPart]] = defaultdict(list)
    for number in order:
        part = parts[number]
        met = [track for track, others in on_track.items() if any(_meet(part, other) for other in others)]
        found[number] = max(met, default=-1) + 1
        on_track[found[number]].append(part)
    return [found[number] for number in range(len(parts))]


def _crossings(upper: HorizontalPart, lower: HorizontalPart) -> int:
    down = sum(turn > 0 and lower.low < x < lower.high for x, turn in upper.ends)
    return down + sum(turn < 0 and upper.low < x < upper.high for x, turn in lower.ends)


def _meet(first: HorizontalPart, second: HorizontalPart) -> bool:
    return first.room[0] - _APART < second.room[1] and second.room[0] - _APART < first.room[1]
