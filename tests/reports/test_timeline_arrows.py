"""Arrows of a timeline: each dependency is named, and drawn from one bar to the other."""

from __future__ import annotations

import re

from isoscope.checkers import check
from isoscope.profiles import PROFILES
from isoscope.reports.svg import render_svg
from tests.reference.timed import commit, committed, history, read, write

#: T0 read x before T1's commit and y after T2's, which came later.
TORN = history(
    committed(read("x", 0, 350, 600), read("y", 1, 1000, 1100), commit(1200, 1300)),
    committed(write("x", 1, 100, 150), commit(200, 380)),
    committed(write("y", 1, 390, 395), commit(500, 550)),
    initial=0,
)
ARROW = re.compile(
    r'<g class="dependency (\w+)"><title>([^<]+)</title><path d="M(\S+) (\S+?)C(?:\S+ ){4}(\S+) (\S+?)M'
)
BAR = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"[^>]*class="bar')


def drawn() -> str:
    report = check(TORN, profile=PROFILES["postgresql/repeatable-read"])
    assert report.mechanisms is not None
    [anomaly] = [one for verdict in report.mechanisms.verdicts for one in verdict.anomalies]
    return render_svg(anomaly)


def test_every_arrow_is_named_beside_its_colour() -> None:
    arrows = ARROW.findall(drawn())
    assert [arrow[0] for arrow in arrows] == ["rw", "wr"]
    assert [arrow[1] for arrow in arrows] == [
        "rw: did not see what the other wrote",
        "wr: wrote what the other read",
    ]
    assert [drawn().count(f">{relation}</text>") for relation in ("rw", "wr")] == [1, 1]


def test_an_arrow_begins_and_ends_at_the_edge_of_a_bar() -> None:
    """Also one that goes back in time: it crosses no label."""
    picture = drawn()
    bars = [tuple(map(float, bar)) for bar in BAR.findall(picture)]
    assert bars
    for *_, x, y, to, below in ARROW.findall(picture):
        for point in ((float(x), float(y)), (float(to), float(below))):
            assert any(_is_at_edge(point, bar) for bar in bars), point


def _is_at_edge(point: tuple[float, float], bar: tuple[float, ...]) -> bool:
    left, top, width, height = bar
    is_across = left <= point[0] <= left + width
    return is_across and min(abs(point[1] - top), abs(point[1] - top - height)) < 1
