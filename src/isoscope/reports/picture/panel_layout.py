"""One panel of a picture: lanes, boxes and arrows in their places."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from isoscope.reports.picture.arrow_routes import route_arrows
from isoscope.reports.picture.box_content import HEADING, PADDING, ROW, box_content, lane_name
from isoscope.reports.picture.box_order import LEFT, RIGHT, BoxOrder, lanes_of, order_boxes
from isoscope.reports.picture.horizontal_layout import GAP, lay_out_horizontally
from isoscope.reports.picture.labels import measure
from isoscope.reports.picture.model import Area, Arrow, Box, Lane, Panel, Row, Text
from isoscope.reports.picture.vertical_layout import lay_out_vertically
from isoscope.reports.plain_text import printable
from isoscope.verdict import START, Participant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isoscope.reports.picture.arrow_routes import Route
    from isoscope.reports.picture.box_content import BoxContent
    from isoscope.reports.picture.box_order import Edge
    from isoscope.reports.picture.horizontal_layout import HorizontalLayout
    from isoscope.reports.picture.links import Link
    from isoscope.reports.picture.vertical_layout import VerticalLayout

__all__ = ["lay_out_panel"]

#: Heights of a label, and of the band that a lane has above and below its boxes.
_LABEL, _BAND = 15, 6
#: A label moves by this much if a line would run behind it.
_SHIFT = 5


def lay_out_panel(
    participants: Sequence[Participant], links: Sequence[Link], *, top: int, with_operations: bool
) -> Panel:
    """The transactions and the arrows between them, below `top`."""
    drawn, order = _with_initial_state(participants, links)
    numbers = {participant.transaction: number for number, participant in enumerate(drawn)}
    lanes = lanes_of(drawn)
    lane_of = {number: lanes.index(participant.lane) for number, participant in enumerate(drawn)}
    at_ends = {label for link in links for label in (link.before, link.after)}
    boxes = [
        box_content(participant, is_end=participant.transaction in at_ends or not links, full=with_operations)
        for participant in drawn
    ]
    ends = [(link, numbers[link.before], numbers[link.after]) for link in links]
    routes = route_arrows(ends, order.edges, lane_of)
    names = [lane_name(next(p for p in drawn if p.lane == lane)) for lane in lanes]
    margin = 2 * GAP + max(map(measure, names), default=0)
    horizontal = lay_out_horizontally(boxes, order, routes, left=margin)
    heights = [
        max(box.height for n, box in enumerate(boxes) if lane_of[n] == lane) for lane in range(len(lanes))
    ]
    vertical = lay_out_vertically(heights, routes, horizontal, lane_of, top=top)
    return _Panel(boxes, lane_of, names, heights, order, routes, horizontal, vertical).placed(top)


def _with_initial_state(
    participants: Sequence[Participant], links: Iterable[Link]
) -> tuple[tuple[Participant, ...], BoxOrder]:
    """The initial state stands first, in a lane of its own, if an arrow names it."""
    order = order_boxes(participants, links)
    if not any(START in (link.before, link.after) for link in links):
        return tuple(participants), order
    start = Participant(
        transaction=START, lane=-1, session=None, position=0, status="", operations=(), matters=frozenset()
    )
    moved = tuple((number + 1, side) for number, side in order.edges)
    unknown = frozenset((number + 1, side) for number, side in order.unknown)
    edges = ((0, LEFT), (0, RIGHT), *moved)
    return (start, *participants), replace(order, edges=edges, unknown=unknown)


@dataclass(frozen=True, slots=True)
class _Panel:
    """Everything that decides where the parts of a panel stand."""

    boxes: Sequence[BoxContent]
    lane_of: Mapping[int, int]
    names: Sequence[str]
    heights: Sequence[int]
    order: BoxOrder
    routes: Sequence[Route]
    horizontal: HorizontalLayout
    vertical: VerticalLayout

    def placed(self, top: int) -> Panel:
        """The parts in their places."""
        ports = self._ports()
        lines = [self._points(number, route, ports) for number, route in enumerate(self.routes)]
        labels = [self._label(number, route, lines) for number, route in enumerate(self.routes)]
        right = max([self.horizontal.right, *(label.area.right for label in labels)]) + GAP
        left, bottom = self.horizontal.left, self.vertical.bottom
        axis = Area(x=left, y=bottom, width=right - left - GAP, height=HEADING)
        return Panel(
            area=Area(x=0, y=top, width=right, height=bottom + HEADING - top),
            axis=Text(text=self.order.axis, area=axis),
            lanes=tuple(self._lane(lane, right) for lane in range(len(self.names))),
            boxes=tuple(self._box(number) for number in range(len(self.boxes))),
            arrows=tuple(map(_arrow, self.routes, lines, labels)),
        )

    def _ports(self) -> dict[tuple[int, bool], int]:
        """The y where each arrow starts and where it ends; several at one operation are spread."""
        wanted: defaultdict[tuple[Edge, int], list[tuple[int, bool]]] = defaultdict(list)
        for number, route in enumerate(self.routes):
            ends = ((route.start, route.link.start, True), (route.end, route.link.end, False))
            for edge, index, is_start in ends:
                middle = self._middle(edge[0], None if route.direct else index)
                wanted[edge, middle].append((number, is_start))
        found = {}
        for (_, middle), users in wanted.items():
            step = min(9, 14 // max(1, len(users) - 1))
            for place, user in enumerate(users):
                found[user] = middle + place * step - (len(users) - 1) * step // 2
        return found

    def _middle(self, number: int, index: int | None) -> int:
        """The y of an operation; of the heading for None, and for an operation that has no row."""
        top = self.vertical.lanes[self.lane_of[number]]
        rows = [place for place, row in enumerate(self.boxes[number].rows) if row.index == index]
        if index is None or not rows:
            return top + HEADING // 2
        return top + HEADING + ROW * rows[0] + ROW // 2

    def _points(
        self, number: int, route: Route, ports: Mapping[tuple[int, bool], int]
    ) -> list[tuple[int, int]]:
        """The corners of an arrow."""
        start, end = ports[number, True], ports[number, False]
        points = [(self.horizontal.edges[route.start], start)]
        if route.direct:
            return [*points, (self.horizontal.edges[route.end], start)]
        y = start
        for part, vertical in enumerate(route.verticals):
            x = self.horizontal.verticals[vertical]
            points.append((x, y))
            y = self.vertical.tracks[number, part] if part < len(route.channels) else end
            points.append((x, y))
        return [*points, (self.horizontal.edges[route.end], end)]

    def _label(self, number: int, route: Route, lines: Sequence[Sequence[tuple[int, int]]]) -> Text:
        """On the longest horizontal part, if possible where no line of another arrow runs behind it."""
        if route.direct:
            low, high = lines[number][0][0] + 4, lines[number][1][0] - 12
            y = lines[number][0][1]
        else:
            part = self.horizontal.labelled_part(route)
            low, high = sorted(self.horizontal.span(route, part))
            y = self.vertical.tracks[number, part]
        x, width = self.horizontal.centred_label(route, low, high)
        behind = [at for other, line in enumerate(lines) if other != number for at in _crossed_at(line, y)]
        shifts = range(0, max(0, (high - low - width) // 2 - 4) + 1, _SHIFT)
        places = [x, *(x + sign * shift for shift in shifts[1:] for sign in (-1, 1))]
        best = min(places, key=lambda at: sum(at - 2 < other < at + width + 2 for other in behind))
        area = Area(x=best, y=y - _LABEL // 2, width=width, height=_LABEL)
        return Text(text=route.link.label, area=area)

    def _lane(self, lane: int, right: int) -> Lane:
        name, top = self.names[lane], self.vertical.lanes[lane]
        return Lane(
            label=Text(text=name, area=Area(x=GAP, y=top, width=measure(name), height=HEADING)),
            area=Area(x=0, y=top - _BAND, width=right, height=self.heights[lane] + 2 * _BAND),
        )

    def _box(self, number: int) -> Box:
        box, top = self.boxes[number], self.vertical.lanes[self.lane_of[number]]
        left, right = self.horizontal.edges[number, LEFT], self.horizontal.edges[number, RIGHT]
        rows = tuple(
            Row(
                text=row.text,
                index=row.index,
                matters=row.matters,
                area=Area(x=left, y=top + HEADING + place * ROW, width=right - left, height=ROW),
            )
            for place, row in enumerate(box.rows)
        )
        return Box(
            transaction=printable(box.participant.transaction),
            title=box.title,
            status=box.participant.status,
            note=box.note,
            area=Area(x=left, y=top, width=right - left, height=box.height),
            heading=Area(x=left + PADDING, y=top, width=right - left - 2 * PADDING, height=HEADING),
            rows=rows,
            open_left=(number, LEFT) in self.order.unknown,
            open_right=(number, RIGHT) in self.order.unknown,
        )


def _crossed_at(line: Sequence[tuple[int, int]], y: int) -> list[int]:
    """The x where a line crosses this height."""
    return [
        x
        for (x, start), (other, end) in pairwise(line)
        if x == other and min(start, end) < y < max(start, end)
    ]


def _arrow(route: Route, points: Sequence[tuple[int, int]], label: Text) -> Arrow:
    link = route.link
    return Arrow(
        step=link.step,
        before=printable(link.before),
        after=printable(link.after),
        relation=link.relation,
        inferred=link.inferred,
        operations=tuple((printable(transaction), index) for transaction, index in link.operations),
        points=tuple(points),
        label=label,
    )
