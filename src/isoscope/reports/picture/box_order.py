"""The order of boxes in a picture: lanes from top to bottom, edges of boxes from left to right."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from isoscope.reports.picture.links import Link
    from isoscope.verdict import Participant

__all__ = ["LEFT", "RIGHT", "BoxOrder", "Edge", "lanes_of", "order_boxes"]

#: A side of a box: the number of the box among the participants, and `LEFT` or `RIGHT`.
Edge = tuple[int, str]
LEFT, RIGHT = "left", "right"
_AXES = {"intervals": "time", "events": "order of events", "timestamps": "database time"}
_PROOF = "order of the proof: not time"
#: The best order of this many is found by looking at every set of them.
_MAX_BEST = 10
_FAR = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxOrder:
    """All edges from left to right; `axis` says what that direction means, `unknown` which have no time."""

    edges: tuple[Edge, ...]
    axis: str
    unknown: frozenset[Edge] = frozenset()


def lanes_of(participants: Sequence[Participant]) -> tuple[int, ...]:
    """The numbers of the sessions in the order of their first participants."""
    return tuple(dict.fromkeys(participant.lane for participant in participants))


def order_boxes(participants: Sequence[Participant], links: Iterable[Link]) -> BoxOrder:
    """By the clock that all participants have, else so that most arrows point to the right."""
    clocks = {participant.clock for participant in participants}
    if len(clocks) == 1 and (axis := _AXES.get(clocks.pop())) and (timed := _by_clock(participants, axis)):
        return timed
    return BoxOrder(edges=_columns(_best_order(participants, links)), axis=_PROOF)


def _by_clock(participants: Sequence[Participant], axis: str) -> BoxOrder | None:
    """None if the clock contradicts the order of a session."""
    if all(begin is None for begin, _ in (p.times for p in participants)):
        return _by_completion(participants)
    times = _spans(participants)
    edges = sorted(
        ((number, side) for number in range(len(participants)) for side in (LEFT, RIGHT)),
        key=lambda edge: (*_moment(times[edge[0]], edge[1]), edge),
    )
    if not _keeps_sessions(participants, edges):
        return None
    unknown = (
        (number, side)
        for number, participant in enumerate(participants)
        for side, time in zip((LEFT, RIGHT), participant.times, strict=True)
        if time is None
    )
    return BoxOrder(edges=tuple(edges), axis=axis, unknown=frozenset(unknown))


def _by_completion(participants: Sequence[Participant]) -> BoxOrder | None:
    """By end alone: beginnings are unknown, so that boxes cannot show which transactions overlap."""
    numbers = range(len(participants))
    ends = [_FAR if p.times[1] is None else p.times[1] for p in participants]
    edges = _columns(sorted(numbers, key=lambda number: (ends[number], participants[number].position)))
    if not _keeps_sessions(participants, edges):
        return None
    return BoxOrder(edges=edges, axis="order of completion: beginnings are unknown")


def _spans(participants: Sequence[Participant]) -> list[tuple[float, float]]:
    """Begin and end of each; an unknown time is that of the neighbour in the session, or far away."""
    spans = [
        (-_FAR if begin is None else begin, _FAR if end is None else end)
        for begin, end in (p.times for p in participants)
    ]
    for lane in lanes_of(participants):
        for first, second in pairwise(_in_session(participants, lane)):
            if spans[second][0] == -_FAR:
                spans[second] = (spans[first][1], spans[second][1])
            if spans[first][1] == _FAR:
                spans[first] = (spans[first][0], spans[second][0])
    return spans


def _moment(span: tuple[float, float], side: str) -> tuple[float, int]:
    """An end stands before a begin at the same instant, unless its transaction takes no time at all."""
    begin, end = span
    if side == LEFT:
        return begin, 1
    return end, 0 if begin < end else 2


def _keeps_sessions(participants: Sequence[Participant], edges: Sequence[Edge]) -> bool:
    place = {edge: number for number, edge in enumerate(edges)}
    for lane in lanes_of(participants):
        inside = [(number, side) for number in _in_session(participants, lane) for side in (LEFT, RIGHT)]
        if any(place[first] > place[second] for first, second in pairwise(inside)):
            return False
    return True


def _in_session(participants: Sequence[Participant], lane: int) -> list[int]:
    numbers = (number for number, participant in enumerate(participants) if participant.lane == lane)
    return sorted(numbers, key=lambda number: participants[number].position)


def _columns(order: Iterable[int]) -> tuple[Edge, ...]:
    return tuple((number, side) for number in order for side in (LEFT, RIGHT))


def _best_order(participants: Sequence[Participant], links: Iterable[Link]) -> list[int]:
    """Keeps the order of each session and lets as many arrows as possible point to the right."""
    sessions = [_in_session(participants, lane) for lane in lanes_of(participants)]
    before = {second: first for session in sessions for first, second in pairwise(session)}
    if len(participants) > _MAX_BEST:
        return _in_given_order(len(participants), before)
    names = {participant.transaction: number for number, participant in enumerate(participants)}
    arrows = [
        (names[link.before], names[link.after], _price(link))
        for link in links
        if link.before in names and link.after in names
    ]
    return list(_cheapest(len(participants), before, arrows))


def _price(link: Link) -> int:
    """The price of an arrow that points to the left; an `rw` arrow is the first to do so."""
    return 10 if link.relation == "rw" else 11


def _in_given_order(count: int, before: dict[int, int]) -> list[int]:
    """As they come, each after its predecessor in the session."""
    order: dict[int, None] = {}
    for number in range(count):
        waiting = [number]
        while waiting[-1] in before and before[waiting[-1]] not in order:
            waiting.append(before[waiting[-1]])
        order |= dict.fromkeys(reversed(waiting))
    return list(order)


def _cheapest(count: int, before: dict[int, int], arrows: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
    """The cheapest order, and of equal ones the first; found set by set (Held and Karp 1962)."""
    best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for members in range(1, 1 << count):
        found = []
        for last in (number for number in range(count) if members >> number & 1):
            rest = members & ~(1 << last)
            if rest not in best or (last in before and not rest >> before[last] & 1):
                continue
            price, order = best[rest]
            back = sum(cost for start, end, cost in arrows if start == last and rest >> end & 1)
            found.append((price + back, (*order, last)))
        if found:
            best[members] = min(found)
    return best[(1 << count) - 1][1]
