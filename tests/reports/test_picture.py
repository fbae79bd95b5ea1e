"""Pictures, measured: nothing lies over anything else, everything lies inside."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from isoscope.checkers import check
from isoscope.reports.picture.layout import MANY, TOO_MANY, lay_out_picture
from isoscope.reports.picture.model import Area
from isoscope.verdict import START, AlternativesFacts, Anomaly, Step
from tests.recorded import record
from tests.reports.anomalies import CASES, HOSTILE, anomaly_of, circle, shown
from tests.strategies import histories, jepsen_histories

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from isoscope.history import History
    from isoscope.reports.picture.model import Arrow, Box, Panel, Picture


def assert_tidy(picture: Picture) -> None:
    texts = [picture.title, *picture.remarks, *(text for _, text in picture.legend)]
    assert_inside([text.area for text in texts], picture.area)
    assert_apart([text.area for text in texts])
    for panel in picture.panels:
        assert_tidy_panel(panel, picture.area)
    assert_apart([panel.area for panel in picture.panels] + [text.area for _, text in picture.legend])


def assert_tidy_panel(panel: Panel, frame: Area) -> None:
    boxes = [box.area for box in panel.boxes]
    labels = [arrow.label.area for arrow in panel.arrows]
    lanes = [lane.label.area for lane in panel.lanes]
    captions = [text.area for text in (panel.axis, panel.caption) if text]
    assert_inside([*boxes, *labels, *lanes, *captions], frame)
    assert_apart([*boxes, *labels, *lanes, *captions])
    for box in panel.boxes:
        assert_inside([row.area for row in box.rows], box.area)
        assert_apart([row.area for row in box.rows])
    for arrow in panel.arrows:
        assert_clear(arrow, panel.boxes, frame)
    assert_apart_lines(panel.arrows)


def assert_inside(areas: list[Area], frame: Area) -> None:
    for area in areas:
        assert frame.x <= area.x
        assert frame.y <= area.y
        assert area.right <= frame.right
        assert area.bottom <= frame.bottom


def assert_apart(areas: list[Area]) -> None:
    for first, second in combinations(areas, 2):
        assert not first.meets(second), (first, second)


def assert_clear(arrow: Arrow, boxes: tuple[Box, ...], frame: Area) -> None:
    """An arrow leaves one box and enters another, and runs over none."""
    start, end = arrow.points[0], arrow.points[-1]
    sides = {box.transaction: box.area for box in boxes}
    for (x, y), name in ((start, arrow.before), (end, arrow.after)):
        assert x in (sides[name].x, sides[name].right)
        assert sides[name].y < y < sides[name].bottom
    for (x, y), (to_x, to_y) in pairwise(arrow.points):
        assert x == to_x or y == to_y
        line = Area(x=min(x, to_x), y=min(y, to_y), width=abs(x - to_x) or 1, height=abs(y - to_y) or 1)
        assert_inside([line], frame)
        assert not any(line.meets(box.area) for box in boxes)


def assert_apart_lines(arrows: Sequence[Arrow]) -> None:
    """No two arrows share a vertical part: each can be followed."""
    uprights = [
        (x, min(y, to_y), max(y, to_y), arrow.step)
        for arrow in arrows
        for (x, y), (to_x, to_y) in pairwise(arrow.points)
        if x == to_x and y != to_y
    ]
    for (x, top, bottom, step), (other, above, below, another) in combinations(uprights, 2):
        if step != another:
            assert x != other or bottom <= above or below <= top


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_picture_of_a_case_is_tidy(path: Path) -> None:
    anomaly = anomaly_of(path)
    picture = lay_out_picture(anomaly)
    assert_tidy(picture)
    drawn = [arrow.step for panel in picture.panels for arrow in panel.arrows]
    assert [step for step in drawn if step.isdigit()] == [str(n) for n in range(len(anomaly.steps))]
    assert {box.transaction for panel in picture.panels for box in panel.boxes} >= {*anomaly.transactions}


@given(histories())
def test_the_picture_of_any_anomaly_is_tidy(history: History) -> None:
    for anomaly in shown(check(history)):
        assert_tidy(lay_out_picture(anomaly))


@given(jepsen_histories())
def test_the_picture_of_transactions_with_times_is_tidy(history: History) -> None:
    for anomaly in shown(check(history)):
        assert_tidy(lay_out_picture(anomaly))


@pytest.mark.parametrize("clock", ["", "intervals"])
@pytest.mark.parametrize("sessions", [0, 1, 3])
@pytest.mark.parametrize("size", [2, 6, 12, MANY])
def test_a_large_circle_is_tidy(size: int, sessions: int, clock: str) -> None:
    assert_tidy(lay_out_picture(circle(size, sessions=sessions, clock=clock)))


@pytest.mark.parametrize("text", [*HOSTILE, "x" * 10_000_000], ids=range(len(HOSTILE) + 1))
def test_a_hostile_key_is_short_and_printable(text: str) -> None:
    picture = lay_out_picture(circle(3, key=text))
    assert_tidy(picture)
    texts = [row.text for panel in picture.panels for box in panel.boxes for row in box.rows]
    texts += [arrow.label.text for panel in picture.panels for arrow in panel.arrows]
    assert all(text.isprintable() and len(text) < 60 for text in texts)


def test_operations_are_left_out_of_many_transactions_and_too_many_are_not_drawn() -> None:
    [panel] = lay_out_picture(circle(MANY)).panels
    assert all(box.rows for box in panel.boxes)
    [panel] = lay_out_picture(circle(MANY + 1)).panels
    assert len(panel.boxes) == MANY + 1
    assert not any(box.rows for box in panel.boxes)
    refused = lay_out_picture(circle(TOO_MANY + 1))
    assert refused.panels == ()
    assert [text.text for text in refused.remarks] == ["201 transactions take part: too many to draw"]


def test_an_arrow_goes_from_the_write_to_the_read() -> None:
    [panel] = lay_out_picture(circle(2)).panels
    writer, reader = panel.boxes
    arrow = next(arrow for arrow in panel.arrows if arrow.before == writer.transaction)
    write, read = writer.rows[0].area, reader.rows[1].area
    assert write.y < arrow.points[0][1] < write.bottom
    assert read.y < arrow.points[-1][1] < read.bottom
    assert arrow.label.text == "wr x"


def test_a_stale_read_points_to_the_write_that_it_missed() -> None:
    history = record([("read", "x", 0), ("write", "y", 1)], [("read", "y", 0), ("write", "x", 1)])
    anomaly = next(a for a in shown(check(history, method="version-order")) if a.name == "write-skew")
    [panel] = lay_out_picture(anomaly).panels
    assert {(arrow.relation, arrow.inferred) for arrow in panel.arrows} == {("rw", True)}
    for arrow in panel.arrows:
        rows = {box.transaction: box.rows for box in panel.boxes}
        assert rows[arrow.before][0].area.y < arrow.points[0][1] < rows[arrow.before][0].area.bottom
        assert rows[arrow.after][1].area.y < arrow.points[-1][1] < rows[arrow.after][1].area.bottom


def test_a_conflict_is_closed_by_the_write_that_its_reader_did_not_see() -> None:
    history = record([("write", "x", 1), ("write", "y", 1)], [("read", "x", 0), ("read", "y", 1)])
    [anomaly] = {a.name: a for a in shown(check(history, ["read-atomic"]))}.values()
    [panel] = lay_out_picture(anomaly).panels
    assert [(a.step, a.label.text, a.inferred) for a in panel.arrows] == [
        ("0", "wr y", False),
        ("missed", "rw x", True),
    ]


def test_each_order_of_two_versions_has_a_panel_of_its_own() -> None:
    [path, *_] = [path for path in CASES if path.parent.name == "no-commit-order"]
    picture = lay_out_picture(anomaly_of(path))
    captions = [panel.caption.text for panel in picture.panels if panel.caption]
    assert captions == [
        "if the version of T0 comes before that of T1 in :x:",
        "if the version of T1 comes before that of T0 in :x:",
    ]
    steps = [arrow.step for panel in picture.panels for arrow in panel.arrows]
    assert steps == ["0", "1", "2", "3", "4", "5"]


def test_a_proof_by_every_order_has_nothing_to_draw() -> None:
    picture = lay_out_picture(
        Anomaly(name="no-commit-order", transactions=(), keys=(), facts=AlternativesFacts(alternatives=()))
    )
    assert_tidy(picture)
    assert "every order of the versions" in picture.remarks[0].text


def test_the_initial_state_stands_before_all_transactions() -> None:
    anomaly = circle(2)
    steps = (*anomaly.steps, Step(before=START, after="T1", relation="ww", key="x"))
    picture = lay_out_picture(replace(anomaly, steps=steps))
    assert_tidy(picture)
    [panel] = picture.panels
    start, *others = panel.boxes
    assert start.transaction == START
    assert all(start.area.right < box.area.x for box in others)


def test_an_anomaly_without_participants_still_has_boxes() -> None:
    picture = lay_out_picture(replace(circle(3), participants=()))
    assert_tidy(picture)
    assert [box.title for box in picture.panels[0].boxes] == ["T0", "T1", "T2"]


def test_the_legend_names_the_kinds_that_occur_and_no_other() -> None:
    picture = lay_out_picture(circle(2))
    assert [kind for kind, _ in picture.legend] == ["wr"]
