"""Vertical positions in a panel: lanes of boxes, and between them channels with a track for each arrow."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from isoscope.reports.picture.arrow_routes import HorizontalPart, assign_tracks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isoscope.reports.picture.arrow_routes import Route
    from isoscope.reports.picture.horizontal_layout import HorizontalLayout

__all__ = ["VerticalLayout", "lay_out_vertically"]

#: Heights of a track, of the free space above and below the tracks of a channel, and of an empty channel.
_TRACK, _CHANNEL, _EMPTY = 19, 8, 14
_UP, _DOWN = -1, 1


class VerticalLayout(NamedTuple):
    """The y of each lane, and of each horizontal part: the number of its arrow, and its place in that."""

    lanes: Sequence[int]
    tracks: Mapping[tuple[int, int], int]
    bottom: int


def lay_out_vertically(
    heights: Sequence[int],
    routes: Sequence[Route],
    horizontal: HorizontalLayout,
    lane_of: Mapping[int, int],
    *,
    top: int,
) -> VerticalLayout:
    """Channels and lanes from top to bottom; `heights` are those of the lanes."""
    channels = _channels(routes, horizontal, lane_of)
    lanes: list[int] = []
    tracks: dict[tuple[int, int], int] = {}
    y = top
    for channel in range(len(heights) + 1):
        parts = channels.get(channel, {})
        numbers = assign_tracks(list(parts.values()))
        for part, number in zip(parts, numbers, strict=True):
            tracks[part] = y + _CHANNEL + _TRACK * number + _TRACK // 2
        y += 2 * _CHANNEL + _TRACK * (max(numbers) + 1) if parts else _EMPTY
        if channel < len(heights):
            lanes.append(y)
            y += heights[channel]
    return VerticalLayout(lanes, tracks, y)


def _channels(
    routes: Sequence[Route], horizontal: HorizontalLayout, lane_of: Mapping[int, int]
) -> dict[int, dict[tuple[int, int], HorizontalPart]]:
    """The horizontal parts of every channel, by arrow and place in it."""
    found: defaultdict[int, dict[tuple[int, int], HorizontalPart]] = defaultdict(dict)
    for number, route in enumerate(routes):
        for part, channel in enumerate(route.channels):
            found[channel][number, part] = _horizontal_part(route, part, horizontal, lane_of)
    return found


def _horizontal_part(
    route: Route, part: int, horizontal: HorizontalLayout, lane_of: Mapping[int, int]
) -> HorizontalPart:
    first, second = horizontal.span(route, part)
    low, high = sorted((first, second))
    room = (low, high)
    if part == horizontal.labelled_part(route):
        x, width = horizontal.centred_label(route, low, high)
        room = (min(low, x), max(high, x + width))
    start, end = _turns(route, part, lane_of)
    return HorizontalPart(low, high, room, ((first, start), (second, end)))


def _turns(route: Route, part: int, lane_of: Mapping[int, int]) -> tuple[int, int]:
    """Whether the arrow comes from above or below, and whether it goes on up or down."""
    if part == 0:
        start = _side(lane_of[route.start[0]] < route.channels[0])
    else:
        start = _side(route.channels[0] < route.channels[1])
    if part + 1 < len(route.channels):
        return start, -_side(route.channels[0] < route.channels[1])
    return start, _side(lane_of[route.end[0]] < route.channels[-1])


def _side(is_above: bool) -> int:  # noqa: FBT001 - the only thing that it is about
    return _UP if is_above else _DOWN
