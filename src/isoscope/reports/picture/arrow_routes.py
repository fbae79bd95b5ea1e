"""Ways for the arrows of a picture: out of a box, along a channel between two lanes, into a box.

Every vertical part has a place of its own beside an edge of a box, every level part a track of its own in a
channel, and labels lie on tracks. So nothing is drawn over a box, and no label over another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from isoscope.reports.picture.box_order import LEFT, RIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.reports.picture.box_order import Edge
    from isoscope.reports.picture.links import Link

__all__ = ["MARGINS", "Level", "Route", "VerticalPart", "plan", "tracks"]

#: Not beside any box: to the left and to the right of them all.
MARGINS: tuple[Edge, Edge] = ((-1, RIGHT), (-1, LEFT))
#: Pixels between two things on one track.
_APART = 12


class VerticalPart(NamedTuple):
    """The place of an vertical part: beside this edge, so many places away from it."""

    edge: Edge
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The way of an arrow: vertical, level, vertical, and perhaps once more; channel `n` lies above lane `n`.

    A `direct` one has no such parts: it goes straight to the next box of its lane.
    """

    link: Link
    start: Edge
    end: Edge
    verticals: tuple[VerticalPart, ...] = ()
    channels: tuple[int, ...] = ()
    direct: bool = False


def plan(
    links: Sequence[tuple[Link, int, int]], edges: Sequence[Edge], lane_of: Mapping[int, int]
) -> list[Route]:
    """Ways for arrows between boxes with these numbers, given the edges from left to right."""
    layout = _Layout({edge: place for place, edge in enumerate(edges)}, lane_of)
    ways = [_way(link, first, second, layout) for link, first, second in links]
    return _placed(ways, layout)


@dataclass(frozen=True, slots=True)
class _Layout:
    place: Mapping[Edge, int]
    lane_of: Mapping[int, int]

    def is_free(self, edge: Edge, lane: int) -> bool:
        """Whether an vertical part beside this edge can cross a lane without meeting a box."""
        at = self.place[edge]
        return not any(
            of == lane and self.place[box, LEFT] <= at <= self.place[box, RIGHT]
            for box, of in self.lane_of.items()
        )

    def is_next(self, first: int, second: int) -> bool:
        """Whether a box is the next one of the same lane."""
        if self.lane_of[first] != self.lane_of[second]:
            return False
        start, end = self.place[first, RIGHT], self.place[second, LEFT]
        between = (self.place[box, LEFT] for box, lane in self.lane_of.items() if lane == self.lane_of[first])
        return start < end and not any(start < place < end for place in between)


def _way(link: Link, first: int, second: int, layout: _Layout) -> Route:
    if link.start is None and link.end is None and layout.is_next(first, second):
        return Route(link=link, start=(first, RIGHT), end=(second, LEFT), direct=True)
    start, end = _sides(first, second, layout)
    lanes = layout.lane_of[first], layout.lane_of[second]
    if lanes[0] == lanes[1]:
        channel = lanes[0] if layout.place[start] < layout.place[end] else lanes[0] + 1
        return _through(link, (start, end), channel)
    for channel in _between(*lanes):
        if _is_open(layout, start, end, channel):
            return _through(link, (start, end), channel)
    return _around(link, (start, end), layout)


def _sides(first: int, second: int, layout: _Layout) -> tuple[Edge, Edge]:
    """The sides that face each other; of boxes one above the other, the same side of both."""
    place, lane_of = layout.place, layout.lane_of
    if place[first, RIGHT] < place[second, LEFT]:
        return (first, RIGHT), (second, LEFT)
    if place[second, RIGHT] < place[first, LEFT]:
        return (first, LEFT), (second, RIGHT)
    side = RIGHT if lane_of[first] < lane_of[second] else LEFT
    return (first, side), (second, side)


def _between(first: int, second: int) -> range:
    """The channels between two lanes, that of the second one first."""
    return range(second, first, -1) if first < second else range(second + 1, first + 1)


