"""Horizontal positions in a panel: edges of boxes, and beside them room for arrows and their labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from isoscope.reports.picture.arrow_routes import MARGINS
from isoscope.reports.picture.box_order import LEFT, RIGHT
from isoscope.reports.picture.labels import measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.reports.picture.arrow_routes import Route, VerticalPart
    from isoscope.reports.picture.box_content import BoxContent
    from isoscope.reports.picture.box_order import BoxOrder, Edge

__all__ = ["GAP", "HorizontalLayout", "label_width", "lay_out_horizontally"]

#: Pixels between things that have nothing to do with each other.
GAP = 12
#: Pixels between the edge of a box and the first vertical part beside it, and between two vertical parts.
_STUB, _SLOT = 16, 9


class HorizontalLayout(NamedTuple):
    """The x of each edge and of each vertical part, between `left` and `right`."""

    left: int
    edges: Mapping[Edge, int]
    verticals: Mapping[VerticalPart, int]
    right: int

    def span(self, route: Route, part: int) -> tuple[int, int]:
        """The x where horizontal part number `part` of an arrow begins and where it ends."""
        return self.verticals[route.verticals[part]], self.verticals[route.verticals[part + 1]]

    def labelled_part(self, route: Route) -> int:
        """The number of the longest horizontal part of an arrow: its label lies there."""
        lengths = [abs(second - first) for first, second in self._spans(route)]
        return lengths.index(max(lengths)) if lengths else 0

    def _spans(self, route: Route) -> list[tuple[int, int]]:
        return [self.span(route, part) for part in range(len(route.channels))]

    def centred_label(self, route: Route, low: int, high: int) -> tuple[int, int]:
        """The x and the width of an arrow's label in the middle between `low` and `high`."""
        width = label_width(route.link.label)
        return max(self.left, (low + high - width) // 2), width


def lay_out_horizontally(
    boxes: Sequence[BoxContent], order: BoxOrder, routes: Sequence[Route], *, left: int
) -> HorizontalLayout:
    """Places the edges in their order, with room for the text of each box and for the arrows beside it."""
    counts = Counter(vertical.edge for route in routes for vertical in route.verticals)
    room = {edge: _STUB + _SLOT * (count - 1) + 6 for edge, count in counts.items()}
    wanted = _room_for_labels(routes, order.edges)
    edges: dict[Edge, int] = {MARGINS[0]: left}
    x = left + room.get(MARGINS[0], 0)
    for edge in order.edges:
        number, side = edge
        if side == LEFT:
            beside = room.get(edge, GAP // 2)
            labelled = (edges[other] + room.get(other, 0) + beside + width for other, width in wanted[edge])
            edges[edge] = max([x + beside, *labelled])
            x = edges[edge] + GAP // 2
        else:
            edges[edge] = max(x, edges[number, LEFT] + boxes[number].width)
            x = edges[edge] + room.get(edge, GAP // 2)
    edges[MARGINS[1]] = x + room.get(MARGINS[1], 0)
    verticals = {vertical: _beside(edges, vertical) for route in routes for vertical in route.verticals}
    return HorizontalLayout(left, edges, verticals, edges[MARGINS[1]])


def _room_for_labels(
    routes: Sequence[Route], edges: Sequence[Edge]
) -> defaultdict[Edge, list[tuple[Edge, int]]]:
    """For a left edge, the right edges that face it and the width of the label between the two."""
    position = {edge: number for number, edge in enumerate(edges)}
    found: defaultdict[Edge, list[tuple[Edge, int]]] = defaultdict(list)
    for route in routes:
        first, second = sorted((route.start, route.end), key=position.__getitem__)
        if (first[1], second[1]) == (RIGHT, LEFT):
            ends = 2 * _STUB if route.direct else 0
            found[second].append((first, label_width(route.link.label) + ends))
    return found


def _beside(edges: Mapping[Edge, int], vertical: VerticalPart) -> int:
    distance = _STUB + _SLOT * vertical.slot
    return edges[vertical.edge] + (distance if vertical.edge[1] == RIGHT else -distance)


def label_width(text: str) -> int:
    """Labels are bold, which takes more room, and have free space on either side."""
    return measure(text, size=13) + 8
