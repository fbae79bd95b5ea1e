"""From left to right: the edges of boxes, and beside them room for arrows and for their labels."""

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

#: Between things that have nothing to do with each other.
GAP = 12
#: Between the edge of a box and the first vertical part beside it, and between two of those.
_STUB, _SLOT = 16, 9


class HorizontalLayout(NamedTuple):
    """From left to right: where edges are, and vertical parts."""

    left: int
    edges: Mapping[Edge, int]
    verticals: Mapping[VerticalPart, int]
    right: int


def lay_out_horizontally(
    cards: Sequence[BoxContent], arrangement: BoxOrder, plans: Sequence[Route], *, left: int
) -> HorizontalLayout:
    """Every edge beside its vertical parts, no box narrower than its text."""
    places = Counter(vertical.edge for each in plans for vertical in each.verticals)
    room = {edge: _STUB + _SLOT * (count - 1) + 6 for edge, count in places.items()}
    wanted = _facing(plans, arrangement.edges)
    found: dict[Edge, int] = {MARGINS[0]: left}
    x = left + room.get(MARGINS[0], 0)
    for edge in arrangement.edges:
        number, side = edge
        if side == LEFT:
            beside = room.get(edge, GAP // 2)
            rooms = (found[other] + room.get(other, 0) + beside + width for other, width in wanted[edge])
            found[edge] = max([x + beside, *rooms])
            x = found[edge] + GAP // 2
        else:
            found[edge] = max(x, found[number, LEFT] + cards[number].width)
            x = found[edge] + room.get(edge, GAP // 2)
    found[MARGINS[1]] = x + room.get(MARGINS[1], 0)
    verticals = {vertical: _beside(found, vertical) for each in plans for vertical in each.verticals}
    return HorizontalLayout(left, found, verticals, found[MARGINS[1]])


def _facing(plans: Sequence[Route], edges: Sequence[Edge]) -> defaultdict[Edge, list[tuple[Edge, int]]]:
    """Between two sides that face each other there is room for the label of an arrow."""
    place = {edge: number for number, edge in enumerate(edges)}
    found: defaultdict[Edge, list[tuple[Edge, int]]] = defaultdict(list)
    for each in plans:
        first, second = sorted((each.start, each.end), key=place.__getitem__)
        if (first[1], second[1]) == (RIGHT, LEFT):
            ends = 2 * _STUB if each.direct else 0
            found[second].append((first, label_width(each.link.label) + ends))
    return found


def _beside(edges: Mapping[Edge, int], vertical: VerticalPart) -> int:
    distance = _STUB + _SLOT * vertical.place
    return edges[vertical.edge] + (distance if vertical.edge[1] == RIGHT else -distance)


def label_width(text: str) -> int:
    """Labels are bold, which takes more room, and have some on either side."""
    return measure(text, size=13) + 8
