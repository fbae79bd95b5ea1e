"""The benchmarks can be run: what they plot is a picture, what they measure is a history."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from benchmarks import growth, measure, weak
from benchmarks.plot import Panel, figure

from isoscope import formats
from isoscope.workloads import Workload, generate

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def points() -> list[growth.Growth]:
    figures = dict.fromkeys(growth.ASKED, 0.5)
    return [
        growth.Growth(figure=name, label=label, operations=1e6, seconds=figures, memory=figures)
        for name, workloads in growth.FIGURES.items()
        for label in workloads
    ]


def test_growth_is_plotted_and_tabled_figure_by_figure() -> None:
    for picture in growth.pictures(points()).values():
        panels = ElementTree.fromstring(picture).findall(f"{SVG}g")
        assert len(panels) == len(growth.FIGURES)
    page = growth.page(points())
    assert page.count("\n| ") == sum(map(len, growth.FIGURES.values())) + len(growth.FIGURES)
    assert "| 400k | 1,000,000 | 0.500 s, 0 MB |" in page


def test_a_line_runs_through_its_values() -> None:
    panel = Panel(title="a < b", across="x", labels=["1", "2"], series={"one": [0.0, 1.0]})
    root = ElementTree.fromstring(figure([panel], title="t"))
    [line] = root.iter(f"{SVG}polyline")
    (left, bottom), (right, top) = [map(float, point.split(",")) for point in line.attrib["points"].split()]
    assert left < right
    assert bottom > top
    assert not list(ElementTree.fromstring(figure([replaced(panel)], title="t")).iter(f"{SVG}polyline"))


def replaced(panel: Panel) -> Panel:
    return Panel(
        title=panel.title, across=panel.across, labels=panel.labels, series=panel.series, joined=False
    )


def test_a_measurement_has_time_memory_and_yardstick(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    formats.save(generate(Workload(transactions=100)), path)
    found = measure.measured(path, path, check=True, levels=("causal",))
    assert found["operations"] == 800
    assert found["violated"] == 0
    assert min(found["seconds"], found["check"], found["yardstick"], found["check_memory"]) > 0


def test_session_by_session_is_the_same_history(tmp_path: Path) -> None:
    source, target = tmp_path / "history.txt", tmp_path / "by-session.txt"
    formats.save(generate(Workload(transactions=50, sessions=12)), source)
    weak.write_by_session(source, target)
    one, other = formats.load(source), formats.load(target)
    sessions = [transaction.session_id for transaction in other]
    assert sessions == sorted(map(int, map(str, sessions)))
    assert sorted((t.session_id, t.id) for t in one) == [(t.session_id, t.id) for t in other]


@pytest.mark.parametrize("figure", growth.FIGURES)
def test_every_figure_has_its_points(figure: str) -> None:
    assert len(growth.FIGURES[figure]) >= 3
