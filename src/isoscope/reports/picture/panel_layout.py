"""One panel of a picture: lanes, boxes and arrows in their places."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from isoscope.reports.picture.arrow_routes import Level, plan, tracks
from isoscope.reports.picture.box_content import HEADING, PADDING, ROW, box_content, lane_name
from isoscope.reports.picture.box_order import LEFT, RIGHT, BoxOrder, lanes_of, order_boxes
from isoscope.reports.picture.horizontal_layout import GAP, label_width, lay_out_horizontally
from isoscope.reports.picture.labels import measure
from isoscope.reports.picture.model import Area, Arrow, Box, Lane, Panel, Row, Text
from isoscope.reports.plain_text import printable
from isoscope.verdict import START, Participant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isoscope.reports.picture.arrow_routes import Route
    from isoscope.reports.picture.box_content import BoxContent
    from isoscope.reports.picture.box_order import Edge
    from isoscope.reports.picture.horizontal_layout import HorizontalLayout
    from isoscope.reports.picture.links import Link

__all__ = ["lay_out_panel"]

#: Heights of a track, of what is free above and below the tracks of a channel, and of a channel without any.
_TRACK, _CHANNEL, _EMPTY = 19, 8, 14
#: Heights of a label, and of what a lane has above and below its boxes.
_LABEL, _BAND = 15, 6
#: A shift of a label that is tried if a line would run behind it.
_SHIFT = 5


def lay_out_panel(
    participants: Sequence[Participant], links: Sequence[Link], *, top: int, with_operations: bool
) -> Panel:
    """The transactions and the arrows between them, below `top`."""
    everyone, arrangement = _with_start(participants, links)
    numbers = {participant.transaction: number for number, participant in enumerate(everyone)}
    lanes = lanes_of(everyone)
    lane_of = {number: lanes.index(participant.lane) for number, participant in enumerate(everyone)}
    ends = [(link, numbers[link.before], numbers[link.after]) for link in links]
    at_ends = {label for link in links for label in (link.before, link.after)}
    cards = [
        box_content(participant, is_end=participant.transaction in at_ends or not links, full=with_operations)
        for participant in everyone
    ]
    plans = plan(ends, arrangement.edges, lane_of)
    names = [lane_name(next(p for p in everyone if p.lane == lane)) for lane in lanes]
    across = lay_out_horizontally(cards, arrangement, plans, left=_margin(names))
    return _Drawing(cards, lane_of, names, arrangement, plans, across).panel(top)


def _with_start(
    participants: Sequence[Participant], links: Iterable[Link]
) -> tuple[tuple[Participant, ...], BoxOrder]:
    """The initial state stands first, in a lane of its own, if an arrow names it."""
    found = order_boxes(participants, links)
    if not any(START in (link.before, link.after) for link in links):
        return tuple(participants), found
    start = Participant(
        transaction=START, lane=-1, session=None, position=0, status="", operations=(), matters=frozenset()
    )
    moved = tuple((number + 1, side) for number, side in found.edges)
    unknown = frozenset((number + 1, side) for number, side in found.unknown)
    edges = ((0, LEFT), (0, RIGHT), *moved)
    return (start, *participants), replace(found, edges=edges, unknown=unknown)


def _margin(names: Iterable[str]) -> int:
    return 2 * GAP + max(map(measure, names), default=0)


@dataclass(slots=True)
class _Drawing:
    """All that is known before anything has a height, and then where lanes and tracks are."""

    cards: Sequence[BoxContent]
    lane_of: Mapping[int, int]
    names: Sequence[str]
    arrangement: BoxOrder
    plans: Sequence[Route]
    across: HorizontalLayout
    lanes: list[int] = field(default_factory=list)
    track: dict[tuple[int, int], int] = field(default_factory=dict)

    def panel(self, top: int) -> Panel:
        """The panel below `top`."""
        bottom = self._set_heights(top)
        ports = self._ports()
        lines = [self._points(number, each, ports) for number, each in enumerate(self.plans)]
        labels = [self._label(number, each, lines) for number, each in enumerate(self.plans)]
        right = max([self.across.right, *(label.area.right for label in labels)]) + GAP
        axis = Text(
            text=self.arrangement.axis,
            area=Area(x=self.across.left, y=bottom, width=right - self.across.left - GAP, height=HEADING),
        )
        return Panel(
            area=Area(x=0, y=top, width=right, height=bottom + HEADING - top),
            axis=axis,
            lanes=tuple(self._lane(lane, right) for lane in range(len(self.names))),
            boxes=tuple(self._box(number) for number in range(len(self.cards))),
            arrows=tuple(map(_arrow, self.plans, lines, labels)),
        )

    def _set_heights(self, top: int) -> int:
        """Channels and lanes from top to bottom; the end of the last channel."""
        levels = self._levels()
        y = top
        for lane in range(len(self.names) + 1):
            found = levels.get(lane, {})
            tracks_of = tracks(list(found.values()))
            for part, track in zip(found, tracks_of, strict=True):
                self.track[part] = y + _CHANNEL + _TRACK * track + _TRACK // 2
            y += 2 * _CHANNEL + _TRACK * (max(tracks_of) + 1) if found else _EMPTY
            if lane < len(self.names):
                self.lanes.append(y)
                y += max(card.height for n, card in enumerate(self.cards) if self.lane_of[n] == lane)
        return y

    def _levels(self) -> dict[int, dict[tuple[int, int], Level]]:
        """The level parts of every channel, by arrow and place in it."""
        found: defaultdict[int, dict[tuple[int, int], Level]] = defaultdict(dict)
        for number, each in enumerate(self.plans):
            labelled = self._labelled(each)
            for part, channel in enumerate(each.channels):
                found[channel][number, part] = self._level(each, part, is_labelled=part == labelled)
        return found

    def _labelled(self, each: Route) -> int:
        """The longest level part of an arrow."""
        lengths = [
            -abs(self._turn(each, part) - self._turn(each, part + 1)) for part in range(len(each.channels))
        ]
        return lengths.index(min(lengths)) if lengths else 0

    def _turn(self, each: Route, part: int) -> int:
        return self.across.verticals[each.verticals[part]]

    def _level(self, each: Route, part: int, *, is_labelled: bool) -> Level:
        first, second = self._turn(each, part), self._turn(each, part + 1)
        low, high = sorted((first, second))
        start = self._comes_from(each, part)
        end = -self._comes_from(each, part + 1) if part + 1 < len(each.channels) else self._goes_to(each)
        room = (low, high)
        if is_labelled:
            x, width = self._centred(each, low, high)
            room = (min(low, x), max(high, x + width))
        return Level(low, high, room, ((first, start), (second, end)))

    def _centred(self, each: Route, low: int, high: int) -> tuple[int, int]:
        width = label_width(each.link.label)
        return max(self.across.left, (low + high - width) // 2), width

    def _comes_from(self, each: Route, part: int) -> int:
        """Whether a level part is reached from above (-1) or from below (1)."""
        above = (
            self.lane_of[each.start[0]] < each.channels[0]
            if part == 0
            else each.channels[0] < each.channels[1]
        )
        return -1 if above else 1

    def _goes_to(self, each: Route) -> int:
        return -1 if self.lane_of[each.end[0]] < each.channels[-1] else 1

    def _ports(self) -> dict[tuple[int, bool], int]:
        """The heights at which each arrow starts and ends; several at one operation are spread."""
        wanted: defaultdict[tuple[Edge, int], list[tuple[int, bool]]] = defaultdict(list)
        for number, each in enumerate(self.plans):
            for edge, index, is_start in (
                (each.start, each.link.start, True),
                (each.end, each.link.end, False),
            ):
                wanted[edge, self._middle(edge[0], None if each.direct else index)].append((number, is_start))
        found = {}
        for (_, middle), users in wanted.items():
            step = min(9, 14 // max(1, len(users) - 1))
            for place, user in enumerate(users):
                found[user] = middle + place * step - (len(users) - 1) * step // 2
        return found

    def _middle(self, number: int, index: int | None) -> int:
        top = self.lanes[self.lane_of[number]]
        places = [row for row, (_, other, _) in enumerate(self.cards[number].rows) if other == index]
        if index is None or not places:
            return top + HEADING // 2
        return top + HEADING + ROW * places[0] + ROW // 2

    def _points(
        self, number: int, each: Route, ports: Mapping[tuple[int, bool], int]
    ) -> list[tuple[int, int]]:
        start, end = ports[number, True], ports[number, False]
        points = [(self.across.edges[each.start], start)]
        if each.direct:
            return [*points, (self.across.edges[each.end], start)]
        y = start
        for part, vertical in enumerate(each.verticals):
            x = self.across.verticals[vertical]
            points.append((x, y))
            y = self.track[number, part] if part < len(each.channels) else end
            points.append((x, y))
        return [*points, (self.across.edges[each.end], end)]

    def _label(self, number: int, each: Route, lines: Sequence[Sequence[tuple[int, int]]]) -> Text:
        """On the longest level part, where no line of another runs behind it if that can be."""
        if each.direct:
            low, high = lines[number][0][0] + 4, lines[number][1][0] - 12
            y = lines[number][0][1]
        else:
            part = self._labelled(each)
            low, high = sorted((self._turn(each, part), self._turn(each, part + 1)))
            y = self.track[number, part]
        x, width = self._centred(each, low, high)
        behind = [at for other, line in enumerate(lines) if other != number for at in _uprights_at(line, y)]
        shifts = range(0, max(0, (high - low - width) // 2 - 4) + 1, _SHIFT)
        places = [x, *(x + sign * shift for shift in shifts[1:] for sign in (-1, 1))]
        best = min(places, key=lambda at: sum(at - 2 < other < at + width + 2 for other in behind))
        return Text(text=each.link.label, area=Area(x=best, y=y - _LABEL // 2, width=width, height=_LABEL))

    def _lane(self, lane: int, right: int) -> Lane:
        height = max(card.height for n, card in enumerate(self.cards) if self.lane_of[n] == lane)
        name, top = self.names[lane], self.lanes[lane]
        return Lane(
            label=Text(text=name, area=Area(x=GAP, y=top, width=measure(name), height=HEADING)),
            area=Area(x=0, y=top - _BAND, width=right, height=height + 2 * _BAND),
        )

    def _box(self, number: int) -> Box:
        card, top = self.cards[number], self.lanes[self.lane_of[number]]
        left, right = self.across.edges[number, LEFT], self.across.edges[number, RIGHT]
        rows = tuple(
            Row(
                text=text,
                index=index,
                matters=matters,
                area=Area(x=left, y=top + HEADING + place * ROW, width=right - left, height=ROW),
            )
            for place, (text, index, matters) in enumerate(card.rows)
        )
        return Box(
            transaction=printable(card.participant.transaction),
            title=card.title,
            status=card.participant.status,
            note=card.note,
            area=Area(x=left, y=top, width=right - left, height=card.height),
            heading=Area(x=left + PADDING, y=top, width=right - left - 2 * PADDING, height=HEADING),
            rows=rows,
            open_left=(number, LEFT) in self.arrangement.unknown,
            open_right=(number, RIGHT) in self.arrangement.unknown,
        )


def _uprights_at(line: Sequence[tuple[int, int]], y: int) -> list[int]:
    """Where a line crosses this height."""
    return [
        x
        for (x, start), (other, end) in pairwise(line)
        if x == other and min(start, end) < y < max(start, end)
    ]


def _arrow(each: Route, points: Sequence[tuple[int, int]], label: Text) -> Arrow:
    link = each.link
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
