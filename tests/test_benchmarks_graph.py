"""The benchmark of levels as queries: its histories, its tables and its plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benchmarks import graph, graph_page
from benchmarks.graph_cases import EXPERIMENTS
from benchmarks.plot import Panel, figure

import isoscope
from isoscope.graphdb import LEVELS, QueryMethod, open_store
from isoscope.levels import Level
from isoscope.verdict import Outcome

if TYPE_CHECKING:
    from benchmarks.graph_cases import Case

STORES = ("LadybugDB", "Neo4j")


def case_of(experiment: str) -> Case:
    return next(case for case in EXPERIMENTS if case.experiment == experiment)


def made_up(case: Case, number: int) -> graph.Point:
    """A point whose queries take a hundred times as long as the native core, and longer with the level."""
    depths = graph.DEPTHS if case.experiment == "depth" else (4,)
    methods = QueryMethod if case.experiment.startswith("every") else graph.METHODS
    factors = {"vertices": 100 + number, "edges": 7 * number, "traversals": number**2 % 13}
    return graph.Point(
        case=case,
        factors={**factors, "density": number % 5, "aborted": 3},
        yardstick=0.0001,
        native=0.001,
        loading=dict.fromkeys(STORES, 0.4),
        queries={
            graph.Asked(store, method, depth, level): 0.1 * (1 + place) + number / 1e4
            for store in STORES
            for method in methods
            for depth in depths
            for place, level in enumerate(LEVELS)
        },
    )


def test_the_page_has_the_tables_of_the_thesis_and_the_least_ratios() -> None:
    points = [made_up(case, number) for number, case in enumerate(EXPERIMENTS)]
    least, *found = graph_page.tables(points)
    assert least.figures == {"query alone": "100", "with loading": "500"}
    groups = " ".join({one.group for one in found})
    for table in ("Table 5.3", "Table 5.5", "Table 5.6", "Table 5.7"):
        assert table in groups
    names = {one.name for one in found}
    assert "List3, rate below 34 (8), Neo4j, snapshot-isolation" in names
    assert "List3, rate 34 and above (8), LadybugDB, snapshot-isolation" in names
    assert all("native, all levels" in plot.svg() for plot in graph_page.plots(points))


@pytest.mark.parametrize(
    ("experiment", "violated"),
    [
        ("List1: collection time", {Level.SERIALIZABLE}),
        ("List2: collection time, nemesis", {*LEVELS} - {Level.PL_1, Level.PL_2}),
    ],
)
def test_the_nemesis_breaks_what_the_database_keeps_without_it(experiment: str, violated: set[Level]) -> None:
    largest = [case for case in EXPERIMENTS if case.experiment == experiment][-1]
    report = isoscope.check(largest.history(), LEVELS)
    assert {level for level in LEVELS if report[level].outcome is Outcome.VIOLATED} == violated


def test_a_point_is_measured_on_the_embedded_database() -> None:
    with open_store(":memory:") as store:
        point = graph.measure(case_of("Reg1: collection time"), {"LadybugDB": store})
        assert store.graphs() == []
    assert {asked.level for asked in point.queries} == {*graph.ASKED}
    assert 0 < point.native < min(point.queries.values())
    assert graph.line(point).startswith("Reg1: collection time 10: ")


def test_a_logarithmic_axis_has_a_line_for_each_power_of_ten() -> None:
    panel = Panel(title="t", across="x", labels=["1", "2"], series={"s": [0.5, 200.0]}, is_logarithmic=True)
    picture = figure([panel], title="f")
    assert [f">{power}<" in picture for power in ("0.01", "0.1", "1", "10", "100", "1000")] == [
        False, True, True, True, True, True,
    ]  # fmt: skip
