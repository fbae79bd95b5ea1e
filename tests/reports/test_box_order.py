"""The order of boxes: by a clock if there is one, else so that arrows go to the right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isoscope.reports.picture.box_order import LEFT, RIGHT, BoxOrder, order_boxes
from isoscope.reports.picture.links import links
from tests.reports.anomalies import circle


def arranged(*times: tuple[int | None, int | None], clock: str = "intervals", lanes: str = "") -> BoxOrder:
    """Transactions with these times; `lanes` gives each a session, else each has its own."""
    anomaly = circle(len(times))
    participants = [
        replace(participant, clock=clock, times=span, lane=int(lanes[number]) if lanes else number)
        for number, (participant, span) in enumerate(zip(anomaly.participants, times, strict=True))
    ]
    placed = [
        replace(each, position=sum(other.lane == each.lane for other in participants[:number]))
        for number, each in enumerate(participants)
    ]
    return order_boxes(placed, links(anomaly.steps))


def shape(arrangement: BoxOrder) -> str:
    """`a( b( a) b)`."""
    return " ".join("abcdefg"[number] + ("(" if side == LEFT else ")") for number, side in arrangement.edges)


def test_boxes_that_overlap_in_time_overlap_in_the_picture() -> None:
    assert shape(arranged((0, 10), (5, 15), (12, 20))) == "a( b( a) c( b) c)"


@pytest.mark.parametrize(
    ("clock", "axis"),
    [
        ("intervals", "time"),
        ("events", "order of events"),
        ("timestamps", "database time"),
        ("", "order of the proof: not time"),
    ],
)
def test_the_axis_has_a_name(clock: str, axis: str) -> None:
    assert arranged((0, 1), (2, 3), clock=clock).axis == axis


def test_an_unknown_end_is_open_and_far() -> None:
    found = arranged((0, None), (2, 3))
    assert shape(found) == "a( b( b) a)"
    assert found.unknown == {(0, RIGHT)}


def test_an_unknown_end_comes_before_the_next_transaction_of_the_session() -> None:
    assert shape(arranged((0, None), (2, 3), (9, 10), lanes="001")) == "a( a) b( b) c( c)"


def test_an_unknown_beginning_is_open_and_early() -> None:
    found = arranged((5, 6), (None, 7))
    assert shape(found) == "b( a( a) b)"
    assert found.unknown == {(1, LEFT)}


def test_without_any_beginning_the_boxes_stand_in_the_order_of_their_ends() -> None:
    found = arranged((None, 9), (None, 7))
    assert shape(found) == "b( b) a( a)"
    assert found.axis == "order of completion: beginnings are unknown"


def test_a_transaction_that_ends_when_another_begins_stands_before_it() -> None:
    assert shape(arranged((0, 5), (5, 5), (5, 9))) == "a( a) b( c( b) c)"


@pytest.mark.parametrize("times", [((5, 9), (0, 3)), ((0, 5), (3, 9)), ((5, 3), (8, 9))])
def test_a_clock_that_contradicts_a_session_is_not_followed(times: tuple[tuple[int, int], ...]) -> None:
    found = arranged(*times, lanes="00")
    assert shape(found) == "a( a) b( b)"
    assert found.axis == "order of the proof: not time"


def test_without_a_clock_as_few_arrows_as_possible_go_to_the_left() -> None:
    """A circle has one of them: it goes from the last to the first."""
    for size in (2, 5, 9):
        anomaly = circle(size)
        turned = replace(anomaly, participants=anomaly.participants[::-1])
        order = [n for n, side in order_boxes(turned.participants, links(turned.steps)).edges if side == LEFT]
        place = {turned.participants[number].transaction: at for at, number in enumerate(order)}
        assert sum(place[step.before] > place[step.after] for step in anomaly.steps) == 1


def test_a_session_keeps_its_order_even_against_the_arrows() -> None:
    for size in (6, 20):
        anomaly = circle(size, sessions=2)
        turned = anomaly.participants[::-1]
        order = [number for number, side in order_boxes(turned, links(anomaly.steps)).edges if side == LEFT]
        for lane in (0, 1):
            positions = [turned[number].position for number in order if turned[number].lane == lane]
            assert positions == sorted(positions)
