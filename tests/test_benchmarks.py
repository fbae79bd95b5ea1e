"""The benchmarks can be run: what they plot is a picture, what they measure is a history."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from benchmarks import (
    adya,
    clock,
    clock_growth,
    collection,
    comparison,
    growth,
    history_log,
    measure,
    pgbench,
    recording,
    report,
    weak,
)
from benchmarks.plot import Panel, figure

from isoscope import _native, formats
from isoscope.errors import DatabaseError
from isoscope.levels import Level
from isoscope.workloads import TABLE_1, Workload, generate

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def points() -> list[growth.Growth]:
    figures = dict.fromkeys(growth.ASKED, 0.5)
    return [
        growth.Growth(figure=name, label=label, operations=1e6, seconds=figures, memory=figures)
        for name, workloads in growth.FIGURES.items()
        for label in workloads
    ]


def test_growth_is_plotted_and_tabled_figure_by_figure() -> None:
    for plot in growth.plots(points()):
        panels = ElementTree.fromstring(plot.svg()).findall(f"{SVG}g")
        assert len(panels) == len(growth.FIGURES)
    found = [*map(growth.measurement, points())]
    assert len({one.group for one in found}) == len(growth.FIGURES)
    assert "400k" in [one.name for one in found]
    assert {one.figures["operations"] for one in found} == {"1,000,000"}
    assert {one.figures["causal"] for one in found} == {"0.500 s, 0 MB"}


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
    weak.renumber(target, renumbered := tmp_path / "renumbered.txt")
    again = list(formats.load(renumbered))
    assert [transaction.id for transaction in again] == list(range(len(again)))
    assert [t.operations for t in again] == [t.operations for t in other]


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
    last = adya.measurement(points[-1])
    assert last.name == "80 transactions"
    assert [*last.figures.values()] == ["0.000 + 0.500 s", "too long", "too long"]
    [plot] = adya.plots(points)
    assert len(list(ElementTree.fromstring(plot.svg()).iter(f"{SVG}polyline"))) == 2 * len(names)


def test_the_search_alone_sees_a_graph_without_cycles() -> None:
    graph = _native.Graph.begins_and_commits(seed=1, transactions=100, sessions=4, dependencies=200)
    assert (graph.nodes, graph.edges, graph.components()) == (200, 100 + 96 + 200, 200)
    with pytest.raises(ValueError, match="same number of transactions"):
        _native.Graph.begins_and_commits(seed=1, transactions=10, sessions=4, dependencies=0)


def test_a_planted_violation_is_found_as_often_as_it_was_planted(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    formats.save(generate(Workload(transactions=20)), path)
    report.with_violations(path, first=1000, of_each=3)
    found = report.written(str(path), str(path))
    assert (found["found"], found["shown"]) == (12, 12)


def test_a_command_is_measured_with_its_status(tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    formats.save(generate(Workload(transactions=20)), path)
    found = measure.measured_command("check", str(path), "--level", "causal")
    assert found["status"] == 0
    assert min(found["seconds"], found["peak"]) > 0
    assert measure.measured_command("check", str(path), "--level", "clock-serializable")["status"] == 3


def test_clock_levels_are_measured_against_their_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "DATA", tmp_path)
    sizes = {size: replace(workload, transactions=200) for size, workload in clock.SIZES.items()}
    rows = {row.name: row.figures for row in clock.measurements(sizes, repeats=1)}
    assert rows["clock-serializable, 1M JSON"]["limit"] == "4 s, 1.2 GB"
    assert rows["clock-serializable, violated, 1M Parquet"]["limit"] == "1.5 s, 1 GB"
    assert len(rows) == len(clock.CASES) + len(clock.STREAMED)
    assert all("peak" in figures for name, figures in rows.items() if "streaming" not in name)


def test_what_the_clock_was_promised_and_did_not_hold_stops_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "DATA", tmp_path)
    monkeypatch.setattr(clock_growth, "DATA", tmp_path)
    broken = replace(clock.DATABASES[clock.SNAPSHOT], bug="lost-update", bug_rate=1.0)
    monkeypatch.setitem(clock.DATABASES, clock.SNAPSHOT, broken)
    few = {"mix": clock_growth.Varied(workloads={"few": replace(TABLE_1, transactions=200)})}
    with pytest.raises(AssertionError, match="mix few: clock-snapshot-isolation does not hold"):
        list(clock_growth.measure_all(few))


def test_transactions_with_timestamps_are_sorted_by_session(tmp_path: Path) -> None:
    source, target = tmp_path / "history.json", tmp_path / "by-session.jsonl"
    clock.save(replace(TABLE_1, transactions=300), clock.SNAPSHOT, source)
    clock.write_by_session(source, target)
    in_commit_order = formats.load(source)
    expected = [t.id for t in sorted(in_commit_order, key=lambda t: int(str(t.session_id)))]
    assert [t.id for t in formats.load(target)] == expected
    assert [t.id for t in in_commit_order] != expected


def clock_points() -> list[clock_growth.Point]:
    figures = dict.fromkeys(clock.DATABASES, 0.5)
    return [
        clock_growth.Point(
            figure=name,
            label=label,
            transactions=1e5,
            operations=1e6,
            load=1.5,
            check=figures,
            memory=figures,
        )
        for name, varied in clock_growth.FIGURES.items()
        for label in varied.workloads
    ]


def test_growth_by_the_clock_is_plotted_and_tabled_figure_by_figure() -> None:
    points = clock_points()
    names = clock_growth.FIGURES
    panels = {
        plot.name: len(ElementTree.fromstring(plot.svg()).findall(f"{SVG}g"))
        for plot in clock_growth.plots(points)
    }
    assert panels == {"clock-time": len(names), "clock-memory": len(names), "clock-throughput": 1}
    found = [*map(clock_growth.measurement, points)]
    assert len({one.group for one in found}) == len(names)
    [tpcc] = [one for one in found if one.name == "tpcc"]
    checks = ["0.500 s, 0 MB", "0.500 s, 0 MB"]
    assert [*tpcc.figures.values()] == ["1,000,000", "1.500 s", *checks, "2000 ns", "50,000"]


@pytest.mark.parametrize("varied", clock_growth.FIGURES.values(), ids=list(clock_growth.FIGURES))
def test_an_axis_that_is_true_to_scale_has_a_number_for_every_label(varied: clock_growth.Varied) -> None:
    assert len(varied.at) in {0, len(varied.workloads)}
    assert list(varied.at) == sorted(varied.at)


def test_what_is_twice_as_much_stands_twice_as_far_on_an_axis_true_to_scale() -> None:
    panel = Panel(title="t", across="x", labels=["0", "1", "2"], series={"y": [1, 1, 1]}, at=(0, 1, 2))
    [line] = ElementTree.fromstring(figure([panel], title="t")).iter(f"{SVG}polyline")
    first, second, third = (float(point.split(",")[0]) for point in line.attrib["points"].split())
    assert third - first == pytest.approx(2 * (second - first), abs=0.2)
    assert [panel.place(number) for number in (0, 2)] == pytest.approx([0.05, 0.95])


def test_both_ways_to_check_a_clock_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "DATA", tmp_path)
    runs = collection.measure_all((300,))
    assert [run.way for run in runs] == ["in memory", "streaming"]
    assert [sorted(run.stages) for run in runs] == [["check", "load"], ["check", "load", "sort"]]
    assert all(max(run.memory) > 1 for run in runs)
    assert collection.measurement(runs[0]).figures["sort"] == "in check"
    [plot] = collection.plots(runs)
    assert plot.svg().count("300 transactions: MB") == 1
    assert not [*tmp_path.iterdir()]


def test_the_recorder_alone_is_measured_against_what_was_asked() -> None:
    row = recording.alone(rounds=2, transactions=50)
    assert row.figures["asked"] == "100,000 operations/s"
    assert float(row.figures["ratio"]) > 0


def test_the_log_of_a_run_is_measured_on_each_database() -> None:
    found = [*history_log.measurements(rounds=1, seconds=0.3)]
    assert [row.name.partition(": ")[2] for row in found] == [*history_log.DATABASES]
    assert all(row.figures["cost (median)"].endswith(" %") for row in found)


def test_rounds_of_runs_are_put_into_words_and_plotted() -> None:
    rounds = [
        recording.Round(recorded=recorded, plain=20_000, pgbench=30_000)
        for recorded in (19_000, 19_800, 20_200)
    ]
    [row] = recording.summary(rounds)
    assert row.figures["cost of recording (median)"] == "1.0 %"
    assert row.figures["(least and most)"] == "-1.0 % to 5.0 %"
    assert row.figures["ratio to pgbench"] == "0.66"
    [plot] = recording.plots(rounds)
    [panel] = ElementTree.fromstring(plot.svg()).findall(f"{SVG}g")
    assert len(panel.findall(f"{SVG}circle")) == len(rounds)
    assert [*recording.summary([])] == []


def test_pgbench_does_what_the_clients_do() -> None:
    script = pgbench.script(recording.KEYS, recording.READS, recording.WRITES)
    assert (script.count("SELECT"), script.count("UPDATE")) == (recording.READS, recording.WRITES)


@pytest.mark.server
def test_runs_and_pgbench_take_turns_on_one_server() -> None:
    try:
        rounds = [*recording.measure_all(rounds=1, seconds=0.5, clients=recording.Clients(keys=1000))]
    except DatabaseError as error:
        pytest.skip(str(error))
    assert all(min(one.recorded, one.plain) > 0 for one in rounds)


def test_two_checkouts_are_compared_by_their_best_runs() -> None:
    before, now = [{"seconds": 2.0}, {"seconds": 4.0}], [{"seconds": 3.0}, {"seconds": 1.5}]
    assert comparison.change(before, now, "seconds") == "2 -> 1.5 (-25 %)"
