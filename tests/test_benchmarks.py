"""The benchmarks can be run: what they plot is a picture, what they measure is a history."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from benchmarks import adya, growth, measure, report, weak
from benchmarks.plot import Panel, figure

from isoscope import _native, formats
from isoscope.levels import Level
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


def test_both_graphs_of_snapshot_isolation_say_the_same() -> None:
    verdicts = []
    for seed in range(20):
        history = generate(replace(adya.workload(9), level=Level.CAUSAL, seed=seed, max_operations=4, keys=8))
        found = {name: search(build(history), inf) for name, (build, search) in adya.METHODS.items()}
        assert len(set(found.values())) == 1, found
        verdicts.append(found["BC-graph"])
    assert {*verdicts} == {False, True}


def test_a_search_ends_at_its_limit() -> None:
    complete = [[(after, True) for after in range(20) if after != node] for node in range(20)]
    with pytest.raises(adya.TooLongError):
        adya.has_forbidden_cycle(complete, perf_counter() + 0.05)


def test_points_of_both_graphs_are_tabled_and_plotted() -> None:
    points = list(adya.measure_all((20, 40)))
    names = list(adya.METHODS)
    points.append(
        adya.Point(
            transactions=80, built=dict.fromkeys(names, 0.0), searched={**dict.fromkeys(names), names[0]: 0.5}
        )
    )
    page = adya.page(points)
    assert page.count("\n| ") == len(points)
    assert page.endswith("| 80 | 0.000 + 0.500 s | too long | too long |\n")
    [picture] = adya.pictures(points).values()
    assert len(list(ElementTree.fromstring(picture).iter(f"{SVG}polyline"))) == 2 * len(names)


def test_the_search_alone_sees_a_graph_without_cycles() -> None:
    graph = _native.Graph.begins_and_commits(seed=1, transactions=100, sessions=4, dependencies=200)
    assert (graph.nodes, graph.edges, graph.components()) == (200, 100 + 96 + 200, 200)
    with pytest.raises(ValueError, match="same number of transactions"):
        _native.Graph.begins_and_commits(seed=1, transactions=10, sessions=4, dependencies=0)


def test_a_planted_violation_is_found_as_often_as_it_was_planted(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    formats.save(generate(Workload(transactions=20)), path)
    report.with_violations(path, first=1000, of_each=3)
    found = report.written(str(path))
    assert (found["found"], found["shown"]) == (12, 12)