def _is_open(layout: _Layout, start: Edge, end: Edge, channel: int) -> bool:
    return all(
        layout.is_free(edge, lane)
        for edge in (start, end)
        for lane in _crossed(layout.lane_of[edge[0]], channel)
    )


def _crossed(lane: int, channel: int) -> range:
    """The lanes between a lane and a channel."""
    return range(lane + 1, channel) if channel > lane else range(channel, lane)


def _through(link: Link, ends: tuple[Edge, Edge], channel: int) -> Route:
    verticals = tuple(VerticalPart(edge, 0) for edge in ends)
    return Route(link=link, start=ends[0], end=ends[1], verticals=verticals, channels=(channel,))


def _around(link: Link, ends: tuple[Edge, Edge], layout: _Layout) -> Route:
    """Boxes are in the way: past all of them, on the nearer side."""
    first, second = (layout.lane_of[number] for number, _ in ends)
    channels = (first + 1, second) if first < second else (first, second + 1)
    is_left = sum(layout.place[edge] for edge in ends) < len(layout.place)
    edges = (ends[0], MARGINS[0 if is_left else 1], ends[1])
    verticals = tuple(VerticalPart(edge, 0) for edge in edges)
    return Route(link=link, start=ends[0], end=ends[1], verticals=verticals, channels=channels)


def _placed(plans: Sequence[Route], layout: _Layout) -> list[Route]:
    """Every vertical part in a place of its own; those that leave a box far from the channel go outside."""
    taken: Counter[Edge] = Counter()
    chosen: dict[tuple[int, int], VerticalPart] = {}
    for _, number, part, edge in sorted(
        (_nearness(each, part, layout), number, part, edge)
        for number, each in enumerate(plans)
        for part, (edge, _) in enumerate(each.verticals)
    ):
        chosen[number, part] = VerticalPart(edge, taken[edge])
        taken[edge] += 1
    return [
        Route(
            link=each.link,
            start=each.start,
            end=each.end,
            verticals=tuple(chosen[number, part] for part in range(len(each.verticals))),
            channels=each.channels,
            direct=each.direct,
        )
        for number, each in enumerate(plans)
    ]


def _nearness(each: Route, part: int, layout: _Layout) -> int:
    """A part that goes down from a low row, or up from a high one, crosses nobody: it goes inside."""
    ends = {0: (each.link.start, each.channels[0], each.start)}
    ends[len(each.verticals) - 1] = (each.link.end, each.channels[-1], each.end)
    if part not in ends:
        return 0
    row, channel, edge = ends[part]
    height = -1 if row is None else row
    return -height if channel > layout.lane_of[edge[0]] else height


class Level(NamedTuple):
    """A level part of an arrow in a channel: from `low` to `high`, with its label `room` wide on it.

    `ends` are where it turns, each up (-1) or down (1).
    """

    low: int
    high: int
    room: tuple[int, int]
    ends: tuple[tuple[int, int], tuple[int, int]]


def tracks(levels: Sequence[Level]) -> list[int]:
    """The track of each level part in one channel, from the top, so that few arrows cross."""
    order = list(range(len(levels)))
    for _ in order:
        for place in range(len(order) - 1):
            upper, lower = order[place : place + 2]
            if _crossings(levels[lower], levels[upper]) < _crossings(levels[upper], levels[lower]):
                order[place : place + 2] = [lower, upper]
    found: dict[int, int] = {}
    last: defaultdict[int, list[Level]] = defaultdict(list)
    for number in order:
        level = levels[number]
        met = [track for track, others in last.items() if any(_meet(level, other) for other in others)]
        found[number] = max(met, default=-1) + 1
        last[found[number]].append(level)
    return [found[number] for number in range(len(levels))]


def _crossings(upper: Level, lower: Level) -> int:
    down = sum(turn > 0 and lower.low < x < lower.high for x, turn in upper.ends)
    return down + sum(turn < 0 and upper.low < x < upper.high for x, turn in lower.ends)


def _meet(first: Level, second: Level) -> bool:
    return first.room[0] - _APART < second.room[1] and second.room[0] - _APART < first.room[1]
